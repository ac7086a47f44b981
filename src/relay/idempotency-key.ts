import { createHash, webcrypto } from 'node:crypto';
import { type RequestLine, headerOf } from '../protocols/contract/index.js';
import { AppError } from '../platform/shared/index.js';

const HEADER = 'idempotency-key';
const MAX_LENGTH = 255;
/** Up to here a digest is quicker made than handed to another thread. */
const SMALL_BYTES = 64 * 1024;

/** What a client calls this request, so that the same one sent again is known as such; undefined when it does not say. */
export function idempotencyKeyOf(line: RequestLine): string | undefined {
  const key = headerOf(line, HEADER);
  if (key === undefined || key.length <= MAX_LENGTH) return key;
  throw new AppError('invalid_request', `The Idempotency-Key must not be longer than ${MAX_LENGTH} characters.`);
}

/** The same for requests that ask for the same in the same bytes. @param headers that ask for something as well */
export async function fingerprintOf(line: RequestLine, headers: readonly string[], body: Buffer): Promise<string> {
  const asked = headers.map((name) => headerOf(line, name));
  return `${await digestOf(body)} ${line.path}?${line.query} ${JSON.stringify(asked)}`;
}

async function digestOf(body: Buffer): Promise<string> {
  if (body.length <= SMALL_BYTES) return createHash('sha256').update(body).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', body)).toString('hex');
}
