import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { type Annotation, objectIn, objectsIn, type StopReason, stringOf } from '../contract/index.js';

// Reads responses in all known server variants.

/** A fragment of a tool call; missing members are empty. */
export interface CallFragment {
  readonly index: number | undefined;
  /** Position in the list, used without an index. */
  readonly position: number;
  readonly id: string;
  readonly name: string;
  readonly text: string;
  /** A freeform tool. */
  readonly isCustom: boolean;
}

/** Only one choice is requested. */
export const choiceOf = (chunk: JsonObject): JsonObject | undefined =>
  objectsIn(chunk['choices']).find(({ index }) => (index ?? 0) === 0);

/** The delta, or the whole message if unstreamed. */
export function deltaOf({ delta, message }: JsonObject): JsonObject {
  const value = delta ?? message;
  return isJsonObject(value) ? value : {};
}

/** A string, or the strings of a list of parts. */
export const textIn = (value: unknown): string =>
  typeof value === 'string'
    ? value
    : objectsIn(value)
        .map(({ text }) => stringOf(text))
        .join('');

/** Reasoning has no official name; servers that use both repeat the same text. */
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
  const place = { index, position, id: stringOf(call['id']) };
  const { custom } = call;
  if (isJsonObject(custom)) return fragmentOf(custom, { ...place, isCustom: true });
  return fragmentOf(objectIn(call, 'function'), { ...place, isCustom: false });
}

function fragmentOf(
  { name, arguments: written, input }: JsonObject,
  place: Omit<CallFragment, 'name' | 'text'>,
): CallFragment {
  const value = place.isCustom ? input : written;
  // Some servers send arguments as an object.
  return { ...place, name: stringOf(name), text: isJsonObject(value) ? JSON.stringify(value) : stringOf(value) };
}

export const FINISH_REASONS: Readonly<Record<StopReason, string>> = {
  end: 'stop',
  stop_sequence: 'stop',
  refusal: 'stop',
  pause: 'stop',
  compaction: 'stop',
  max_tokens: 'length',
  context: 'length',
  tool_calls: 'tool_calls',
  content_filter: 'content_filter',
};

interface Seen {
  readonly hasCalls: boolean;
  readonly hasRefused: boolean;
}

/** The stop reason; many servers report `stop` in any case. */
export function stopReason(finish: string, { hasCalls, hasRefused }: Seen): StopReason {
  if (finish === 'length') return 'max_tokens';
  if (finish === 'content_filter') return 'content_filter';
  if (hasCalls) return 'tool_calls';
  return hasRefused ? 'refusal' : 'end';
}
