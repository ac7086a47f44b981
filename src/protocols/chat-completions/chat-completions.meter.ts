import {
  classifyInnerError,
  dataKind,
  HIDDEN,
  jsonInterests,
  MemberFinder,
  NO_BYTES,
  outputOf,
  parseData,
  PASSED,
  readResponseFields,
  renderSse,
  servedByIn,
  splice,
  truncated,
  type Call,
  type CallHead,
  type CallSignal,
  type MeterReading,
  type SseEvent,
  type StreamMeter,
} from '../contract/index.js';
import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { INCLUDE_USAGE, WEB_SEARCH } from './chat-completions.head.js';
import { chatUsageBeside, cites } from './chat-completions.usage.js';

const DELTA = new MemberFinder('delta');
/** What a chunk must be parsed for, when it has a value. */
const NOTABLE = new MemberFinder('usage', 'finish_reason', 'error');
const TOOL_CALLS = new MemberFinder('tool_calls');
const OTHER_CONTENT = new MemberFinder('function_call', 'audio');
/** Members whose strings are the answer, official and customary. */
export const TEXTS = new MemberFinder(
  'content',
  'reasoning_content',
  'reasoning',
  'refusal',
  'name',
  'arguments',
  'input',
);
const INDEX = new MemberFinder('index');

const USAGE = jsonInterests('usage', 'error');
/** Some servers forget their last line. */
const DONE = Buffer.from('data: [DONE]\n\n');

/** Looks at the chunks of one answer and hides the usage that only the relay asked for. */
export class ChatCompletionsMeter implements StreamMeter {
  readonly #answers: number;
  readonly #usageWanted: boolean;
  /** Indexes of the answers whose reason to end has been said, once or more. */
  readonly #finished = new Set<unknown>();
  /** Whether the client lets the upstream search the web; else nobody looks for signs of it. */
  readonly #mayCite: boolean;
  readonly #head: CallHead;
  #cited = false;
  #begun = false;
  #over = false;

  constructor({ head }: Call) {
    this.#head = head;
    this.#answers = head.answers;
    this.#mayCite = head.fields.has(WEB_SEARCH);
    this.#usageWanted = head.fields.isTrue(INCLUDE_USAGE);
  }

  /** A server that said why each answer ended, but not `[DONE]`, is done all the same. */
  get complete(): boolean {
    return this.#over || this.#finished.size >= this.#answers;
  }

  get closed(): boolean {
    return this.#over;
  }

  end(): MeterReading {
    if (!this.complete) throw truncated();
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
    if (this.#finished.size === 0) {
      const message = 'The upstream closed the stream before the response was complete.';
      throw new AppError('upstream_truncated', message, { failover: true });
    }
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
    const choices = Array.isArray(chunk['choices']) ? chunk['choices'].filter(isJsonObject) : [];
    for (const choice of choices) this.#finish(choice);
    const reported = isJsonObject(chunk['usage']) ? chunk['usage'] : undefined;
    const served = servedByIn(this.#head, chunk['model']);
    const usage = chatUsageBeside(reported, { serviceTier: chunk['service_tier'], searched: this.#cited, ...served });
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
    if (written !== '') signals.push(outputOf(written, this.#answers === 1 ? undefined : laneOf(text)));
    return signals;
  }

  #finish(choice: JsonObject): void {
    const reason = choice['finish_reason'];
    if (typeof reason === 'string' && reason !== '') this.#finished.add(choice['index'] ?? 0);
  }
}

/** The number of the answer that a chunk continues; those of one request come by turns. */
const laneOf = (text: string): number => Number.parseInt(text.slice(Math.max(0, INDEX.valueAt(text))), 10) || 0;

/** A tool call that begins, or a voice: content that need not hold any text yet. */
function hasCall(text: string): boolean {
  const calls = TOOL_CALLS.valueAt(text);
  if (calls !== -1 && /^\[\s*\{/.test(text.slice(calls, calls + 16))) return true;
  return OTHER_CONTENT.hasValue(text);
}

function throwIfError(chunk: JsonObject, event: SseEvent): void {
  const error = chunk['error'] ?? (event.name === 'error' ? chunk : undefined);
  if (error) throw classifyInnerError({ error });
}

/** The same chunk with nothing but the value of its usage changed to null. */
function withoutUsage(event: SseEvent): Uint8Array {
  const data = Buffer.from(event.data);
  const edited = splice(data, [readResponseFields(data, USAGE).assign('usage', 'null')]);
  return renderSse(event.name, Buffer.from(edited).toString('utf8'));
}
