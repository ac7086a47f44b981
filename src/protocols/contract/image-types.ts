import { Buffer } from 'node:buffer';
import { BACKSLASH, QUOTE, SMALL_I } from './bytes.js';
import { standsAt, stringText } from './json-text.js';

// How images are recognised in a body, inline or by reference: each is an object whose `type` says so. Looked for in
// every object of every body: what cannot be one is told by its length and first bytes, without being decoded.

/** The types of images in all dialects. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image', 'image_url', 'input_image']);
const TYPE = Buffer.from('"type"');
/** How many times longer a text is when each of its characters is written as an escape. */
const WITH_ESCAPES = 6;
const QUOTES_BYTES = 2;
const MAX_TYPE_KEY_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'type'.length;
const MAX_IMAGE_TYPE_BYTES = QUOTES_BYTES + WITH_ESCAPES * 'input_image'.length;

/**
 * True when the member's name at `[start, end)`, quotes included, says `type`.
 * @throws AppError invalid_request when it is short enough and contains an escape that JSON does not know
 */
export function isTypeKey(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (escaped) return end - start <= MAX_TYPE_KEY_BYTES && stringText(body, start, end, true) === 'type';
  return end - start === TYPE.length && standsAt(body, start, TYPE);
}

/**
 * True when the value at `[start, end)` is a string that names a type of image.
 * @param escaped whether it may contain escapes, if it is a string
 * @throws AppError invalid_request when it might and contains an escape that JSON does not know
 */
export function isImageType(body: Buffer, start: number, end: number, escaped: boolean): boolean {
  if (body[start] !== QUOTE || end - start > MAX_IMAGE_TYPE_BYTES) return false;
  const first = body[start + 1];
  if (first !== SMALL_I && first !== BACKSLASH) return false;
  return IMAGE_TYPES.has(stringText(body, start, end, escaped));
}
