import type { Buffer } from 'node:buffer';
import { AppError } from '../shared/index.js';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE, SMALL_F, SMALL_N, SMALL_T } from './bytes.js';
import { fold, type JsonInterest } from './json-interests.js';
import { stringText } from './json-text.js';

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Where a value lies in the body: `[start, end)`, quotes and brackets included. */
export interface JsonField {
  readonly start: number;
  readonly end: number;
  readonly kind: JsonKind;
}

/** The kind of a value, by its first byte; a number when it is not here. */
const KINDS: Readonly<Record<number, JsonKind>> = {
  [OPEN_BRACE]: 'object',
  [OPEN_BRACKET]: 'array',
  [QUOTE]: 'string',
  [SMALL_T]: 'boolean',
  [SMALL_F]: 'boolean',
  [SMALL_N]: 'null',
};

/** An interpreted object or array that is not closed yet. */
interface LookedInto {
  readonly interest: JsonInterest;
  readonly start: number;
}

/** Notes where the interpreted members of a document are, while a scanner walks it. Does not know its grammar. */
export class JsonMembers {
  /** By path; the document itself under the empty path. */
  readonly fields = new Map<string, JsonField>();
  /** The interpreted ones among the open objects and arrays: always the outermost levels. */
  private readonly lookedInto: LookedInto[] = [];
  /** What the value that comes next is to whoever interprets the document. */
  private interest: JsonInterest | undefined;

  constructor(root: JsonInterest) {
    this.interest = root;
  }

  /**
   * The next value is the member with the name at `[start, end)`, quotes included.
   * @param depth the open objects and arrays
   * @throws AppError invalid_request when it is given twice or in another case
   */
  name(body: Buffer, depth: number, start: number, end: number, escaped: boolean): void {
    if (this.lookedInto.length !== depth) return;
    const parent = this.lookedInto[depth - 1]?.interest;
    if (parent === undefined || end - start > parent.longestName) return;
    const name = stringText(body, start, end, escaped);
    const interest = parent.members.get(fold(name));
    if (interest === undefined) return;
    if (interest.name !== name) throw misspelt(interest, name);
    if (this.fields.has(interest.path)) throw givenTwice(interest);
    this.interest = interest;
  }

  /** The next value is an object or array, and begins here. */
  open(start: number): void {
    if (this.interest === undefined) return;
    this.lookedInto.push({ interest: this.interest, start });
    this.interest = undefined;
  }

  /** The innermost of so many open objects and arrays has ended. */
  close(body: Buffer, depth: number, end: number): void {
    if (this.lookedInto.length !== depth) return;
    const closed = this.lookedInto.pop();
    if (closed !== undefined) this.note(body, closed.interest, closed.start, end);
  }

  /** The next value is no object or array, and lies here. */
  value(body: Buffer, start: number, end: number): void {
    if (this.interest === undefined) return;
    this.note(body, this.interest, start, end);
    this.interest = undefined;
  }

  private note(body: Buffer, interest: JsonInterest, start: number, end: number): void {
    const kind = KINDS[body[start] ?? 0] ?? 'number';
    this.fields.set(interest.path, { start, end, kind });
  }
}

function misspelt({ path }: JsonInterest, name: string): AppError {
  return new AppError('invalid_request', `${name}: member names are case-sensitive; write ${path}.`, { param: path });
}

function givenTwice({ path }: JsonInterest): AppError {
  return new AppError('invalid_request', `${path}: this member is given twice.`, { param: path });
}
