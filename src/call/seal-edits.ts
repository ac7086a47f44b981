import type { JsonEdit } from './json-splice.js';

/** What reasoning that this relay has sealed begins with, as a value in a body. */
const SEALED = '"rly1.';
/** The members that carry it. In a text of the conversation it is a text. */
const CARRIER = /"(?:signature|data|encrypted_content)"\s*:\s*$/;
const CARRIER_LENGTH = 64;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_ARRAY = 0x5b;
const COMMA = 0x2c;
const SPACE = 0x20;

/** Takes the objects out of a body's arrays that carry sealed reasoning; as good as no body has one. */
export function sealEdits(body: Buffer): readonly JsonEdit[] {
  if (!body.includes(SEALED)) return [];
  const edits: JsonEdit[] = [];
  const opened: number[] = [];
  let sealed: number | undefined;
  for (let at = 0; at < body.length; at += 1) {
    const byte = body[at];
    if (byte === QUOTE) {
      if (isSealed(body, at)) sealed ??= opened.at(-1);
      at = endOfString(body, at);
    } else if (byte === OPEN) opened.push(at);
    else if (byte === CLOSE) {
      const start = opened.pop();
      if (start === undefined || start !== sealed) continue;
      sealed = undefined;
      if (isElement(body, start)) edits.push(removal(body, start, at + 1, edits));
    }
  }
  return edits;
}

const isSealed = (body: Buffer, quote: number): boolean =>
  body.toString('latin1', quote, quote + SEALED.length) === SEALED &&
  CARRIER.test(body.toString('latin1', Math.max(0, quote - CARRIER_LENGTH), quote));

/** Without the value of a member what is left would be no JSON. A comma in front of a value is an array's. */
function isElement(body: Buffer, start: number): boolean {
  const before = body[skip(body, start - 1, -1)];
  return before === OPEN_ARRAY || before === COMMA;
}

/** The position of the closing quote of the string that opens here. */
function endOfString(body: Buffer, quote: number): number {
  let end = quote + 1;
  while (end < body.length && body[end] !== QUOTE) end += body[end] === BACKSLASH ? 2 : 1;
  return end;
}

/** With the comma behind it, else with the one before it; of neighbours one edit is made. */
function removal(body: Buffer, start: number, end: number, edits: JsonEdit[]): JsonEdit {
  // What was taken out of it goes with it.
  while ((edits.at(-1)?.start ?? 0) > start) edits.pop();
  const last = edits.at(-1);
  const first = last !== undefined && skip(body, last.end, 1) === start ? (edits.pop() ?? last).start : start;
  const behind = skip(body, end, 1);
  if (body[behind] === COMMA) return { start: first, end: behind + 1, text: '' };
  const before = skip(body, first - 1, -1);
  return { start: body[before] === COMMA ? before : first, end, text: '' };
}

function skip(body: Buffer, from: number, step: 1 | -1): number {
  let at = from;
  while ((body[at] ?? QUOTE) <= SPACE) at += step;
  return at;
}
