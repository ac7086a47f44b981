import { Injectable, Logger } from '@nestjs/common';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import { Metrics } from '../../platform/metrics/index.js';
import { isJsonObject, reasonOf } from '../../platform/shared/index.js';
import { PrimaryLink, type WorkerLinks } from '../../platform/workers/index.js';

/** One look at everything that is counted, here or by all workers together. */
@Injectable()
export class Scrape {
  private readonly logger = new Logger('Metrics');

  constructor(
    private readonly metrics: Metrics,
    private readonly primary: PrimaryLink,
  ) {
    primary.answer(TOPIC, () => metrics.registry.getMetricsAsJSON());
  }

  get contentType(): string {
    return this.metrics.registry.contentType;
  }

  /** In Prometheus' text format. Without an answer of the primary this process tells what it knows itself. */
  async text(): Promise<string> {
    if (!this.primary.connected) return this.metrics.registry.metrics();
    try {
      const figures = await this.primary.ask(TOPIC_OF_ALL, undefined);
      return await together(Array.isArray(figures) ? figures.filter(isFigures) : []).metrics();
    } catch (error) {
      this.logger.warn(`Metrics of the other processes are missing: ${reasonOf(error)}`);
      return this.metrics.registry.metrics();
    }
  }
}

/** What one process has counted, as JSON. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** On this the primary asks a worker for its own figures. */
export const TOPIC = 'metrics';
/** On this a worker asks the primary for those of all. */
export const TOPIC_OF_ALL = 'metrics of all';

/** How long a worker may take over its own figures: less than whoever asks for all of them will wait. */
const WAIT_MS = 2000;

/** For the primary: whichever worker is asked for metrics has them of all from here. */
export function serveMetrics(links: WorkerLinks): void {
  const workers = new WorkersFigures();
  links.onGone((worker) => workers.end(worker));
  links.answer(TOPIC_OF_ALL, async () => workers.learn(await links.askAll(TOPIC, undefined, WAIT_MS)));
}

/**
 * The figures of all workers. A counter must never fall, or it seems to have begun anew and everything it has counted
 * to have happened just now: so of a worker that is slow its last figures count, and of one that has ended what it had
 * counted when it was last asked.
 */
export class WorkersFigures {
  private readonly last = new Map<number, Figures>();
  private readonly gone = new Set<number>();
  private ended: Figures = [];

  /** @param answers by worker; undefined of those that did not answer. Gives what is known of all, each for itself */
  learn(answers: ReadonlyMap<number, unknown>): readonly Figures[] {
    for (const [worker, figures] of answers)
      if (isFigures(figures) && !this.gone.has(worker)) this.last.set(worker, figures);
    return [this.ended, ...this.last.values()];
  }

  end(worker: number): void {
    this.gone.add(worker);
    const counted = (this.last.get(worker) ?? []).filter(({ type }) => type !== GAUGE);
    this.last.delete(worker);
    this.ended = together([this.ended, counted]).getMetricsAsArray().filter(isFigure);
  }
}

/** The library's types have this as a number, which is not what it is. */
const GAUGE: unknown = 'gauge';

/** The figures of several processes as those of one. What is no number on its way between them has no value yet. */
export function together(figures: readonly Figures[]): Registry {
  const known = figures.map((one) =>
    one.map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => typeof value === 'number') })),
  );
  return AggregatorRegistry.aggregate(known);
}

export const isFigures = (value: unknown): value is Figures => Array.isArray(value) && value.every(isFigure);

const isFigure = (metric: unknown): metric is Figures[number] =>
  isJsonObject(metric) && typeof metric['name'] === 'string' && Array.isArray(metric['values']);
