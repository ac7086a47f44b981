import type { Buffer } from 'node:buffer';
import { AppError } from '../../platform/shared/index.js';

/** The refusal of a body that breaks the grammar of JSON at this byte. */
export const notJson = (at: number, reason: string): AppError =>
  new AppError('invalid_request', `The request body is not valid JSON at byte ${at}: ${reason}.`);

/** True when these very bytes stand there. */
export function standsAt(body: Buffer, at: number, word: Uint8Array): boolean {
  for (let index = 0; index < word.length; index++) {
    if (body[at + index] !== word[index]) return false;
  }
  return true;
}

/**
 * What the string at `[start, end)`, quotes included, says.
 * @param escaped whether it may contain escapes; without them nothing is parsed
 * @throws AppError invalid_request when it contains an escape that JSON does not know
 */
export function stringText(body: Buffer, start: number, end: number, escaped: boolean): string {
  if (!escaped) return body.toString('utf8', start + 1, end - 1);
  try {
    return String(JSON.parse(body.toString('utf8', start, end)));
  } catch {
    throw notJson(start, 'unknown escape sequence in a string');
  }
}
