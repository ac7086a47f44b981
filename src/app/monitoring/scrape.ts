import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../platform/metrics/index.js';
import { reasonOf } from '../../platform/shared/index.js';
import { PrimaryLink } from '../../platform/workers/index.js';
import { isFigures, TOPIC, together, TOPIC_OF_ALL } from './workers-metrics.js';

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
