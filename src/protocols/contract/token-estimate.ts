import type { Buffer } from 'node:buffer';
import { isJsonObject } from '../../platform/shared/index.js';

// Token counts without a tokenizer: an upper bound for holds and an estimate for streams, both by character classes.
// Weights are fitted to o200k_base and verified in token-estimate.spec.ts.

const SPACE = 0;
const COMMON = 1;
const RARE = 2;
const UPPER = 3;
const DIGIT = 4;
const SIGN = 5;

function kindOf(byte: number): number {
  const character = String.fromCharCode(byte);
  if (character === ' ') return SPACE;
  if ('etaoinsrhldcumgpfyb'.includes(character)) return COMMON;
  if (/[a-z]/.test(character)) return RARE;
  if (/[A-Z]/.test(character)) return UPPER;
  return /\d/.test(character) ? DIGIT : SIGN;
}

const KINDS = Uint8Array.from({ length: 128 }, (_, byte) => kindOf(byte));

/** In hundredths of a token. */
const TOKEN = 100;
/** Tokenizers know nearly all letter pairs; the rest of a word may be split. */
const LETTER_WEIGHTS: Readonly<Record<number, number>> = { [SPACE]: 50, [COMMON]: 50, [RARE]: 65, [UPPER]: 90 };
const DIGITS_WEIGHT = 130;
/** Pairs with a non-ASCII byte are handled by character. */
const NOT_ASCII = 0;

function pairWeight(first: number | undefined, second: number | undefined): number {
  if (first === undefined || second === undefined) return NOT_ASCII;
  // A token has at least one byte; spaced-out text may have one per two bytes.
  if (first === SPACE && second === SPACE) return 2 * TOKEN;
  const [one, other] = [LETTER_WEIGHTS[first], LETTER_WEIGHTS[second]];
  if (one !== undefined && other !== undefined) return one + other;
  return first === DIGIT && second === DIGIT ? DIGITS_WEIGHT : 2 * TOKEN;
}

/** By both bytes of a pair, little-endian. */
const PAIR_WEIGHTS = Uint8Array.from({ length: 1 << 16 }, (_, pair) =>
  pairWeight(KINDS[pair & 0xff], KINDS[pair >> 8]),
);

/** Ranges of characters with one or two tokens; others may have one per byte. */
const ONE_TOKEN: readonly (readonly [from: number, to: number])[] = [
  [0xa0, 0xcf],
  [0xe0, 0xff],
  [0x391, 0x3a1],
  [0x3a3, 0x3a9],
  [0x3b1, 0x3ce],
  [0x410, 0x44f],
  [0x451, 0x45c],
  [0x561, 0x587],
  [0x5d0, 0x5ea],
  [0x621, 0x63a],
  [0x640, 0x654],
  [0x660, 0x66c],
  [0x905, 0x90a],
  [0x913, 0x928],
  [0x92a, 0x933],
  [0x935, 0x939],
  [0x93c, 0x943],
  [0xe0d, 0xe11],
  [0xe13, 0xe25],
  [0xe27, 0xe39],
  [0xe46, 0xe4d],
  [0x10d0, 0x10f0],
  [0x2009, 0x2011],
  [0x201c, 0x2022],
  [0x304a, 0x3061],
  [0x3063, 0x306b],
  [0x306d, 0x3073],
  [0x307b, 0x308d],
  [0x30a6, 0x30c1],
  [0x30cd, 0x30ed],
];
const TWO_TOKENS: readonly (readonly [from: number, to: number])[] = [
  [0x900, 0xfbf],
  [0x1000, 0x10ff],
  [0x1780, 0x17ff],
  [0x2000, 0x233f],
  [0x3000, 0x317f],
  [0xff01, 0xffff],
];

/** By UTF-16 code unit; surrogates have half of their pair's each. */
const MAX_TOKENS = new Uint8Array(1 << 16).fill(3).fill(2, 0, 0x800).fill(2, 0xd800, 0xe000);
for (const [from, to] of TWO_TOKENS) MAX_TOKENS.fill(2, from, to + 1);
for (const [from, to] of ONE_TOKEN) MAX_TOKENS.fill(1, from, to + 1);

