import { type Attributes, SpanKind, SpanStatusCode } from '@opentelemetry/api';
import type { EndedAttempt, EndedUsage } from '../../protocols/contract/index.js';
import type { SentAttempt, TracedCall } from './recorded-trace.js';

/** A span as it is written. Times in milliseconds since 1970. */
export interface SpanFacts {
  readonly name: string;
  readonly kind: SpanKind;
  readonly startedAt: number;
  readonly endedAt: number;
  readonly attributes: Attributes;
  /** Undefined: nothing is said of it. */
  readonly status: SpanStatusCode | undefined;
}

/** Every dialect's calls are this in OpenTelemetry's words. */
const OPERATION = 'chat';

/** How the call looks from outside: HTTP's conventions, and what is known here beside them. */
export function callSpan(call: TracedCall): SpanFacts {
  const { method, path, answeredWith, error, startedAt, endedAt } = call;
  // A request that was wrong is the client's error and not this service's; a client that has left is nobody's.
  const isOurs = error !== undefined && error !== 'context_canceled' && !isWrong(answeredWith);
  return {
    name: `${method} ${path}`,
    kind: SpanKind.SERVER,
    startedAt,
    endedAt,
    status: isOurs ? SpanStatusCode.ERROR : undefined,
    attributes: {
      'http.request.method': method,
      'http.route': path,
      'url.path': path,
      'url.scheme': 'http',
      ...known('http.response.status_code', answeredWith),
      ...known('error.type', error),
      'gen_ai.operation.name': OPERATION,
      ...known('gen_ai.request.model', call.model),
      'gen_ai.request.stream': call.stream,
      ...usageOf(call.usage),
      ...known('gen_ai.response.time_to_first_chunk', seconds(call.firstTokenMs)),
      'switchboard.request_id': call.requestId,
      'switchboard.dialect': call.dialect,
      'switchboard.group': call.group,
      'switchboard.status': call.status,
      'switchboard.attempts': call.attempts.length,
      ...timesOf(call),
    },
  };
}

/** One request to an upstream: the conventions for clients of generative models. */
export function attemptSpan(call: TracedCall, attempt: EndedAttempt, sent: SentAttempt): SpanFacts {
  const { model, dialect, outcome, ordinal } = attempt;
  const { hostname, port, protocol } = new URL(sent.baseUrl);
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
      ...known('gen_ai.response.time_to_first_chunk', seconds(attempt.firstTokenMs)),
      'http.request.method': 'POST',
      ...known('http.response.status_code', attempt.httpStatus),
      'server.address': hostname,
      'server.port': port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port),
      ...(isError && { 'error.type': outcome }),
      'switchboard.request_id': call.requestId,
      'switchboard.channel': attempt.channel,
      'switchboard.dialect': dialect,
    },
  };
}

/** In seconds, as the conventions have times: what it waited for, where it did. */
function timesOf({ holdMs, settledMs, waits: { client, credit, back_off } }: TracedCall): Attributes {
  return {
    ...known('switchboard.hold.duration', seconds(holdMs)),
    ...known('switchboard.settlement.duration', seconds(settledMs)),
    ...known('switchboard.client_pauses.duration', seconds(client?.ms)),
    ...known('switchboard.credit_waits.duration', seconds(credit?.ms)),
    ...known('switchboard.back_off.duration', seconds(back_off?.ms)),
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

const isWrong = (status: number | undefined): boolean => status !== undefined && status >= 400 && status < 500;
const seconds = (ms: number | undefined): number | undefined => (ms === undefined ? undefined : ms / 1000);
const known = (name: string, value: string | number | undefined): Attributes =>
  value === undefined ? {} : { [name]: value };
