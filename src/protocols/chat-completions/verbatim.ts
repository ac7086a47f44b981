import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type Call,
  type CallHead,
  type CallSignal,
  classifyInnerError,
  commonEdits,
  dataKind,
  HIDDEN,
  type JsonEdit,
  jsonInterests,
  latin1,
  MemberFinder,
  type MeterReading,
  NO_BYTES,
  objectsIn,
  openAiUsage,
  outputOf,
  parseData,
  PASSED,
  readResponseFields,
  renderSse,
  servedByIn,
  splice,
  SplicedBody,
  type SseEvent,
  type StreamMeter,
  tierIn,
  type TokenUsage,
  truncatedStream,
  upstreamHeaders,
  type UpstreamRequest,
  type UpstreamTarget,
  usageSignals,
  type VerbatimLane,
} from '../contract/index.js';
import { PATH } from './build.js';
import { limitName } from './flags.js';
import { VERBATIM_HEADERS, INCLUDE_USAGE, OUTPUT_LIMITS, OUTPUT_MEMBERS, WEB_SEARCH } from './head.js';

const TOTALS = { input: 'prompt_tokens', output: 'completion_tokens' };

type ServedBy = Pick<TokenUsage, 'servedBy'>;

/** Includes other charged items. */
export function chatUsage(
  usage: JsonObject | undefined,
  { serviceTier, searched, ...served }: { readonly serviceTier: unknown; readonly searched: boolean } & ServedBy,
): TokenUsage | undefined {
  const tokens = openAiUsage(usage, TOTALS);
  return tokens && { ...tokens, ...served, ...tierIn(serviceTier), ...(searched && { toolUses: ONE_SEARCH }) };
}

