import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import type { CallSignal } from './signals.js';
import type { SseEvent } from './sse-event.js';
import { likelyTokensIn } from './token-estimate.js';

/** How much of an event's data is looked at: white space may stand in front of what begins it. */
const MAX_PEEKED_BYTES = 64;

/**
 * What the model wrote in a piece of an answer, counted roughly.
 * @param lane which of several interleaved texts it continues, where there are several
 */
export function outputOf(text: string, lane?: number): Extract<CallSignal, { type: 'output' }> {
  const units = likelyTokensIn(text);
  return lane === undefined ? { type: 'output', units, text } : { type: 'output', units, text, lane };
}

/**
 * What an event's data is at first sight: a JSON object, the marker `[DONE]`, something else, or absent. An object that
 * does not end with its brace was cut off, and would break whoever parses it.
 */
export function dataKind(event: SseEvent): 'object' | 'done' | 'other' | 'none' {
  const { dataAt: at, dataEnd: end, text } = event;
  if (at === -1) return 'none';
  if (text[at] === '{' && text[end - 1] === '}') return 'object';
  const data = text.slice(at, Math.min(end, at + MAX_PEEKED_BYTES)).trimStart();
  if (data.startsWith('[DONE]')) return 'done';
  const last = text.slice(Math.max(at, end - MAX_PEEKED_BYTES), end).trimEnd();
  return data.startsWith('{') && last.endsWith('}') ? 'object' : 'other';
}

/**
 * Reads which event it is, among those that a dialect looks at: by its name, else by the first `type` inside that is
 * one of them, since not every server names its events. Undefined for any other.
 * @param types the types, as alternatives of a regular expression
 */
export function eventTypeReader(types: string): (event: SseEvent) => string | undefined {
  const name = new RegExp(`^(?:${types})$`);
  const member = new RegExp(`"type"\\s*:\\s*"(${types})"`);
  return (event) => (event.name !== undefined && name.test(event.name) ? event.name : member.exec(event.text)?.[1]);
}

/** The event's data when it is a JSON object; undefined otherwise. */
export function parseData(event: SseEvent): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(event.data);
    return isJsonObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
