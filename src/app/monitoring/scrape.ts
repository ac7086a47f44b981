import { Injectable, Logger } from '@nestjs/common';
import { AggregatorRegistry, type MetricObjectWithValues, type MetricValue, type Registry } from 'prom-client';
import { Metrics } from '../../platform/metrics/index.js';
import { isJsonObject, reasonOf } from '../../platform/shared/index.js';
import { PrimaryLink, type WorkerLinks } from '../../platform/workers/index.js';

/** Collects the metrics of this process or of all workers. */
@Injectable()
export class Scrape {
  private readonly logger = new Logger('Metrics');

  constructor(
    private readonly metrics: Metrics,
    private readonly primary: PrimaryLink,
  ) {
    primary.handle(TOPIC, () => metrics.registry.getMetricsAsJSON());
  }

  get contentType(): string {
    return this.metrics.registry.contentType;
  }

  /** In Prometheus' text format. Falls back to this process if the primary does not respond. */
  async text(): Promise<string> {
    if (!this.primary.connected) return this.metrics.registry.metrics();
    try {
      const figures = await this.primary.ask(TOPIC_OF_ALL, undefined);
      return await mergeFigures(Array.isArray(figures) ? figures.filter(isFigures) : []).metrics();
    } catch (error) {
      this.logger.warn(`Metrics of the other processes are missing: ${reasonOf(error)}`);
      return this.metrics.registry.metrics();
    }
  }
}

/** Metrics of one process as JSON. */
export type Figures = readonly MetricObjectWithValues<MetricValue<string>>[];

/** The primary asks workers for their metrics. */
export const TOPIC = 'metrics';
/** A worker asks the primary for all metrics. */
export const TOPIC_OF_ALL = 'metrics of all';

/** Timeout for a worker's metrics; shorter than that of the scrape. */
const WAIT_MS = 2000;

/** Makes the primary serve the metrics of all workers to any of them. */
export function serveMetrics(links: WorkerLinks): void {
  const workers = new WorkersFigures();
  links.onGone((worker) => workers.end(worker));
  links.handle(TOPIC_OF_ALL, async () => workers.learn(await links.askAll(TOPIC, undefined, WAIT_MS)));
}

/**
 * Metrics of all workers. Counters must never decrease, which would count as a reset: slow workers contribute their
 * last values, and exited workers the last values they reported.
 */
export class WorkersFigures {
  private readonly last = new Map<number, Figures>();
  private readonly gone = new Set<number>();
  private ended: Figures = [];

  /** @param replies by worker; undefined if there was no reply @returns the known metrics of each */
  learn(replies: ReadonlyMap<number, unknown>): readonly Figures[] {
    for (const [worker, figures] of replies)
      if (isFigures(figures) && !this.gone.has(worker)) this.last.set(worker, figures);
    return [this.ended, ...this.last.values()];
  }

  end(worker: number): void {
    this.gone.add(worker);
    const counted = (this.last.get(worker) ?? []).filter(({ type }) => type !== GAUGE);
    this.last.delete(worker);
    this.ended = mergeFigures([this.ended, counted]).getMetricsAsArray().filter(isFigure);
  }
}

/** The library's type is a number, unlike its actual value. */
const GAUGE: unknown = 'gauge';

/** Merges the metrics of several processes. Values that are not numbers are left out. */
export function mergeFigures(figures: readonly Figures[]): Registry {
  const known = figures.map((one) =>
    one.map((metric) => ({ ...metric, values: metric.values.filter(({ value }) => typeof value === 'number') })),
  );
  return AggregatorRegistry.aggregate(known);
}

export const isFigures = (value: unknown): value is Figures => Array.isArray(value) && value.every(isFigure);

const isFigure = (metric: unknown): metric is Figures[number] =>
  isJsonObject(metric) && typeof metric['name'] === 'string' && Array.isArray(metric['values']);
