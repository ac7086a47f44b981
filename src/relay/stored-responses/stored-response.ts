import { Injectable } from '@nestjs/common';
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { promisify } from 'node:util';
import { zstdCompress, zstdDecompress } from 'node:zlib';
import type { Secret } from '../../platform/shared/index.js';

/** Owner of stored responses: an API key, whose secret (part of the request) decrypts them. */
export interface ResponseOwner {
  readonly keyId: string;
  readonly accountId: string;
  readonly secret: Secret;
}

/** Content of a stored response as JSON in the client's protocol. */
export interface StoredContent {
  /** The whole input, including what it continued: an array. */
  readonly input: string;
  /** The response as sent: an object. */
  readonly response: string;
}

/** Where a response or other upstream state was created. */
export interface UpstreamOrigin {
  readonly channelId: string;
  /** The channel's credential; null: none, or unknown. */
  readonly credentialId: string | null;
}

interface StoredResponseBase extends UpstreamOrigin {
  readonly id: string;
  /** Undefined: the channel stores the content. */
  readonly content: StoredContent | undefined;
}

export interface NewStoredResponse extends StoredResponseBase {
  readonly callId: string;
  /** IDs of its items, which later requests can refer to individually. */
  readonly itemIds: readonly string[];
}

export interface StoredResponse extends StoredResponseBase {
  readonly expiresAt: Date;
}

const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Separates this key from others derived from the API key. */
const PURPOSE = 'switchboard stored answers v1';

const compress = promisify(zstdCompress);
const decompress = promisify(zstdDecompress);

/**
 * Compresses text and encrypts it with AES-256-GCM under a key derived from the API key: nonce, ciphertext, tag. Bound
 * to its owner and name.
 * @param name ID of a stored response, or a text with spaces for others
 */
export async function sealText(text: string, owner: ResponseOwner, name: string): Promise<Buffer> {
  const compressed = await compress(text);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, keyOf(owner), nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(nameOf(owner, name));
  return Buffer.concat([nonce, cipher.update(compressed), cipher.final(), cipher.getAuthTag()]);
}

/** Undefined if it was not sealed for this owner and name. */
export async function openText(sealed: Buffer, owner: ResponseOwner, name: string): Promise<string | undefined> {
  const text = decrypt(sealed, owner, name);
  return text && String(await decompress(text));
}

export const sealContent = (content: StoredContent, owner: ResponseOwner, responseId: string): Promise<Buffer> =>
  sealText(JSON.stringify([content.input, content.response]), owner, responseId);

/** Undefined if it was not sealed for this owner and ID. */
export async function openContent(
  sealed: Buffer,
  owner: ResponseOwner,
  responseId: string,
): Promise<StoredContent | undefined> {
  const text = await openText(sealed, owner, responseId);
  if (text === undefined) return undefined;
  const [input, response] = JSON.parse(text) as [string, string];
  return { input, response };
}

function decrypt(sealed: Buffer, owner: ResponseOwner, name: string): Buffer | undefined {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const nonce = sealed.subarray(0, NONCE_BYTES);
  const decipher = createDecipheriv(CIPHER, keyOf(owner), nonce, { authTagLength: TAG_BYTES })
    .setAAD(nameOf(owner, name))
    .setAuthTag(sealed.subarray(-TAG_BYTES));
  try {
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
  } catch {
    // Another secret, another name or corruption: not distinguishable.
    return undefined;
  }
}

const keyOf = ({ secret }: ResponseOwner): Buffer =>
  Buffer.from(hkdfSync('sha256', secret.reveal(), '', PURPOSE, KEY_BYTES));

const nameOf = ({ keyId }: ResponseOwner, name: string): Buffer => Buffer.from(`${keyId}\n${name}`);

const HOUR_MS = 60 * 60 * 1000;
const MIB = 1024 * 1024;

/** Limits of stored responses. Beyond them, a key's oldest responses are evicted. */
@Injectable()
export class StoredResponseLimits {
  /** Conversations continue within a day; nothing is stored permanently. */
  readonly lifetimeMs: number = 24 * HOUR_MS;
  /** As long as the vendor stores responses, of which only ID and channel are stored here. */
  readonly originLifetimeMs: number = 30 * 24 * HOUR_MS;
  /** Max size of a response, as text and sealed. Larger ones are not stored. */
  readonly maxTextLength: number = 16 * MIB;
  readonly maxSealedBytes: number = MIB;
  /** Max total text of the responses that one request refers to. */
  readonly maxReferencedLength: number = 32 * MIB;
  /** Max items that one request refers to. */
  readonly maxReferencedItems: number = 20_000;
  /** Per key. */
  readonly maxPerKey: number = 500;
  readonly maxSealedBytesPerKey: number = 64 * MIB;
  readonly maxOriginsPerKey: number = 10_000;
  /** Of conversations since their last change, and their number and total text per key. */
  readonly conversationLifetimeMs: number = 30 * 24 * HOUR_MS;
  readonly maxConversationsPerKey: number = 1000;
  readonly maxConversationLengthPerKey: number = 256 * MIB;
  /** Background responses per key. */
  readonly maxBackgroundPerKey: number = 100;
  /** Lifetime of upstream state IDs since their last use, and their number per account. */
  readonly stateLifetimeMs: number = 30 * 24 * HOUR_MS;
  readonly maxStatesPerAccount: number = 10_000;
}
