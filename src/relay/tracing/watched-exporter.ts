import type { Logger } from '@nestjs/common';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace';
import type { Counter } from 'prom-client';
import { reasonOf } from '../../platform/shared/index.js';

export interface ExportReport {
  readonly logger: Logger;
  /** By what became of them. */
  readonly spans: Counter<'outcome'>;
}

type Done = Parameters<SpanExporter['export']>[1];

/** Says once that the collector does not take spans, and once that it does again. */
export class WatchedExporter implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly report: ExportReport,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      this.note(spans.length, result.error);
      // Whoever is told of a failure can do no more about it than was done here.
      done({ code: 0 });
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  async forceFlush(): Promise<void> {
    await this.exporter.forceFlush?.();
  }

  private note(count: number, error: Error | undefined): void {
    const { logger, spans } = this.report;
    spans.inc({ outcome: error === undefined ? 'sent' : 'lost' }, count);
    if (error !== undefined && !this.failing)
      logger.warn(`The collector rejects traces (${reasonOf(error)}); spans are dropped until it accepts them.`);
    else if (error === undefined && this.failing) logger.log('The collector accepts traces again.');
    this.failing = error !== undefined;
  }
}
