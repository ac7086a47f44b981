import { Injectable, Logger, Module, type OnApplicationShutdown, type OnModuleInit } from '@nestjs/common';
import type { IncomingMessage } from 'node:http';
import { Config } from '../../platform/config/index.js';
import { Metrics, MetricsModule } from '../../platform/metrics/index.js';
import { within } from '../../platform/shared/index.js';
import type { CallTrace } from '../../protocols/contract/index.js';
import type { ResponseEnd } from '../call-context.js';
import type { SpanExport } from './span-export.js';
import { headersOf, newSpanId, RecordedTrace, SAMPLED, type TraceContext, traceContextOf } from './trace-context.js';

/** Max wait for the collector at shutdown, in ms. */
const LAST_EXPORT_MS = 3000;

/** OpenTelemetry traces of calls: trace context of clients and upstreams, spans, and their export. */
@Injectable()
export class Tracing implements OnModuleInit, OnApplicationShutdown {
  private readonly logger = new Logger('Tracing');
  private readonly spans;
  private exported: SpanExport | undefined;

  constructor(
    private readonly config: Config,
    metrics: Metrics,
  ) {
    this.spans = metrics.counter('trace_spans_total', 'Spans, by export result.', ['outcome']);
  }

  /** The exporter is only loaded if configured. */
  async onModuleInit(): Promise<void> {
    const { otlpEndpoint: endpoint, otlpHeaders: headers } = this.config;
    if (endpoint === undefined) return;
    const { SpanExport } = await import('./span-export.js');
    this.exported = new SpanExport({ endpoint, headers, logger: this.logger, spans: this.spans });
  }

  /** For a request that may become a call. Undefined: neither the client nor this service traces it. */
  begin(request: Pick<IncomingMessage, 'headers' | 'method' | 'url'>, response: ResponseEnd): CallTrace | undefined {
    const parent = traceContextOf(request.headers);
    const { exported } = this;
    if (exported !== undefined && (parent === undefined || (parent.flags & SAMPLED) !== 0))
      return new RecordedTrace(parent, request, response, (call) => exported.export(call));
    return parent && new PassedTrace(parent);
  }

  /** Sends pending spans. */
  async flush(): Promise<void> {
    await this.exported?.flush();
  }

  /** By now every call is settled and its trace complete. */
  async onApplicationShutdown(): Promise<void> {
    if (this.exported !== undefined) await within(this.exported.close(), LAST_EXPORT_MS);
  }
}

/** A client's trace that is only propagated. */
class PassedTrace implements CallTrace {
  constructor(private readonly parent: TraceContext) {}

  get traceId(): string {
    return this.parent.traceId;
  }

  attempt(): Readonly<Record<string, string>> {
    return headersOf({ ...this.parent, spanId: newSpanId() });
  }

  end(): void {
    // Not exported.
  }
}

@Module({ imports: [MetricsModule], providers: [Tracing], exports: [Tracing] })
export class TracingModule {}
