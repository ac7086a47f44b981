import { Buffer } from 'node:buffer';
import type { JsonEdit } from './json-splice.js';
import { standsAt } from './json-text.js';

/** What reasoning that this relay has sealed begins with, as a value in a body. */
const SEALED = Buffer.from('"rly1.');
/** The members that carry it, as they are written. In a text of the conversation it is a text. */
const CARRIERS = ['"signature"', '"data"', '"encrypted_content"'].map((name) => Buffer.from(name));
/** Above any conversation's number; further ones are left to the upstream. */
const MAX_SEALED = 10_000;
const SMALL_R = 0x72;
const QUOTE = 0x22;
const COMMA = 0x2c;
const SPACE = 0x20;

/** An object in a body: `[start, end)`. */
export interface ObjectPlace {
  readonly start: number;
  readonly end: number;
}

/** The name of a member, as `JsonStrings` knows it. */
interface Name {
  readonly nameStart: number;
  readonly nameEnd: number;
}

/** Finds the objects in arrays that carry sealed reasoning, while a body is scanned. */
export class SealFinder {
  /** In the order of their ends. */
  readonly found: ObjectPlace[] = [];
  /** How many open objects and arrays there are where one was found that is still open; 0 for none. */
  private depth = 0;

  /** A string, whose quote is at `start`, is the value of a member of the innermost of `depth` open objects and arrays. */
  member(body: Buffer, { nameStart, nameEnd }: Name, start: number, depth: number): void {
    if (body[start + 1] !== SMALL_R || this.depth !== 0 || !standsAt(body, start, SEALED)) return;
    const isCarrier = CARRIERS.some((name) => name.length === nameEnd - nameStart && standsAt(body, nameStart, name));
    if (isCarrier) this.depth = depth;
  }

  /**
   * The innermost of `depth` open objects and arrays ends.
   * @param isElement of an array: without the value of a member what is left would be no JSON
   */
  close(start: number, end: number, depth: number, isElement: boolean): void {
    if (this.depth !== depth) return;
    this.depth = 0;
    if (isElement && this.found.length < MAX_SEALED) this.found.push({ start, end });
  }
}

/** Takes these objects out of their arrays. @param places from a `SealFinder` */
export function sealEdits(body: Buffer, places: readonly ObjectPlace[]): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  for (const { start, end } of places) edits.push(removal(body, start, end, edits));
  return edits;
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
