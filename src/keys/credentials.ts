import { hash, randomInt } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';

/** The keys of a request, and what is wrong with it if none of them is known. */
export interface Credentials {
  /** Well-formed keys without duplicates, in the order in which they are tried. */
  readonly candidates: readonly string[];
  /** Why a header could not be parsed, or that there was none; undefined if all could. */
  readonly error: string | undefined;
}

type ReadKey = { readonly key: string } | { readonly error: string } | undefined;

const SEND = 'Use "Authorization: Bearer sk-…" with a single space.';
/** Besides Authorization: headers of Messages, Azure and Gemini clients. Tried in this order. */
const KEY_HEADERS = ['x-api-key', 'api-key', 'x-goog-api-key'] as const;
/** Schemes that errors may repeat. Anything else in this position may be the secret itself. */
const FOREIGN_SCHEME = /^(?:basic|digest|negotiate|ntlm|token|apikey|key|aws4-hmac-sha256)$/i;

/**
 * Reads the keys of a request from its headers, never from query or body.
 * @param rawHeaders names and values in turn, as Node lists them: `headers` contains only the first Authorization
 */
export function readCredentials(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): Credentials {
  const readings = [readAuthorization(headers, rawHeaders), ...KEY_HEADERS.map((name) => readKeyHeader(name, headers))];
  const sent = readings.filter((reading) => reading !== undefined);
  const candidates = new Set(sent.flatMap((reading) => ('key' in reading ? [reading.key] : [])));
  const errors = sent.flatMap((reading) => ('error' in reading ? [reading.error] : []));
  return { candidates: [...candidates], error: sent.length === 0 ? `missing API key. ${SEND}` : errors[0] };
}

function readAuthorization(headers: IncomingHttpHeaders, rawHeaders: readonly string[]): ReadKey {
  if (timesSent('authorization', rawHeaders) > 1)
    return { error: `duplicate Authorization header. Send it once: "Authorization: Bearer sk-…".` };
  if (headers.authorization === undefined) return undefined;
  const value = trimmed(headers.authorization);
  const error = credentialError(value);
  return error === undefined ? { key: value.slice(value.indexOf(' ') + 1) } : { error: `${error}. ${SEND}` };
}

/** The error in an Authorization header, without repeating possibly secret parts. */
function credentialError(value: string): string | undefined {
  if (value === '') return 'the Authorization header is empty';
  if (!/^[\x20-\x7e\t]*$/.test(value)) return 'the Authorization header contains non-ASCII characters';
  if (value.includes('\t')) return 'the Authorization header contains a tab';
  const blank = value.indexOf(' ');
  const scheme = blank < 0 ? value : value.slice(0, blank);
  if (!/^bearer$/i.test(scheme)) return schemeError(scheme, blank >= 0);
  return blank < 0 ? 'no API key after "Bearer"' : keyError(value.slice(blank + 1));
}

function schemeError(scheme: string, keyFollows: boolean): string {
  if (FOREIGN_SCHEME.test(scheme)) return `the Authorization scheme is ${scheme}, not Bearer`;
  return keyFollows
    ? 'the Authorization header does not start with "Bearer"'
    : 'the Authorization header has no "Bearer" before the key';
}

function keyError(key: string): string | undefined {
  if (key.startsWith(' ')) return 'more than one space between "Bearer" and the key';
  if (/^bearer /i.test(key)) return 'the Authorization header contains "Bearer" twice';
  if (key.includes(' ')) return 'unexpected text after the key in the Authorization header';
  if (/^["'`]/.test(key)) return 'the key is enclosed in quotation marks';
  return undefined;
}

function readKeyHeader(name: (typeof KEY_HEADERS)[number], headers: IncomingHttpHeaders): ReadKey {
  const value = headers[name];
  if (value === undefined) return undefined;
  const key = trimmed(String(value));
  if (key === '') return { error: `the ${name} header is empty. ${SEND}` };
  // Node joins repeated headers with a comma and a space.
  if (!/^[\x21-\x7e]+$/.test(key))
    return { error: `the ${name} header contains spaces or non-ASCII characters. ${SEND}` };
  if (/^["'`]/.test(key)) return { error: `the key is enclosed in quotation marks in the ${name} header. ${SEND}` };
  return { key };
}

/**
 * Removes spaces and tabs around a header value (RFC 9110, 5.5). A loop, because a pattern for the end takes quadratic
 * time over long runs of blanks.
 */
function trimmed(value: string): string {
  let [start, end] = [0, value.length];
  while (start < end && isBlank(value[start])) start += 1;
  while (end > start && isBlank(value[end - 1])) end -= 1;
  return value.slice(start, end);
}

const isBlank = (character: string | undefined): boolean => character === ' ' || character === '\t';

function timesSent(name: string, rawHeaders: readonly string[]): number {
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length;
}

const PREFIX = 'sk-';
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 48 characters of 62: 285 bits. */
const LENGTH = 48;

const IMPORTABLE = /^sk-[\x21-\x7e]{29,509}$/;

/** `sk-` and 48 random letters and digits. `randomInt` is unbiased, unlike a remainder. */
export function generateSecret(): string {
  return PREFIX + Array.from({ length: LENGTH }, () => ALPHABET.charAt(randomInt(ALPHABET.length))).join('');
}

/** The stored SHA-256 of a secret. No slow hash is needed, because secrets are too long to guess. */
export function hashSecret(secret: string): Buffer {
  return hash('sha256', secret, 'buffer');
}

/** Identifies a key to people: the first 6 and the last 4 characters. */
export function hintOf(secret: string): string {
  return `${secret.slice(0, 6)}…${secret.slice(-4)}`;
}

/**
 * Whether an external secret can be imported: `sk-`, 32 to 512 printable ASCII characters without spaces. Our own
 * secrets comply.
 */
export function isImportable(secret: string): boolean {
  return IMPORTABLE.test(secret);
}
