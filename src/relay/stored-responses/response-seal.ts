import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { StoredContent, ResponseOwner } from './stored-response.js';

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Keeps this key apart from whatever else may be derived from the secret of an API key. */
const PURPOSE = 'switchboard stored answers v1';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Content under AES-256-GCM with a key derived from the secret of an API key, compressed before: nonce, ciphertext, tag.
 * It opens only under the id of the answer and the key that it was sealed for.
 */
export async function sealContent(content: StoredContent, owner: ResponseOwner, answerId: string): Promise<Buffer> {
  const text = await compress(JSON.stringify([content.input, content.response]));
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(owner), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(nameOf(owner, answerId));
  return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined when it is not what was sealed for this owner under this id. */
export async function openContent(
  sealed: Buffer,
  owner: ResponseOwner,
  answerId: string,
): Promise<StoredContent | undefined> {
  const text = decrypt(sealed, owner, answerId);
  if (text === undefined) return undefined;
  const [input, response] = JSON.parse(String(await decompress(text))) as [string, string];
  return { input, response };
}

function decrypt(sealed: Buffer, owner: ResponseOwner, answerId: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(owner), nonce, { authTagLength: TAG_BYTES })
    .setAAD(nameOf(owner, answerId))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    // Of another secret, another id, or not whole: nobody can say which.
    return undefined;
  }
}

const keyOf = ({ secret }: ResponseOwner): Buffer =>
  Buffer.from(hkdfSync('sha256', secret.reveal(), '', PURPOSE, KEY_BYTES));

const nameOf = ({ keyId }: ResponseOwner, answerId: string): Buffer => Buffer.from(`${keyId}\n${answerId}`);
