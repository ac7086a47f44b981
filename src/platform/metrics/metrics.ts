import { Injectable, Module } from '@nestjs/common';
import { type Aggregator, Counter, Gauge, Histogram, Registry } from 'prom-client';

/** Prefix of all metric names. */
const PREFIX = 'switchboard_';

/**
 * Metrics of this process. Modules create their metrics once, in constructors: snake case with a unit and without the
 * prefix. Labels have few values, known beforehand or defined by administrators; never an account, a key, an address or
 * request content.
 */
@Injectable()
export class Metrics {
  readonly registry = new Registry();

  counter<Label extends string = never>(name: string, help: string, labelNames: readonly Label[] = []): Counter<Label> {
    return new Counter({ name: PREFIX + name, help, labelNames, registers: [this.registry] });
  }

  /**
   * @param collect updates the value before each scrape
   * @param ofWorkers how values of several workers are aggregated; default: their sum
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

@Module({ providers: [Metrics], exports: [Metrics] })
export class MetricsModule {}
