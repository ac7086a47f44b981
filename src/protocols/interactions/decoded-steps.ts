import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import {
  type CallContent,
  type CallEvent,
  GOOGLE_FUNCTION_NAMES,
  objectIn,
  objectsIn,
  PartSequencer,
  RawJson,
  stringOf,
  ToolNames,
  unwrapFreeform,
} from '../contract/index.js';

/** Position of a step in the response. */
type StepIndex = number;

interface Thought {
  summary: string;
  signature: string;
}

interface DecodedCall {
  readonly isFreeform: boolean;
  /** Complete arguments from the start of the step. */
  readonly initial: string;
  /** Streamed arguments. */
  written: string;
}

const textKey = (index: StepIndex): string => `${index} text`;
const thoughtKey = (index: StepIndex): string => `${index} thought`;
const callKey = (index: StepIndex): string => `${index} call`;

/**
 * Decodes the steps of a response: texts, thoughts and function calls. Steps of hosted tools are only counted, since
 * clients cannot send them back.
 */
export class ResponseSteps {
  readonly #parts: PartSequencer;
  readonly #names: ToolNames;
  readonly #open = new Set<StepIndex>();
  readonly #thoughts = new Map<StepIndex, Thought>();
  readonly #calls = new Map<StepIndex, DecodedCall>();
  /** Queries by step. */
  readonly #searches = new Map<StepIndex, number>();
  /** Cited URLs, which deltas may repeat. */
  readonly #cited = new Set<string>();

  constructor(
    content: CallContent,
    private readonly family: string,
  ) {
    this.#parts = new PartSequencer(content);
    this.#names = new ToolNames(content.tools, GOOGLE_FUNCTION_NAMES);
  }

  get hasCalls(): boolean {
    return this.#parts.callCount > 0;
  }

  get isEmpty(): boolean {
    return this.#open.size === 0;
  }

  /** Web searches so far. */
  get searches(): number {
    return [...this.#searches.values()].reduce((sum, count) => sum + count, 0);
  }

  start(index: StepIndex, step: JsonObject): CallEvent[] {
    this.#open.add(index);
    switch (step['type']) {
      case 'model_output':
        return objectsIn(step['content']).flatMap((content) => this.#text(index, content));
      case 'thought':
        this.#sign(index, step);
        return objectsIn(step['summary']).flatMap((content) => this.#summary(index, content));
      case 'function_call':
        return this.#call(index, step);
      case 'google_search_call':
        this.#search(index, step);
        return [];
      default:
        return [];
    }
  }

  /** Also of a step whose start is missing. */
  delta(index: StepIndex, delta: JsonObject): CallEvent[] {
    this.#open.add(index);
    switch (delta['type']) {
      case 'text':
      case 'text_annotation_delta':
        return this.#text(index, delta);
      case 'thought_summary':
        return this.#summary(index, objectIn(delta, 'content'));
      case 'thought_signature':
        this.#sign(index, delta);
        return [];
      case 'arguments_delta':
        return this.#arguments(index, stringOf(delta['arguments']));
      case 'google_search_call':
        this.#search(index, delta);
        return [];
      default:
        return [];
    }
  }

  stop(index: StepIndex): CallEvent[] {
    return [...this.#endThought(index), ...this.#endCall(index), ...this.#parts.finish(textKey(index))];
  }

  /** Ends steps that were not stopped. */
  finish(): CallEvent[] {
    return [...this.#open].flatMap((index) => this.stop(index));
  }

  #text(index: StepIndex, content: JsonObject): CallEvent[] {
    const key = textKey(index);
    const text = content['type'] === 'text' ? stringOf(content['text']) : '';
    const begun = text === '' || this.#parts.has(key) ? [] : this.#parts.start(key, { kind: 'text' });
    const events = [...begun, ...this.#parts.append(key, text)];
    for (const annotation of objectsIn(content['annotations'])) this.#cite(key, annotation);
    return events;
  }

  /** Each source once. */
  #cite(key: string, { type, url, title }: JsonObject): void {
    if (type !== 'url_citation' || typeof url !== 'string' || url === '' || this.#cited.has(url)) return;
    this.#cited.add(url);
    this.#parts.annotate(key, { url, title: stringOf(title) });
  }

  #summary(index: StepIndex, content: JsonObject): CallEvent[] {
    const text = content['type'] === 'text' ? stringOf(content['text']) : '';
    if (text === '') return [];
    const thought = this.#thought(index);
    thought.summary += text;
    return [...this.#beginThought(index), ...this.#parts.append(thoughtKey(index), text)];
  }

  #sign(index: StepIndex, { signature }: JsonObject): void {
    if (typeof signature === 'string' && signature !== '') this.#thought(index).signature += signature;
  }

  #thought(index: StepIndex): Thought {
    const known = this.#thoughts.get(index);
    if (known !== undefined) return known;
    const thought = { summary: '', signature: '' };
    this.#thoughts.set(index, thought);
    return thought;
  }

  #beginThought(index: StepIndex): CallEvent[] {
    const key = thoughtKey(index);
    return this.#parts.has(key) ? [] : this.#parts.start(key, { kind: 'reasoning' });
  }

  #endThought(index: StepIndex): CallEvent[] {
    const thought = this.#thoughts.get(index);
    if (thought === undefined) return [];
    const begun = this.#beginThought(index);
    const { signature, summary } = thought;
    const opaque = { kind: 'signature', family: this.family, data: signature, text: summary } as const;
    if (signature !== '') this.#parts.seal(thoughtKey(index), opaque);
    return [...begun, ...this.#parts.finish(thoughtKey(index))];
  }

  /** Some revisions sign the call itself, as if a thought came before it. */
  #call(index: StepIndex, { id, name: wireName, arguments: initial, signature }: JsonObject): CallEvent[] {
    // It could not be executed.
    if (typeof wireName !== 'string' || wireName === '') return [];
    this.#sign(index, { signature });
    const { name, namespace, freeform } = this.#names.toolOf(wireName);
    const isFreeform = freeform !== undefined;
    this.#calls.set(index, { isFreeform, initial: argumentsIn(initial), written: '' });
    return [
      ...this.#endThought(index),
      ...this.#parts.start(callKey(index), {
        kind: 'tool-call',
        id: stringOf(id),
        name,
        ...(namespace !== undefined && { namespace }),
        ...(isFreeform && { isFreeform }),
      }),
    ];
  }

  #arguments(index: StepIndex, text: string): CallEvent[] {
    const call = this.#calls.get(index);
    if (call === undefined) return [];
    call.written += text;
    // The text is inside JSON, which must be complete.
    return call.isFreeform ? [] : this.#parts.append(callKey(index), text);
  }

  /** Streamed steps begin with empty arguments. */
  #endCall(index: StepIndex): CallEvent[] {
    const call = this.#calls.get(index);
    if (call === undefined) return [];
    const { isFreeform, initial, written } = call;
    const key = callKey(index);
    const whole = written === '' ? initial : written;
    const rest = isFreeform ? this.#parts.append(key, unwrapFreeform(whole)) : this.#parts.complete(key, whole);
    return [...rest, ...this.#parts.finish(key)];
  }

  /** The vendor charges each query. */
  #search(index: StepIndex, { arguments: given }: JsonObject): void {
    const { queries } = given instanceof RawJson ? given.value : isJsonObject(given) ? given : {};
    const count = Array.isArray(queries) ? queries.length : 0;
    this.#searches.set(index, Math.max(1, count, this.#searches.get(index) ?? 0));
  }
}

const argumentsIn = (value: unknown): string => (value instanceof RawJson ? value.text : '');
