import type { Readable } from 'node:stream';
import { Secret } from '../../platform/shared/index.js';

/** Longer than any valid secret. Longer input is not read to its end. */
const MAX_CHARACTERS = 4096;

/** Reads a secret from a stream, without the line feed that `echo` adds: command lines are visible to other users. */
export async function readSecret(input: Readable): Promise<Secret> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_CHARACTERS) break;
  }
  return new Secret(text.replace(/\r?\n$/, ''));
}