const ONE_SEARCH = { web_search: 1 };
const ANNOTATIONS = /"annotations"\s*:\s*\[\s*\{/;

/** Whether the upstream searched the web: it does not report uses, but cites results. */
const cites = (text: string): boolean => ANNOTATIONS.test(text);

const RESPONSE = jsonInterests('usage', 'service_tier', 'model', 'error');

/** Chat Completions for its own clients. */
export class ChatCompletionsVerbatim implements VerbatimLane {
  rewriteRequest(call: Call, target: UpstreamTarget): UpstreamRequest {
    const edits = [...commonEdits(call, target), ...usageEdits(call, target), ...limitEdits(call, target)];
    return {
      path: PATH,
      query: '',
      headers: upstreamHeaders(call, ...VERBATIM_HEADERS),
      body: new SplicedBody(call.body, edits),
    };
  }

  meterStream(call: Call): StreamMeter {
    return new ChatCompletionsMeter(call);
  }

  meterResponse({ head }: Call, body: Uint8Array): readonly CallSignal[] {
    const fields = readResponseFields(body, RESPONSE);
    const searched = head.fields.has(WEB_SEARCH) && cites(latin1(body));
    const usage = chatUsage(fields.object('usage'), {
      serviceTier: fields.value('service_tier'),
      searched,
      ...servedByIn(head, fields.value('model')),
    });
    return usageSignals(usage, body, TEXTS);
  }
}

/** Streams report usage only on request. It is hidden unless the client requested it. */
function usageEdits({ head: { stream, fields } }: Call, target: UpstreamTarget): readonly JsonEdit[] {
  if (!stream || target.flags['includeUsage'] === false) return [];
  const options = fields.field('stream_options');
  if (options?.kind === 'object') {
    return fields.isTrue(INCLUDE_USAGE) ? [] : [fields.assign(INCLUDE_USAGE, 'true')];
  }
  // Other values are left to the upstream.
  if (options !== undefined && options.kind !== 'null') return [];
  return [fields.assign('stream_options', '{"include_usage":true}')];
}

/** Lowers the client's limits, or sets one under the upstream's name. */
function limitEdits({ head: { fields } }: Call, { outputLimit, flags }: UpstreamTarget): readonly JsonEdit[] {
  if (outputLimit === undefined) return [];
  const present = OUTPUT_LIMITS.filter((name) => fields.has(name));
  if (present.length === 0) {
    return [fields.assign(limitName(flags), String(outputLimit))];
  }
  return present
    .filter((name) => Number(fields.value(name)) > outputLimit)
    .map((name) => fields.assign(name, String(outputLimit)));
}

const DELTA = new MemberFinder('delta');
/** Members for which a chunk must be parsed. */
const NOTABLE = new MemberFinder('usage', 'finish_reason', 'error');
const TOOL_CALLS = new MemberFinder('tool_calls');
const OTHER_CONTENT = new MemberFinder('function_call', 'audio');
const TEXTS = new MemberFinder(...OUTPUT_MEMBERS);
const INDEX = new MemberFinder('index');

const USAGE = jsonInterests('usage', 'error');
/** Some servers omit the last line. */
const DONE = Buffer.from('data: [DONE]\n\n');

/** Meters chunks and hides usage that only the relay requested. */
export class ChatCompletionsMeter implements StreamMeter {
  readonly #choices: number;
  readonly #usageWanted: boolean;
  /** Indexes of finished choices. */
  readonly #finished = new Set<unknown>();
  /** Otherwise citations are not searched. */
  readonly #mayCite: boolean;
  readonly #head: CallHead;
  #cited = false;
  #begun = false;
  #over = false;

  constructor({ head }: Call) {
    this.#head = head;
    this.#choices = head.choices;
    this.#mayCite = head.fields.has(WEB_SEARCH);
    this.#usageWanted = head.fields.isTrue(INCLUDE_USAGE);
  }

  /** All choices have a finish reason, even without `[DONE]`. */
  get complete(): boolean {
    return this.#over || this.#finished.size >= this.#choices;
  }

  get closed(): boolean {
    return this.#over;
  }

  end(): MeterReading {
    if (!this.complete) throw truncatedStream();
    return { signals: [], last: true, replacement: DONE };
  }

  next(event: SseEvent): MeterReading {
    if (this.#over) return HIDDEN;
    switch (dataKind(event)) {
      case 'none':
        return PASSED;
      case 'done':
        return this.#done();
      case 'object':
        return this.#chunk(event);
      case 'other':
        if (event.name === 'error') throw classifyInnerError({ error: event.data });
        return HIDDEN;
    }
  }

  #done(): MeterReading {
    if (this.#finished.size === 0) throw truncatedStream();
    this.#over = true;
    return { signals: [], last: true };
  }

  #chunk(event: SseEvent): MeterReading {
    const { text } = event;
    const signals = this.#output(text);
    if (this.#mayCite) this.#cited ||= cites(text);
    if (event.name !== 'error' && !NOTABLE.hasValue(text)) return { signals, last: false };
    const chunk = parseData(event);
    if (chunk === undefined) return HIDDEN;
    throwIfError(chunk, event);
    const choices = objectsIn(chunk['choices']);
    for (const choice of choices) this.#finish(choice);
    const reported = isJsonObject(chunk['usage']) ? chunk['usage'] : undefined;
    const served = servedByIn(this.#head, chunk['model']);
    const usage = chatUsage(reported, { serviceTier: chunk['service_tier'], searched: this.#cited, ...served });
    if (usage !== undefined) signals.push({ type: 'usage', usage });
    if (this.#usageWanted || !chunk['usage']) return { signals, last: false };
    return { signals, last: false, replacement: choices.length === 0 ? NO_BYTES : withoutUsage(event) };
  }

  #output(text: string): CallSignal[] {
    const written = TEXTS.stringsIn(text, Math.max(0, DELTA.valueAt(text)));
    const signals: CallSignal[] = [];
    if (!this.#begun && (written !== '' || hasCall(text))) {
      this.#begun = true;
      signals.push({ type: 'content' });
    }
    if (written !== '') signals.push(outputOf(written, this.#choices === 1 ? undefined : laneOf(text)));
    return signals;
  }

  #finish(choice: JsonObject): void {
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#finished.add(choice['index'] ?? 0);
  }
}

/** Index of the choice that a chunk continues; choices are interleaved. */
const laneOf = (text: string): number => Number.parseInt(text.slice(Math.max(0, INDEX.valueAt(text))), 10) || 0;

/** A starting tool call or audio: content, even without text. */
function hasCall(text: string): boolean {
  const calls = TOOL_CALLS.valueAt(text);
  if (calls !== -1 && /^\[\s*\{/.test(text.slice(calls, calls + 16))) return true;
  return OTHER_CONTENT.hasValue(text);
}

function throwIfError(chunk: JsonObject, event: SseEvent): void {
  const error = chunk['error'] ?? (event.name === 'error' ? chunk : undefined);
  if (error) throw classifyInnerError({ error });
}

function withoutUsage(event: SseEvent): Uint8Array {
  const data = Buffer.from(event.data);
  const edited = splice(data, [readResponseFields(data, USAGE).assign('usage', 'null')]);
  return renderSse(event.name, Buffer.from(edited).toString('utf8'));
}
