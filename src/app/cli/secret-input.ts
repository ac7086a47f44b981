import type { Readable } from 'node:stream';
import { Secret } from '../../platform/shared/index.js';

/** Longer than any secret we take; whatever it is that comes, it is not read to its end. */
const MAX_CHARACTERS = 4096;

/** All that a stream says, without the line end that `echo` adds: a secret must not stand on a command line. */
export async function readSecret(input: Readable): Promise<Secret> {
  let text = '';
  for await (const chunk of input.setEncoding('utf8')) {
    text += String(chunk);
    if (text.length > MAX_CHARACTERS) break;
  }
  return new Secret(text.replace(/\r?\n$/, ''));
}
