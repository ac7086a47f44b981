/** Streams as a client reads them: strict where the specification is, so that what would break a client breaks a test. */

import type { JsonObject } from './scripted-steps.js';

export interface ReadEvent {
  readonly event: string | undefined;
  readonly data: string;
}

/** The events of a stream, comments left out. @throws when it has a CR, or its last event no empty line */
export function readEvents(stream: Buffer | string): ReadEvent[] {
  const text = stream.toString();
  if (text.includes('\r')) throw new Error('The stream has a carriage return');
  const parts = text.split('\n\n');
  if (parts.pop() !== '') throw new Error(`The last event has no empty line: ${JSON.stringify(text.slice(-200))}`);
  return parts.map(readEvent).filter((event) => event !== undefined);
}

/** What the events carry, parsed; the marker stays text. */
export function readData(stream: Buffer | string): (JsonObject | '[DONE]')[] {
  return readEvents(stream).map(({ data }) => (data === '[DONE]' ? data : (JSON.parse(data) as JsonObject)));
}

/** What keep-alives of most protocols look like. An upstream's own pings look the same. */
const KEEP_ALIVES = /: keepalive\n\n|event: ping\ndata: [^\n]*\n\n/g;

/**
 * Without comments and pings: how many come depends on how busy the machine is.
 * @param own the protocol's own, where it has another, with the empty line behind it; global
 */
export function withoutKeepAlives(stream: string, own?: RegExp): string {
  const others = stream.replaceAll(KEEP_ALIVES, '');
  return own === undefined ? others : others.replaceAll(own, '');
}

/** Reads a response to its end; `onText` sees all of it so far at every step. */
export async function readText(response: Response, onText: (soFar: string) => void): Promise<string> {
  if (!response.body) throw new Error('The answer has no body');
  let text = '';
  for await (const piece of response.body.pipeThrough(new TextDecoderStream())) onText((text += piece));
  return text;
}

/** What of these values is text, put together. */
export const textsIn = (values: readonly unknown[]): string =>
  values.filter((value) => typeof value === 'string').join('');

function readEvent(part: string): ReadEvent | undefined {
  const lines = part.split('\n').filter((line) => !line.startsWith(':'));
  if (lines.length === 0) return undefined;
  const valuesOf = (field: string): string[] =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ''));
  return { event: valuesOf('event').at(-1), data: valuesOf('data').join('\n') };
}
