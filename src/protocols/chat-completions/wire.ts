import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { type Annotation, objectIn, type StopReason } from '../contract/index.js';

// What a piece of an answer says, in all forms in which servers are known to say it.

/** A piece of a tool call. What it does not say is empty. */
export interface CallFragment {
  /** The upstream's number of the call. */
  readonly index: number | undefined;
  /** Its place in the list, which must do where it has no number. */
  readonly position: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** Of a tool that takes any text. */
  readonly isCustom: boolean;
}

/** The answer that a chunk is about: only one was asked for. Chunks without any are usual. */
export const choiceOf = (chunk: JsonObject): JsonObject | undefined =>
  objectsIn(chunk['choices']).find(({ index }) => (index ?? 0) === 0);

/** What is new of an answer; of a whole one, all of it. */
export function deltaOf({ delta, message }: JsonObject): JsonObject {
  const said = delta ?? message;
  return isJsonObject(said) ? said : {};
}

/** A text, or the texts of a list of parts. */
export const textIn = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : objectsIn(value)
        .map(({ text }) => (typeof text === 'string' ? text : ''))
        .join('');

/** Thoughts have no official name; who uses two of these says the same twice. */
export const reasoningIn = (delta: JsonObject): string =>
  textIn(delta['reasoning_content']) || textIn(delta['reasoning']) || textIn(delta['reasoning_details']);

export const annotationsIn = (delta: JsonObject): readonly Annotation[] =>
  objectsIn(delta['annotations']).flatMap((annotation) => {
    const { url, title } = objectIn(annotation, 'url_citation');
    return typeof url === 'string' ? [{ url, title: typeof title === 'string' ? title : url }] : [];
  });

const LEGACY_POSITION = -1;

export function callsIn(delta: JsonObject): readonly CallFragment[] {
  const calls = objectsIn(delta['tool_calls']).map((call, position) => toolCall(call, position));
  const legacy = delta['function_call'];
  if (!isJsonObject(legacy)) return calls;
  return [...calls, fragmentOf(legacy, { index: undefined, position: LEGACY_POSITION, id: '', isCustom: false })];
}

function toolCall(call: JsonObject, position: number): CallFragment {
  const index = typeof call['index'] === 'number' ? call['index'] : undefined;
  const place = { index, position, id: stringIn(call['id']) };
  const { custom } = call;
  if (isJsonObject(custom)) return fragmentOf(custom, { ...place, isCustom: true });
  return fragmentOf(objectIn(call, 'function'), { ...place, isCustom: false });
}

function fragmentOf(
  { name, arguments: written, input }: JsonObject,
  place: Omit<CallFragment, 'name' | 'text'>,
): CallFragment {
  const said = place.isCustom ? input : written;
  // Servers exist that give arguments as the object that they are.
  return { ...place, name: stringIn(name), text: isJsonObject(said) ? JSON.stringify(said) : stringIn(said) };
}

const stringIn = (value: unknown): string => (typeof value === 'string' ? value : '');

const objectsIn = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : []);

/** Why an answer ended, in this dialect's words. */
export const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  stop_sequence: 'stop',
  refusal: 'stop',
  pause: 'stop',
  max_tokens: 'length',
  context: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

/** What was seen of an answer when its end is told. */
interface Seen {
  readonly hasCalls: boolean;
  readonly hasRefused: boolean;
}

/** The same from an upstream, of which many say `stop` whatever happened. */
export function stopReason(finish: string, { hasCalls, hasRefused }: Seen): StopReason {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'content_filter') return 'content_filter';
  if (hasCalls) return 'tool_calls';
  return hasRefused ? 'refusal' : 'end';
}