/** Max bytes of text weighed; the rest counts by size. */
export const MAX_WEIGHED_BYTES = 4 * 1024 * 1024;

/**
 * Upper bound of tokens in `[start, end)`: about one per two bytes of English, up to one per byte for random text.
 * About 0.1 ms for 331 kB.
 */
export function maxTokensIn(bytes: Buffer, start: number, end: number): number {
  const to = Math.min(end, start + MAX_WEIGHED_BYTES);
  const first = start + ((bytes.byteOffset + start) & 1);
  const pairs = Math.max(0, to - first) >> 1;
  const words = new Uint16Array(bytes.buffer, bytes.byteOffset + first, pairs);
  const weighing = new Weighing(words);
  let tokens = end - start - 2 * pairs;
  for (let index = weighing.ascii(0); index < pairs;) {
    // To the end of the run in whole pairs; ASCII bytes at its ends count as a token each.
    const from = index;
    while (index < pairs && PAIR_WEIGHTS[words[index] ?? 0] === NOT_ASCII) index++;
    tokens += maxTokensOfRun(bytes, first + 2 * from, first + 2 * index);
    index = weighing.ascii(index);
  }
  return tokens + Math.ceil(weighing.weight / TOKEN);
}

/** Top bits of four bytes: set in none of them if all are ASCII. */
const TOP_BITS = 0x80808080;

/** Adds the weights of pairs. Eight bytes at a time, which takes 40 % of the time of one pair at a time. */
class Weighing {
  weight = 0;
  /** The same memory, two pairs each, from the first pair at a multiple of four. */
  private readonly fours: Uint32Array;
  private readonly firstOfFours: number;

  constructor(private readonly words: Uint16Array) {
    this.firstOfFours = Math.min((words.byteOffset & 3) >> 1, words.length);
    const offset = words.byteOffset + 2 * this.firstOfFours;
    const count = (words.length - this.firstOfFours) >> 1;
    this.fours = count === 0 ? NO_FOURS : new Uint32Array(words.buffer, offset, count);
  }

  /** Adds pairs. @returns the first non-ASCII pair, or the end */
  ascii(from: number): number {
    const aligned = from + ((from + this.firstOfFours) & 1);
    if (aligned >= this.words.length) return this.inPairs(from, this.words.length);
    const at = this.inPairs(from, aligned);
    return at < aligned ? at : this.inPairs(this.inFours(at), this.words.length);
  }

  private inPairs(from: number, to: number): number {
    const { words } = this;
    let weight = 0;
    let at = from;
    for (; at < to; at++) {
      const ofPair = PAIR_WEIGHTS[words[at] ?? 0] ?? 0;
      if (ofPair === NOT_ASCII) break;
      weight += ofPair;
    }
    this.weight += weight;
    return at;
  }

  /** @param from at a multiple of four bytes. @returns a pair at or before the first non-ASCII one */
  private inFours(from: number): number {
    const { fours } = this;
    let weight = 0;
    let at = (from - this.firstOfFours) >> 1;
    for (; at + 1 < fours.length; at += 2) {
      const one = fours[at] ?? 0;
      const other = fours[at + 1] ?? 0;
      if (((one | other) & TOP_BITS) !== 0) break;
      weight += (PAIR_WEIGHTS[one & 0xffff] ?? 0) + (PAIR_WEIGHTS[one >>> 16] ?? 0);
      weight += (PAIR_WEIGHTS[other & 0xffff] ?? 0) + (PAIR_WEIGHTS[other >>> 16] ?? 0);
    }
    this.weight += weight;
    return this.firstOfFours + 2 * at;
  }
}

const NO_FOURS = new Uint32Array(0);

/** Characters split by the run's ends count on both sides. */
function maxTokensOfRun(bytes: Buffer, start: number, end: number): number {
  let tokens = 0;
  let at = start;
  while (at < end) {
    const byte = bytes[at] ?? 0;
    const length = byte < 0xc0 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
    tokens += length === 1 || length === 4 ? length : (MAX_TOKENS[codeAt(bytes, at, length)] ?? length);
    at += length;
  }
  return tokens;
}

