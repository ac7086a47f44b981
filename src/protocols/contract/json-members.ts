import { Buffer } from 'node:buffer';
import { AppError } from '../../platform/shared/index.js';
import { MAX_LIST_ELEMENTS, tooManyElements } from './json-limits.js';
import { OPEN_BRACE, OPEN_BRACKET, QUOTE, SMALL_F, SMALL_N, SMALL_T, stringText } from './json-text.js';

/** A member that a protocol interprets; the root has an empty path. */
export interface JsonInterest {
  /** As in errors: `stream_options.include_usage`. */
  readonly path: string;
  readonly name: string;
  /** By name, case folded. */
  readonly members: ReadonlyMap<string, JsonInterest>;
  /** Interest in an array's elements; its path ends with `[]`. */
  readonly elements: JsonInterest | undefined;
  /** Collects the names of other members. */
  readonly collectsOthers: boolean;
  /** In bytes, escaped and quoted. */
  readonly longestName: number;
}

interface MutableInterest extends JsonInterest {
  readonly members: Map<string, MutableInterest>;
  elements: MutableInterest | undefined;
  collectsOthers: boolean;
  longestName: number;
}

/** Max growth of a name when every character is escaped. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
/** Longer names are not collected. */
const MAX_COLLECTED_BYTES = 66;
/** Last part of a path: all other members. */
const OTHERS = '*';
const ELEMENTS = '[]';

/** Folds case like the most lenient parsers, which also map U+017F to `s` and U+212A to `k`. Never shortens. */
const foldCase = (name: string): string => name.toUpperCase().toLowerCase();

const newInterest = (path: string, name: string): MutableInterest => ({
  path,
  name,
  members: new Map(),
  elements: undefined,
  collectsOthers: false,
  longestName: 0,
});

/**
 * The members that a protocol interprets, by path from the root; parents are included. `tools[].type` is a
 * member of every array element, `models[]` the element itself; `reasoning.*` collects the names of all other members.
 * Created once per protocol.
 */
export function jsonInterests(...paths: readonly string[]): JsonInterest {
  const root = newInterest('', '');
  for (const path of paths) addPath(root, path);
  return root;
}

function addPath(root: MutableInterest, path: string): void {
  let parent = root;
  for (const part of path.split('.')) {
    if (part === OTHERS) {
      parent.collectsOthers = true;
      parent.longestName = Math.max(parent.longestName, MAX_COLLECTED_BYTES);
      return;
    }
    const name = part.endsWith(ELEMENTS) ? part.slice(0, -ELEMENTS.length) : part;
    const key = foldCase(name);
    const child = parent.members.get(key) ?? newInterest(parent.path === '' ? name : `${parent.path}.${name}`, name);
    parent.members.set(key, child);
    parent.longestName = Math.max(parent.longestName, QUOTES_BYTES + WITH_ESCAPES * name.length);
    parent = part === name ? child : (child.elements ??= newInterest(`${child.path}${ELEMENTS}`, name));
  }
}

const TOKENS = /"(?:[^"\\]|\\.)*"(\s*:)?|[{}]/g;

/** Members of schemas whose members have free names: `id` and `ID` are two. */
const FREE_NAMES: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs', 'definitions']);

/**
 * The first duplicate member of an object, ignoring escapes and case; undefined if none. Parsers differ in which
 * duplicate they use.
 * @param json valid
 */
export function duplicateMember(json: string): string | undefined {
  const open: { readonly names: Set<string>; readonly areFree: boolean }[] = [];
  let last = '';
  for (const [token, colon] of json.matchAll(TOKENS)) {
    if (token === '{') open.push({ names: new Set(), areFree: FREE_NAMES.has(last) });
    else if (token === '}') open.pop();
    else if (colon !== undefined) {
      last = JSON.parse(token.slice(0, -colon.length)) as string;
      const { names, areFree } = open.at(-1) ?? {};
      const name = areFree === true ? last : foldCase(last);
      if (names?.has(name) === true) return last;
      names?.add(name);
      continue;
    }
    last = '';
  }
  return undefined;
}

