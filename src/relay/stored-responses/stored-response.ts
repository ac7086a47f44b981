import { Injectable } from '@nestjs/common';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Secret } from '../../platform/shared/index.js';

/** Whose answers: every key has its own, and only its secret, which the request carries, opens them. */
export interface ResponseOwner {
  readonly keyId: string;
  readonly accountId: string;
  readonly secret: Secret;
}

/** What is kept of an answer, as JSON texts in the dialect of its client. */
export interface StoredContent {
  /** All that was asked, with what stands before it: an array. */
  readonly input: string;
  /** The answer as its client got it: an object. */
  readonly response: string;
}

interface Answer {
  readonly id: string;
  readonly channelId: string;
  /** Of the channel; null: it was made without any, or before this was noted. */
  readonly credentialId: string | null;
  /** Undefined: the channel keeps it. */
  readonly content: StoredContent | undefined;
}

export interface NewStoredResponse extends Answer {
  readonly callId: string;
  /** Of what it consists of: a later request may name one of them alone. */
  readonly itemIds: readonly string[];
}

export interface StoredResponse extends Answer {
  readonly expiresAt: Date;
}

/** Which channel created a piece of state, and with which credential: null without any. */
export interface StateMaker {
  readonly channelId: string;
  readonly credentialId: string | null;
}

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

const HOUR_MS = 60 * 60 * 1000;
const MIB = 1024 * 1024;

/** How much is kept, and how long. What a key keeps beyond this pushes out its oldest. */
@Injectable()
export class StoredResponseLimits {
  /** A conversation goes on within the day, and whoever wants a copy for longer has one: nothing is kept for good. */
  readonly keptMs: number = 24 * HOUR_MS;
  /** As long as the vendor of the dialect keeps answers; of these only the id and the channel are known here. */
  readonly originMs: number = 30 * 24 * HOUR_MS;
  /** Of one answer, as its texts are, and compressed and sealed. What is larger is not kept. */
  readonly textLength: number = 16 * MIB;
  readonly sealedBytes: number = MIB;
  /** Of all answers that one request names items of: each was small when it was sealed. */
  readonly recalledLength: number = 32 * MIB;
  /** So many items one request may name. */
  readonly recalledItems: number = 20_000;
  /** Of one key. */
  readonly keptOfKey: number = 500;
  readonly sealedBytesOfKey: number = 64 * MIB;
  readonly originsOfKey: number = 10_000;
  /** Ids of state that upstreams created, counted from their last use, and of one account. */
  readonly stateMs: number = 30 * 24 * HOUR_MS;
  readonly statesOfAccount: number = 10_000;
}
