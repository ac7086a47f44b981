import { createHash, webcrypto } from 'node:crypto';
import { type RequestLine, headerOf } from '../call/index.js';
import { AppError } from '../shared/index.js';

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

/** The same for requests that ask for the same in the same bytes. */
export async function fingerprintOf({ path, query }: RequestLine, body: Buffer): Promise<string> {
  return `${await digestOf(body)} ${path}?${query}`;
}

async function digestOf(body: Buffer): Promise<string> {
  if (body.length <= SMALL_BYTES) return createHash('sha256').update(body).digest('hex');
  return Buffer.from(await webcrypto.subtle.digest('SHA-256', body)).toString('hex');
}
