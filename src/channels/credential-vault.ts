import { Injectable } from '@nestjs/common';
import { createCipheriv, createDecipheriv, createHmac, hkdfSync, randomBytes } from 'node:crypto';
import { Config } from '../config/index.js';
import { AppError, Secret } from '../shared/index.js';

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Keeps this key apart from every other one that is derived from SECRET_KEY. */
const PURPOSE = 'switchboard upstream credentials v1';
const PURPOSE_OF_IDS = 'switchboard ids of upstream credentials v1';
const ID_LENGTH = 12;

/**
 * Seals upstream credentials for the database with AES-256-GCM under a key derived from SECRET_KEY.
 * A sealed text is `v1.` and base64url of nonce, ciphertext and tag. It opens only for the channel it was sealed for:
 * copied into another row it is as good as tampered with.
 */
@Injectable()
export class CredentialVault {
  private readonly key: Buffer;
  private readonly keyOfIds: Buffer;

  constructor(config: Config) {
    const derived = (purpose: string): Buffer =>
      Buffer.from(hkdfSync('sha256', config.secretKey.reveal(), '', purpose, KEY_BYTES));
    this.key = derived(PURPOSE);
    this.keyOfIds = derived(PURPOSE_OF_IDS);
  }

  /** A short name of a channel's secret, by which nobody can find it without SECRET_KEY, not even by trying all of them. */
  idOf(secret: Secret, channelId: string): string {
    const digest = createHmac('sha256', this.keyOfIds).update(`${channelId}\n${secret.reveal()}`).digest('hex');
    return digest.slice(0, ID_LENGTH);
  }

  seal(secret: Secret, channelId: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(channelId));
    const sealed = Buffer.concat([nonce, cipher.update(secret.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${sealed.toString('base64url')}`;
  }

  /** @throws UnreadableCredential when the text is not what was sealed for this channel under this SECRET_KEY */
  open(sealed: string, channelId: string): Secret {
    const [version, encoded, ...rest] = sealed.split('.');
    const bytes = Buffer.from(encoded ?? '', 'base64url');
    if (version !== VERSION || rest.length > 0 || bytes.length < NONCE_BYTES + TAG_BYTES)
      throw new UnreadableCredential();
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(channelId))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return new Secret(text.toString('utf8'));
    } catch (error) {
      throw new UnreadableCredential({ cause: error });
    }
  }
}

/** A stored credential that does not open. The message names no channel: whoever knows it says so. */
export class UnreadableCredential extends AppError {
  constructor(options?: ErrorOptions) {
    super('internal', 'its stored secret cannot be opened: SECRET_KEY is not the one it was stored under', {}, options);
  }
}
