import { countTokens, setMergeCacheSize } from 'gpt-tokenizer/encoding/o200k_base';
import { isJsonObject, type JsonObject } from '../../platform/shared/index.js';
import { type PromptPlaces, type ResponsePlaces, textPieces } from '../contract/index.js';
import type { CountReply, CountRequest } from './token-counter.js';

/** Never throws. */
export function countRequest({ prompt, response, places }: CountRequest): CountReply {
  try {
    return {
      prompt: promptCount(prompt, places),
      output: tokensInAll(responseTexts(response, places.response)),
    };
  } catch (error) {
    // The message could quote the input.
    return { error: error instanceof Error ? error.name : 'unknown' };
  }
}

function promptCount(prompt: CountRequest['prompt'], places: CountRequest['places']): number {
  if (prompt === undefined) return 0;
  if (prompt instanceof Uint8Array) return promptTokens(parsed(prompt), places.prompt);
  const { ignored: silent } = places.prompt;
  return Math.ceil(prompt.texts.reduce((tokens, piece) => tokens + pieceTokens(piece, silent), 0) * prompt.share);
}

const tokensInAll = (texts: readonly string[]): number => texts.reduce((tokens, text) => tokens + tokensIn(text), 0);

function responseTexts(response: CountRequest['response'], { within, texts }: ResponsePlaces): readonly string[] {
  if (!(response instanceof Uint8Array)) return response;
  const whole = parsed(response);
  const written = Object.fromEntries(within.map((name) => [name, whole[name]]));
  return textPieces(written, new Set(texts));
}

function parsed(bytes: Uint8Array): JsonObject {
  const value: unknown = JSON.parse(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8'));
  if (!isJsonObject(value)) throw new TypeError('Not a JSON object.');
  return value;
}

/** Tokens around a message: start, role, end. */
const MESSAGE_OVERHEAD = 4;
/** Separator between role and name. */
const NAME_SEPARATOR = 1;
/** The prompt ends with the start of the response. */
const RESPONSE_START = 3;

/** Members with encoded media; everything else is text. */
const ENCODED: Readonly<Record<string, true>> = { image_url: true, url: true, file_data: true };
const DATA_URL = /^data:[^,]{0,128},/;

/** Without images. */
export function promptTokens(body: JsonObject, places: PromptPlaces): number {
  const counting = new PromptCounter(new Set(places.ignored), new Set(places.whole));
  const conversation = places.conversation.map((name) => counting.messages(body[name]));
  const definitions = places.definitions.map((name) => counting.all(body[name]));
  return [...conversation, ...definitions].reduce((sum, tokens) => sum + tokens, RESPONSE_START);
}

/** Message members with text: their strings count, plus the overhead of a message. */
const TEXT_MEMBERS = /"(?:content|text|tool_calls|function|name|arguments|input|output)"\s*:/g;
/** Type of a value in a definition, which is text. */
const SCHEMA_TYPE = '\\s*"(?:object|string|integer|number|boolean|array)"';
const ROLE = /"role"\s*:/g;
/** A string's quote with everything up to the next string. */
const SYNTAX = /(?<!\\)"[\s{}[\],:"]*/;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

/** Estimates `promptTokens` for a fragment of a request's JSON. */
export function pieceTokens(piece: string, silent: PromptPlaces['ignored']): number {
  const ignoredMember = new RegExp(
    `"(?:${silent.join('|')})"\\s*:(?!${SCHEMA_TYPE})\\s*(?:"[^"]*"?|[^"{}[\\],]*)`,
    'g',
  );
  const messages = piece.match(ROLE)?.length ?? 0;
  const texts = piece.replace(ignoredMember, '').replace(TEXT_MEMBERS, '').split(SYNTAX);
  return sum(texts, (text) => tokensIn(unescaped(text))) + messages * MESSAGE_OVERHEAD;
}

const unescaped = (text: string): string =>
  text.replace(/\\(["\\/ntr])/g, (_, escaped: string) => ESCAPES[escaped] ?? escaped);

class PromptCounter {
  constructor(
    private readonly silent: ReadonlySet<string>,
    private readonly whole: ReadonlySet<string>,
  ) {}

  messages(value: unknown): number {
    if (typeof value === 'string') return MESSAGE_OVERHEAD + tokensIn(value);
    if (Array.isArray(value)) return sum(value, (message) => MESSAGE_OVERHEAD + this.text(message));
    return isJsonObject(value) ? MESSAGE_OVERHEAD + this.text(value) : 0;
  }

  /** Counts strings and member names; names account for punctuation. */
  all(value: unknown): number {
    if (typeof value === 'string') return tokensIn(value);
    if (Array.isArray(value)) return sum(value, (item) => this.all(item));
    if (!isJsonObject(value)) return value === undefined || value === null ? 0 : tokensIn(JSON.stringify(value));
    return sum(Object.entries(value), ([name, member]) => tokensIn(name) + this.all(member));
  }

  private text(value: unknown): number {
    if (typeof value === 'string') return tokensIn(value);
    if (Array.isArray(value)) return sum(value, (item) => this.text(item));
    if (!isJsonObject(value) || value['type'] === 'base64') return 0;
    const named = typeof value['role'] === 'string' && typeof value['name'] === 'string' ? NAME_SEPARATOR : 0;
    return sum(Object.entries(value), ([name, member]) => this.member(name, member)) + named;
  }

  private member(name: string, value: unknown): number {
    if (this.silent.has(name) || isEncoded(name, value)) return 0;
    return this.whole.has(name) ? this.all(value) : this.text(value);
  }
}

function isEncoded(name: string, value: unknown): boolean {
  if (name === 'input_audio') return isJsonObject(value);
  return typeof value === 'string' && ENCODED[name] === true && DATA_URL.test(value);
}

const sum = <T>(items: readonly T[], tokens: (item: T) => number): number =>
  items.reduce((total, item) => total + tokens(item), 0);

// Only imported by the thread: loads about 60 MB.

// The cache would retain user text, and above 100,000 entries a lookup is slower than counting.
setMergeCacheSize(0);

/**
 * Long runs that the tokenizer treats as one piece, in quadratic time (a minute for 100,000 characters). Split into
 * parts, each costs at most one more token.
 */
const LONG_RUN = /[\p{L}\p{M}]{128}|[^\s\p{L}\p{N}]{128}|\s{128}|[\r\n/]{128}/gu;

/** Control tokens in user text are text. */
const AS_TEXT = { disallowedSpecial: new Set<string>() };

/** Tokens in o200k_base, which stands for every model's encoding. */
export function tokensIn(text: string): number {
  let tokens = 0;
  let from = 0;
  for (const { index, 0: run } of text.matchAll(LONG_RUN)) {
    tokens += countTokens(text.slice(from, index + run.length), AS_TEXT);
    from = index + run.length;
  }
  return tokens + countTokens(text.slice(from), AS_TEXT);
}