export type JsonKind = 'object' | 'array' | 'string' | 'number' | 'boolean' | 'null';

/** Position of a value: `[start, end)`, including quotes and brackets. */
export interface JsonField {
  readonly start: number;
  readonly end: number;
  readonly kind: JsonKind;
}

/** Kind by first byte; all others are numbers. */
const KINDS: Readonly<Record<number, JsonKind>> = {
  [OPEN_BRACE]: 'object',
  [OPEN_BRACKET]: 'array',
  [QUOTE]: 'string',
  [SMALL_T]: 'boolean',
  [SMALL_F]: 'boolean',
  [SMALL_N]: 'null',
};

type FieldsByName = Map<string, JsonField>;

export interface JsonElement {
  readonly field: JsonField;
  /** By full path: `tools[].type`. */
  readonly members: ReadonlyMap<string, JsonField>;
}

/** An open interpreted object or array. */
interface OpenValue {
  readonly interest: JsonInterest;
  readonly start: number;
  /** The document's members or those of an array element. */
  readonly found: FieldsByName;
  readonly elements: JsonElement[] | undefined;
}

/** One decides as much as all; the rest would only be counted. */
const MAX_OTHERS = 32;

/** Records positions of interpreted members. Does not know the grammar. */
export class JsonMembers {
  /** By path; the document itself has the empty path. */
  readonly fields: FieldsByName = new Map();
  /** Most documents have no interpreted array. */
  private lists: Map<string, readonly JsonElement[]> | undefined;
  readonly others: string[] = [];
  /** Always the outermost levels. */
  private readonly openValues: OpenValue[] = [];
  private interest: JsonInterest | undefined;

  constructor(root: JsonInterest) {
    this.interest = root;
  }

  /** By array path: `tools[]`. */
  get elements(): Map<string, readonly JsonElement[]> | undefined {
    return this.lists;
  }

  /**
   * The next value is the member named at `[start, end)`, including quotes.
   * @param depth open objects and arrays
   * @throws AppError invalid_request when it is a duplicate or in another case
   */
  name(body: Buffer, depth: number, start: number, end: number, escaped: boolean): void {
    if (this.openValues.length !== depth) return;
    const parent = this.openValues[depth - 1];
    if (parent === undefined || end - start > parent.interest.longestName) return;
    const name = stringText(body, start, end, escaped);
    const interest = parent.interest.members.get(foldCase(name));
    if (interest === undefined) return this.collectOther(parent.interest, name);
    if (interest.name !== name) throw caseError(interest, name);
    if (parent.found.has(interest.path)) throw duplicateError(interest);
    this.interest = interest;
  }

  /**
   * The next value is an object or array that begins here.
   * @param depth enclosing objects and arrays
   */
  open(start: number, depth: number, isArray: boolean): void {
    const parent = this.openValues[depth - 1];
    const interest = this.interest ?? elementOf(parent, depth, this.openValues.length);
    if (interest === undefined) return;
    const found = this.interest === undefined ? new Map<string, JsonField>() : (parent?.found ?? this.fields);
    const elements = isArray && interest.elements !== undefined ? [] : undefined;
    if (elements !== undefined) (this.lists ??= new Map()).set(interest.elements?.path ?? '', elements);
    this.openValues.push({ interest, start, found, elements });
    this.interest = undefined;
  }

  close(body: Buffer, depth: number, end: number): void {
    if (this.openValues.length !== depth) return;
    const closed = this.openValues.pop();
    if (closed === undefined) return;
    const parent = this.openValues[depth - 2];
    const field = fieldAt(body, closed.start, end);
    if (parent?.elements !== undefined)
      addElement(parent, { field, members: closed.found.size === 0 ? NO_MEMBERS : closed.found });
    else closed.found.set(closed.interest.path, field);
  }

