import type { Logger } from '@nestjs/common';
import {
  type Attributes,
  type Context,
  createTraceState,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  BatchSpanProcessor,
  type IdGenerator,
  type ReadableSpan,
  type SpanExporter,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { Counter } from 'prom-client';
import { randomUUID } from 'node:crypto';
import { reasonOf, type Secret } from '../../platform/shared/index.js';
import type { EndedAttempt, EndedUsage } from '../../protocols/contract/index.js';
import { SAMPLED, type SentAttempt, type TracedCall } from './trace-context.js';

interface SpanExportOptions extends ExportReport {
  /** Without a trailing slash. */
  readonly endpoint: string;
  /** Comma-separated `name=value`, values percent-encoded. */
  readonly headers: Secret | undefined;
}

const BATCH = { maxQueueSize: 4096, maxExportBatchSize: 512, scheduledDelayMillis: 2000, exportTimeoutMillis: 10_000 };

/**
 * Exports spans in batches over OTLP/HTTP JSON. Spans beyond the queue are dropped; collector failures never affect
 * calls.
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

  export(call: TracedCall): void {
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

  /** Sends remaining spans. */
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

/** Spans are created when they have ended, with IDs that were already sent to others. */
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

/** A finished span. Times in Unix ms. */
interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Undefined: unset. */
  readonly status: SpanStatusCode | undefined;
}

/** OpenTelemetry's operation name for calls of all protocols. */
const OPERATION = 'chat';

/** The span of a call: HTTP conventions and own attributes. */
function callSpan(call: TracedCall): SpanFacts {
  const { method, path, responseStatus, error, startedAt, endedAt } = call;
  // Invalid requests are client errors; cancelled calls are no errors.
  const isServerError = error !== undefined && error !== 'context_canceled' && !isClientError(responseStatus);
  return {
    name: `${method} ${path}`,
    kind: SpanKind.SERVER,
    startedAt,
    endedAt,
    status: isServerError ? SpanStatusCode.ERROR : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': path,
      'url.path': path,
      'url.scheme': 'http',
      ...optional('http.response.status_code', responseStatus),
      ...optional('error.type', error),
      'gen_ai.operation.name': OPERATION,
      ...optional('gen_ai.request.model', call.model),
      'gen_ai.request.stream': call.stream,
      ...usageOf(call.usage),
      ...optional('gen_ai.response.time_to_first_chunk', seconds(call.firstTokenMs)),
      'switchboard.request_id': call.requestId,
      'switchboard.dialect': call.protocol,
      'switchboard.group': call.group,
      'switchboard.status': call.status,
      'switchboard.attempts': call.attempts.length,
      ...timesOf(call),
    },
  };
}

/** The span of an upstream request: conventions for generative AI clients. */
function attemptSpan(call: TracedCall, attempt: EndedAttempt, sent: SentAttempt): SpanFacts {
  const { model, protocol, outcome, ordinal } = attempt;
  const { hostname, port, protocol: scheme } = new URL(sent.baseUrl);
  const isError = outcome !== 'succeeded' && outcome !== 'cancelled' && outcome !== 'context_canceled';
  return {
    name: `${OPERATION} ${model}`,
    kind: SpanKind.CLIENT,
    startedAt: sent.startedAt,
    endedAt: Math.min(sent.startedAt + attempt.durationMs, Math.max(call.endedAt, sent.startedAt)),
    status: isError ? SpanStatusCode.ERROR : undefined,
    attributes: {
      'gen_ai.operation.name': OPERATION,
      'gen_ai.provider.name': sent.provider,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': call.stream,
      ...(ordinal === call.attempts.length && usageOf(call.usage)),
      ...optional('gen_ai.response.time_to_first_chunk', seconds(attempt.firstTokenMs)),
      'http.request.method': 'POST',
      ...optional('http.response.status_code', attempt.httpStatus),
      'server.address': hostname,
      'server.port': port === '' ? (scheme === 'https:' ? 443 : 80) : Number(port),
      ...(isError && { 'error.type': outcome }),
      'switchboard.request_id': call.requestId,
      'switchboard.channel': attempt.channel,
      'switchboard.dialect': protocol,
    },
  };
}

/** Seconds, as the conventions require: what the call waited for. */
function timesOf({ holdMs, settledMs, waits: { client, credit, back_off } }: TracedCall): Attributes {
  return {
    ...optional('switchboard.hold.duration', seconds(holdMs)),
    ...optional('switchboard.settlement.duration', seconds(settledMs)),
    ...optional('switchboard.client_pauses.duration', seconds(client?.ms)),
    ...optional('switchboard.credit_waits.duration', seconds(credit?.ms)),
    ...optional('switchboard.back_off.duration', seconds(back_off?.ms)),
  };
}

function usageOf(usage: EndedUsage | undefined): Attributes {
  if (usage === undefined) return {};
  return {
    'gen_ai.usage.input_tokens': usage.input,
    'gen_ai.usage.output_tokens': usage.output,
    'gen_ai.usage.cache_read.input_tokens': usage.cacheRead,
    'gen_ai.usage.cache_creation.input_tokens': usage.cacheWrite,
    'gen_ai.usage.reasoning.output_tokens': usage.reasoning,
  };
}

const isClientError = (status: number | undefined): boolean => status !== undefined && status >= 400 && status < 500;
const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);
const optional = (name: string, value: string | number | undefined): Attributes =>
  value === undefined ? {} : { [name]: value };

interface ExportReport {
  readonly logger: Logger;
  /** By result. */
  readonly spans: Counter<'outcome'>;
}

type Done = Parameters<SpanExporter['export']>[1];

/** Logs once when the collector rejects spans, and once when it accepts them again. */
class WatchedExporter implements SpanExporter {
  private failing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly report: ExportReport,
  ) {}

  export(spans: ReadableSpan[], done: Done): void {
    this.exporter.export(spans, (result) => {
      this.note(spans.length, result.error);
      // The failure was already handled here.
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
