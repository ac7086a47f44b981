import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  type CallResult,
  classifyGoogleInnerError,
  countIn,
  dataKind,
  invalidResponse,
  objectIn,
  objectsIn,
  parseJsonTree,
  resultOf,
  type SseEvent,
  type StopReason,
  type StreamDecoder,
  stringOf,
  tierIn,
  type TokenUsage,
  truncatedStream,
  unreadableEvent,
  type UpstreamTarget,
} from '../contract/index.js';
import { ResponseSteps } from './decoded-steps.js';
import { UNREPORTED, usageIn, withMoreSearches, withSearches } from './usage.js';

/** Decodes the events of an interaction, or a whole one. */
export class InteractionsDecoder implements StreamDecoder {
  readonly #steps: ResponseSteps;
  #stage: 'new' | 'open' | 'over' = 'new';
  /** As reported since the last output. */
  #usage: TokenUsage | undefined;
  /** The latest report. */
  #latest: TokenUsage | undefined;
  /** Those counted in it. */
  #latestSearches = 0;
  /** Those of the last event. */
  #reportedSearches = 0;

  constructor(content: CallContent, target: UpstreamTarget) {
    this.#steps = new ResponseSteps(content, target.family);
  }

  next(sse: SseEvent): readonly CallEvent[] {
    const kind = dataKind(sse);
    if (this.#stage === 'over' || kind === 'none' || kind === 'done') return [];
    const event = parseObject(sse.data);
    if (event === undefined) throw unreadableEvent();
    return this.#event(event);
  }

  end(): readonly CallEvent[] {
    if (this.#stage === 'over') return [];
    throw truncatedStream();
  }

  /** @throws AppError when it is an error, or unfinished */
  whole(interaction: JsonObject): readonly CallEvent[] {
    if (isJsonObject(interaction['error'])) throw classifyInteractionsInnerError(interaction['error']);
    if (typeof interaction['status'] !== 'string')
      throw invalidResponse('a response in the format of another protocol');
    return [...this.#begin(), ...this.#complete(interaction)];
  }

  /** Unknown events are ignored. */
  #event(event: JsonObject): CallEvent[] {
    const { event_type: type, error } = event;
    if (isJsonObject(error)) return this.#fail(error);
    switch (type) {
      case 'interaction.created':
      case 'interaction.status_update':
        return [...this.#begin(), ...this.#report(event['usage'])];
      case 'step.start':
        this.#usage = undefined;
        return [
          ...this.#begin(),
          ...this.#steps.start(indexOf(event), objectIn(event, 'step')),
          ...this.#reportSearches(),
        ];
      case 'step.delta':
        this.#usage = undefined;
        return [
          ...this.#begin(),
          ...this.#steps.delta(indexOf(event), objectIn(event, 'delta')),
          ...this.#reportSearches(),
        ];
      case 'step.stop':
        return [...this.#begin(), ...this.#steps.stop(indexOf(event)), ...this.#report(event['usage'])];
      case 'interaction.completed':
        return [...this.#begin(), ...this.#complete(objectIn(event, 'interaction'))];
      default:
        return [];
    }
  }

  #begin(): CallEvent[] {
    if (this.#stage !== 'new') return [];
    this.#stage = 'open';
    return [{ type: 'call-start' }];
  }

  /** Usage before the end, which does not count what follows. */
  #report(reported: unknown): CallEvent[] {
    const usage = usageIn(reported);
    if (usage === undefined) return [];
    this.#usage = this.#latest = usage;
    this.#latestSearches = usage.toolUses === undefined ? 0 : this.#steps.searches;
    return [this.#provisional()];
  }

  /** At once: a client that leaves before the next report owes them. */
  #reportSearches(): CallEvent[] {
    return this.#steps.searches > this.#reportedSearches ? [this.#provisional()] : [];
  }

  /** The latest report with all searches so far. Totals that were never reported are marked as missing. */
  #provisional(): CallEvent {
    const { searches } = this.#steps;
    this.#reportedSearches = searches;
    const usage = withMoreSearches(this.#latest ?? UNREPORTED, searches - this.#latestSearches);
    return { type: 'usage-update', usage, isProvisional: true };
  }

  /** A blocked response is no failure: it ends where it was blocked. */
  #fail(error: JsonObject): CallEvent[] {
    if (!isBlocked(error)) throw classifyInteractionsInnerError(error);
    return [...this.#begin(), ...this.#end('content_filter', this.#usage)];
  }

  /** Only whole responses contain the steps, and streams without any. */
  #complete(interaction: JsonObject): CallEvent[] {
    const steps = this.#steps.isEmpty ? objectsIn(interaction['steps']) : [];
    const decoded = steps.flatMap((step, index) => [...this.#steps.start(index, step), ...this.#steps.stop(index)]);
    const reason = this.#reasonOf(interaction);
    const usage = usageIn(interaction['usage']);
    return [...decoded, ...this.#end(reason, usage && { ...usage, ...tierIn(interaction['service_tier']) })];
  }

  #end(reason: StopReason, usage: TokenUsage | undefined): CallEvent[] {
    this.#stage = 'over';
    const stopped: CallEvent[] = [...this.#steps.finish(), { type: 'call-stop', reason }];
    const { searches } = this.#steps;
    if (usage !== undefined) stopped.push({ type: 'usage-update', usage: withSearches(usage, searches) });
    else if (searches > 0) stopped.push(this.#provisional());
    return [...stopped, { type: 'call-end' }];
  }

  /** @throws AppError when there is no response */
  #reasonOf(interaction: JsonObject): StopReason {
    const status = stringOf(interaction['status']);
    if (!FAILED.has(status)) return LIMITED.has(status) ? 'max_tokens' : this.#steps.hasCalls ? 'tool_calls' : 'end';
    const failure = failureIn(interaction);
    if (failure === undefined) throw unexplainedFailure(status);
    if (!isBlocked(failure)) throw classifyInteractionsInnerError(failure);
    return 'content_filter';
  }
}

/** Statuses of interactions without a complete response. Unknown ones are normal ends. */
const FAILED: ReadonlySet<string> = new Set(['failed', 'cancelled', 'in_progress', 'queued']);
/** With `requires_continuation`, the vendor's own limit of a request is met, and more would need another request. */
const LIMITED: ReadonlySet<string> = new Set(['incomplete', 'requires_continuation', 'budget_exceeded']);

// Errors within responses: `{ error: { code, message } }` in events, `errors` of failed interactions, and those of
// `google.rpc` in steps. https://ai.google.dev/gemini-api/docs/api-errors

/** Codes of output that was blocked: `content_blocked` and those of single filters. */
const BLOCKED = /(?:^|_)(?:blocked|blocklist|prohibited|recitation|safety|spii)(?:_|$)/i;

const isBlocked = ({ code }: JsonObject): boolean => typeof code === 'string' && BLOCKED.test(code);

/** @param error with code and message */
const classifyInteractionsInnerError = (error: JsonObject): AppError => classifyGoogleInnerError({ error });

/** Why an interaction failed; undefined if the vendor does not say. */
function failureIn({ errors, steps }: JsonObject): JsonObject | undefined {
  const failures = [
    ...objectsIn(errors),
    ...objectsIn(steps).flatMap(({ error }) => (isJsonObject(error) ? [error] : [])),
  ];
  return failures.find((failure) => isBlocked(failure)) ?? failures[0];
}

const unexplainedFailure = (status: string): AppError =>
  new AppError('upstream_error', `The upstream did not complete the response (${status}).`, { failover: true });

/** Decodes an unstreamed response. @throws AppError as `UpstreamAdapter.decodeResponse` */
export function decodeInteractionsResponse(body: string, content: CallContent, target: UpstreamTarget): CallResult {
  const interaction = parseObject(body);
  if (interaction === undefined) throw invalidResponse('a response that is not a JSON object');
  return resultOf(new InteractionsDecoder(content, target).whole(interaction));
}

const indexOf = (event: JsonObject): number => countIn(event, 'index') ?? 0;

const ARGUMENTS: ReadonlySet<string> = new Set(['arguments']);

/** Undefined if it is none. Arguments stay as written, for which the grammar must have been checked. */
function parseObject(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    const value: unknown = text.includes('"function_call"') ? parseJsonTree(text, ARGUMENTS) : parsed;
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