  /** The next value is a scalar at this position. @param depth enclosing objects and arrays */
  value(body: Buffer, start: number, end: number, depth: number): void {
    const parent = this.openValues[depth - 1];
    if (this.interest !== undefined) {
      (parent?.found ?? this.fields).set(this.interest.path, fieldAt(body, start, end));
      this.interest = undefined;
    } else if (parent?.elements !== undefined && this.openValues.length === depth)
      addElement(parent, { field: fieldAt(body, start, end), members: NO_MEMBERS });
  }

  private collectOther({ collectsOthers, path }: JsonInterest, name: string): void {
    if (!collectsOthers || this.others.length >= MAX_OTHERS) return;
    this.others.push(path === '' ? name : `${path}.${name}`);
  }
}

const NO_MEMBERS: ReadonlyMap<string, JsonField> = new Map();

/** @throws AppError invalid_request beyond the limit: a rule must not miss an element */
function addElement({ interest: { path }, elements }: OpenValue, element: JsonElement): void {
  if (elements !== undefined && elements.push(element) > MAX_LIST_ELEMENTS)
    throw tooManyElements(path, MAX_LIST_ELEMENTS);
}

/** Interpretation of an unnamed value directly in the innermost array. */
const elementOf = (parent: OpenValue | undefined, depth: number, openCount: number): JsonInterest | undefined =>
  parent?.elements !== undefined && openCount === depth ? parent.interest.elements : undefined;

const fieldAt = (body: Buffer, start: number, end: number): JsonField => ({
  start,
  end,
  kind: KINDS[body[start] ?? 0] ?? 'number',
});

function caseError({ path }: JsonInterest, name: string): AppError {
  return new AppError('invalid_request', `${name}: member names are case-sensitive; use ${path}.`, { param: path });
}

function duplicateError({ path }: JsonInterest): AppError {
  return new AppError('invalid_request', `${path}: duplicate member.`, { param: path });
}

/**
 * Finds members by name in unparsed JSON: meters see every event of every stream. Quotes inside strings are escaped, so
 * a quoted name before a colon is always a member. Create once, not per event.
 */
export class MemberFinder {
  readonly #pattern: RegExp;

  constructor(...names: readonly string[]) {
    this.#pattern = new RegExp(`"(?:${names.join('|')})"\\s*:\\s*`, 'g');
  }

  /** Start of the next member's value at any depth; -1 if none. */
  valueAt(text: string, from = 0): number {
    this.#pattern.lastIndex = from;
    return this.#pattern.test(text) ? this.#pattern.lastIndex : -1;
  }

  /** Whether a value other than null exists. */
  hasValue(text: string): boolean {
    for (let at = this.valueAt(text); at !== -1; at = this.valueAt(text, at)) {
      if (!text.startsWith('null', at)) return true;
    }
    return false;
  }

  /**
   * All string values, concatenated. A string under two names counts once.
   * @param text Latin-1: one character per byte
   */
  stringsIn(text: string, from = 0): string {
    let found = '';
    let last = '';
    for (let at = this.valueAt(text, from); at !== -1; at = this.valueAt(text, at)) {
      if (text[at] !== '"') continue;
      const string = text.slice(at + 1, stringEnd(text, at + 1));
      if (string !== last) found += decoded(string);
      last = string;
    }
    return found;
  }
}

const PLAIN = /^[^\\\x80-\xff]*$/;

/** As is if it cannot be decoded. */
function decoded(string: string): string {
  if (PLAIN.test(string)) return string;
  const text = Buffer.from(string, 'latin1').toString('utf8');
  if (!text.includes('\\')) return text;
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}

function stringEnd(text: string, from: number): number {
  for (let quote = text.indexOf('"', from); quote !== -1; quote = text.indexOf('"', quote + 1)) {
    let backslashes = 0;
    while (text[quote - 1 - backslashes] === '\\') backslashes++;
    if (backslashes % 2 === 0) return quote;
  }
  return text.length;
}