function codeAt(bytes: Buffer, at: number, length: number): number {
  const [one, two, three] = [bytes[at] ?? 0, bytes[at + 1] ?? 0, bytes[at + 2] ?? 0];
  return length === 2 ? ((one & 0x1f) << 6) | (two & 0x3f) : ((one & 0xf) << 12) | ((two & 0x3f) << 6) | (three & 0x3f);
}

/** Typical tokens per character, by class; beyond ASCII by Unicode range. */
const LIKELY_TOKENS = Float64Array.of(0.22, 0.23, 0.28, 0.6, 0.5, 0.45);
/** A capital letter at the start of a word. */
const INITIAL_TOKENS = 0.3;
/** A token ends between letters and digits, and before a capital letter. */
const BREAK_TOKENS = 0.5;
const SCRIPTS: readonly (readonly [from: number, tokens: number])[] = [
  [0x80, 0.8],
  [0x370, 0.4],
  [0x400, 0.28],
  [0x530, 0.4],
  [0x600, 0.31],
  [0x700, 1.8],
  [0x900, 0.33],
  [0xe00, 0.37],
  [0xf00, 1.5],
  [0x10a0, 0.5],
  [0x1100, 1.5],
  [0x2000, 1],
  [0x2100, 1.5],
  [0x3000, 0.75],
  [0x3400, 1.5],
  [0x4e00, 0.66],
  [0xa000, 1.5],
  [0xac00, 0.67],
  [0xd800, 0.8],
  [0xe000, 2.5],
  [0xff00, 1],
];

const CODE_TOKENS = new Float64Array(1 << 16);
for (const [from, tokens] of SCRIPTS) CODE_TOKENS.fill(tokens, from);
CODE_TOKENS.set(Array.from(KINDS, (kind) => LIKELY_TOKENS[kind] ?? 0));

/** Estimated tokens, fractional so that pieces add up. */
export function likelyTokensIn(text: string): number {
  let tokens = 0;
  let last = SPACE;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const kind = code < 0x80 ? (KINDS[code] ?? SIGN) : SPACE;
    const beginsWord = last === SPACE || last === SIGN;
    tokens += kind === UPPER && beginsWord ? INITIAL_TOKENS : (CODE_TOKENS[code] ?? 0);
    if (!beginsWord && breaks(last, kind)) tokens += BREAK_TOKENS;
    last = kind;
  }
  return tokens;
}

const breaks = (last: number, kind: number): boolean =>
  kind === DIGIT ? last !== DIGIT : kind === UPPER ? last !== UPPER : last === DIGIT && kind !== SPACE && kind !== SIGN;

const MAX_DEPTH = 64;

/**
 * Model output in a response: strings of these members at any depth, and objects (tool input) as JSON. A string under
 * two names counts once.
 */
export function textPieces(value: unknown, names: ReadonlySet<string>): string[] {
  const found: string[] = [];
  collect(value, { names, found, depth: 0 });
  return found;
}

interface Search {
  readonly names: ReadonlySet<string>;
  readonly found: string[];
  readonly depth: number;
}

function collect(value: unknown, search: Search): void {
  if (search.depth > MAX_DEPTH) return;
  const deeper = { ...search, depth: search.depth + 1 };
  if (Array.isArray(value)) {
    for (const item of value as readonly unknown[]) collect(item, deeper);
  } else if (isJsonObject(value)) {
    const texts = new Set<string>();
    for (const [name, member] of Object.entries(value)) {
      const text = search.names.has(name) ? textOf(member) : undefined;
      if (text === undefined) collect(member, deeper);
      else if (text !== '' && !texts.has(text)) search.found.push(text);
      if (text !== undefined) texts.add(text);
    }
  }
}

function textOf(member: unknown): string | undefined {
  if (typeof member === 'string') return member;
  if (!isJsonObject(member)) return undefined;
  return Object.keys(member).length === 0 ? '' : JSON.stringify(member);
}
