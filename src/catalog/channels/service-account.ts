import { createPrivateKey, hash, type KeyObject } from 'node:crypto';
import { AppError, isJsonObject, type JsonObject } from '../../platform/shared/index.js';

/** Where key files get access tokens. No other address that a file names is ever requested. */
export const GOOGLE_TOKEN_URL = 'https://oauth2.googleapis.com/token';
/** In key files from before 2018; the same service. */
const FORMER_TOKEN_URL = 'https://accounts.google.com/o/oauth2/token';
/** Of Google's public cloud; others have token services of their own. */
const UNIVERSE = 'googleapis.com';
const MAX_LENGTH = 16_384;
const MIN_KEY_BITS = 2048;
const EMAIL = /^[^\s@]+@[^\s@]+$/;

/** A Google service account key: a credential that is exchanged for access tokens. */
export interface ServiceAccount {
  readonly email: string;
  /** Project of the account; other projects may grant it access. */
  readonly projectId: string | undefined;
  readonly keyId: string | undefined;
  readonly privateKey: KeyObject;
  /** Hash of the key file. */
  readonly digest: string;
}

/** Whether a credential is meant as a key file: no other secret is a JSON object. */
export const isKeyFile = (credential: string): boolean => /^\s*\{/.test(credential);

/** Key files in one form, on one line; other credentials as they are. */
export function compactCredential(credential: string): string {
  const file = isKeyFile(credential) ? parsed(credential) : undefined;
  return file === undefined ? credential : JSON.stringify(file);
}

/** @throws InvalidKeyFile, which names the member and never contains its value */
export function readKeyFile(text: string): ServiceAccount {
  const file = parsed(text);
  if (file === undefined || text.length > MAX_LENGTH) throw new InvalidKeyFile('is not a JSON key file');
  if (file['type'] !== 'service_account') throw new InvalidKeyFile('must have the type “service_account”');
  const tokenUri = file['token_uri'] ?? GOOGLE_TOKEN_URL;
  if (tokenUri !== GOOGLE_TOKEN_URL && tokenUri !== FORMER_TOKEN_URL)
    throw new InvalidKeyFile(`must have the token_uri ${GOOGLE_TOKEN_URL}`);
  if ((file['universe_domain'] ?? UNIVERSE) !== UNIVERSE)
    throw new InvalidKeyFile(`must have the universe_domain ${UNIVERSE}`);
  const email = textIn(file, 'client_email');
  if (email === undefined || !EMAIL.test(email)) throw new InvalidKeyFile('has no valid client_email');
  return {
    email,
    projectId: textIn(file, 'project_id'),
    keyId: textIn(file, 'private_key_id'),
    privateKey: rsaKeyIn(file),
    digest: hash('sha256', JSON.stringify(file), 'hex'),
  };
}

export class InvalidKeyFile extends AppError {
  constructor(
    /** Continues a sentence about the file. */
    readonly reason: string,
    options?: ErrorOptions,
  ) {
    super('invalid_request', `the service account key ${reason}`, {}, options);
  }
}

function parsed(text: string): JsonObject | undefined {
  try {
    const file: unknown = JSON.parse(text);
    return isJsonObject(file) ? file : undefined;
  } catch {
    // Reported as not being a key file.
    return undefined;
  }
}

function textIn(file: JsonObject, name: string): string | undefined {
  const value = file[name];
  return typeof value === 'string' && value !== '' ? value : undefined;
}

function rsaKeyIn(file: JsonObject): KeyObject {
  const key = keyOf(textIn(file, 'private_key') ?? '');
  if (key.asymmetricKeyType !== 'rsa' || (key.asymmetricKeyDetails?.modulusLength ?? 0) < MIN_KEY_BITS)
    throw new InvalidKeyFile(`must have an RSA private_key of ${MIN_KEY_BITS} bits or more`);
  return key;
}

function keyOf(pem: string): KeyObject {
  try {
    return createPrivateKey(pem);
  } catch (cause) {
    throw new InvalidKeyFile('has no valid private_key', { cause });
  }
}
