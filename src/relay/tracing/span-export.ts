import { ROOT_CONTEXT, type Context, type Tracer, createTraceState, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { BatchSpanProcessor, type IdGenerator, TracerProvider } from '@opentelemetry/sdk-trace';
import { randomUUID } from 'node:crypto';
import type { Secret } from '../../platform/shared/index.js';
import { SAMPLED } from './trace-context.js';
import { attemptSpan, type SpanFacts, callSpan } from './span-facts.js';
import type { TracedCall } from './recorded-trace.js';
import { type ExportReport, WatchedExporter } from './watched-exporter.js';

interface SpanExportOptions extends ExportReport {
  /** Without a slash at its end. */
  readonly endpoint: string;
  /** `name=value` with commas between, values percent-encoded. */
  readonly headers: Secret | undefined;
}

const BATCH = { maxQueueSize: 4096, maxExportBatchSize: 512, scheduledDelayMillis: 2000, exportTimeoutMillis: 10_000 };

/**
 * Spans on their way to a collector, in batches, over OTLP/HTTP in JSON. What the queue has no room for is dropped, and a
 * collector that fails is no trouble of any call's.
 */
export class SpanExport {
  private readonly ids = new GivenIds();
  private readonly provider: TracerProvider;
  private readonly tracer: Tracer;

  constructor({ endpoint, headers, ...report }: SpanExportOptions) {
    const collector = new OTLPTraceExporter({
      url: `${endpoint}/v1/traces`,
      headers: headersIn(headers?.reveal() ?? ''),
      timeoutMillis: BATCH.exportTimeoutMillis,
    });
    this.provider = new TracerProvider({
      resource: resourceFromAttributes({ 'service.name': 'switchboard', 'service.instance.id': randomUUID() }),
      idGenerator: this.ids,
      spanProcessors: [new BatchSpanProcessor({ ...BATCH, exporter: new WatchedExporter(collector, report) })],
    });
    this.tracer = this.provider.getTracer('switchboard');
  }

  tell(call: TracedCall): void {
    const { traceId, spanId, parent } = call;
    const state = parent?.state;
    const within = (id: string, flags: number, isRemote: boolean): Context => {
      const traceState = state === undefined ? {} : { traceState: createTraceState(state) };
      return trace.setSpanContext(ROOT_CONTEXT, { traceId, spanId: id, traceFlags: flags, isRemote, ...traceState });
    };
    this.write(callSpan(call), traceId, spanId, parent ? within(parent.spanId, parent.flags, true) : ROOT_CONTEXT);
    for (const attempt of call.attempts) {
      const sent = call.sent.get(attempt.ordinal);
      const inCall = within(spanId, parent?.flags ?? SAMPLED, false);
      if (sent !== undefined) this.write(attemptSpan(call, attempt, sent), traceId, sent.spanId, inCall);
    }
  }

  flush(): Promise<void> {
    return this.provider.forceFlush();
  }

  /** Sends the rest. */
  close(): Promise<void> {
    return this.provider.shutdown();
  }

  private write(
    { name, startedAt, endedAt, status, ...facts }: SpanFacts,
    traceId: string,
    spanId: string,
    parent: Context,
  ): void {
    this.ids.next = { traceId, spanId };
    const span = this.tracer.startSpan(name, { ...facts, startTime: startedAt }, parent);
    if (status !== undefined) span.setStatus({ code: status });
    span.end(endedAt);
  }
}

/** Spans are written when they are over, and their ids are known to others by then. */
class GivenIds implements IdGenerator {
  next = { traceId: '', spanId: '' };

  generateTraceId(): string {
    return this.next.traceId;
  }

  generateSpanId(): string {
    return this.next.spanId;
  }
}

function headersIn(text: string): Record<string, string> {
  const pairs = text.split(',').filter((pair) => pair.includes('='));
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=');
      return [pair.slice(0, at).trim(), decodeURIComponent(pair.slice(at + 1).trim())];
    }),
  );
}
