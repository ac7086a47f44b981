import { Injectable } from '@nestjs/common';
import { type Aggregator, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Before every name, so that a dashboard finds all of them. */
const PREFIX = 'switchboard_';

/**
 * What this process counts of itself. Whoever knows something worth watching makes an instrument for it, once, in its
 * constructor: names in snake case with their unit, without the prefix. Labels have few values, all known beforehand or
 * set by operators; never a person, a key, an address, or text of a call.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  counter<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  /**
   * @param collect called at each look, to set what is not kept up to date otherwise
   * @param ofWorkers what several processes that serve together have of it; their sum, when absent
   */
  gauge<Label extends string = never>(
    name: string,
    help: string,
    labelNames: readonly Label[] = [],
    collect?: (gauge: Gauge<Label>) => void | Promise<void>,
    ofWorkers: Aggregator = 'sum',
  ): Gauge<Label> {
    return new Gauge({
      name: PREFIX + name,
      help,
      labelNames,
      registers: [this.registry],
      aggregator: ofWorkers,
      ...(collect && {
        collect(this: Gauge<Label>) {
          return collect(this);
        },
      }),
    });
  }

  /** @param buckets upper bounds, in the unit of the name */
  histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: readonly number[],
    labelNames: readonly Label[] = [],
  ): Histogram<Label> {
    return new Histogram({ name: PREFIX + name, help, labelNames, buckets: [...buckets], registers: [this.registry] });
  }
}
