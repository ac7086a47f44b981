import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { AppError } from './app-error.js';

/** A value that must not be printed: logs, JSON and templates show `[secret]`. Read it with `reveal()`. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return '[secret]';
  }

  toJSON(): string {
    return '[secret]';
  }

  [inspect.custom](): string {
    return '[secret]';
  }
}

const KEY = /(?<![A-Za-z0-9])sk-[^\s"'…].{7,}$/s;

/** Removes the API key from a path, query or message, percent-encoded or not: the text is cut where the key begins. */
export function maskKeys(text: string): string {
  const masked = text.replace(KEY, 'sk-…');
  if (masked !== text || !text.includes('%')) return masked;
  const decoded = text.replaceAll(/%([0-7][0-9a-f])/gi, (_, hex: string) => String.fromCharCode(parseInt(hex, 16)));
  return KEY.test(decoded) ? decoded.replace(KEY, 'sk-…') : text;
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** A stored secret cannot be decrypted. Callers add where it is stored. */
export class UnreadableSecret extends AppError {
  constructor(options?: ErrorOptions) {
    super('internal', 'its stored secret cannot be decrypted: SECRET_KEY has changed', {}, options);
  }
}

/** A key for one purpose, derived from SECRET_KEY; keys of different purposes are independent. */
export const derivedKey = (secretKey: Secret, purpose: string): Buffer =>
  Buffer.from(hkdfSync('sha256', secretKey.reveal(), '', purpose, KEY_BYTES));

/**
 * Encrypts secrets for the database with AES-256-GCM and a purpose-specific key. Format: `v1.` and base64url of nonce,
 * ciphertext and tag. Bound to a place: copied elsewhere, it does not decrypt.
 */
export class SealingKey {
  private readonly key: Buffer;

  /** @param purpose separates this key from all others derived from SECRET_KEY */
  constructor(secretKey: Secret, purpose: string) {
    this.key = derivedKey(secretKey, purpose);
  }

  seal(secret: Secret, place: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, this.key, nonce, { authTagLength: TAG_BYTES }).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(secret.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `${VERSION}.${sealed.toString('base64url')}`;
  }

  /** @throws UnreadableSecret when the text was not sealed for this place with this SECRET_KEY */
  open(sealed: string, place: string): Secret {
    const [version, encoded, ...rest] = sealed.split('.');
    const bytes = Buffer.from(encoded ?? '', 'base64url');
    if (version !== VERSION || rest.length > 0 || bytes.length < NONCE_BYTES + TAG_BYTES) throw new UnreadableSecret();
    const decipher = createDecipheriv(CIPHER, this.key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(place))
      .setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      const text = Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]);
      return new Secret(text.toString('utf8'));
    } catch (error) {
      throw new UnreadableSecret({ cause: error });
    }
  }
}
