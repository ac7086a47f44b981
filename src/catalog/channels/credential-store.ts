import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { Config } from '../../platform/config/index.js';
import { AppError, Clock, derivedKey, SealingKey, Secret } from '../../platform/shared/index.js';
import type { ChannelDefinition, CredentialDefinition } from './channel-definition.js';
import type { ChannelEntity, StoredCredential } from './channel.entity.js';
import type { ChannelCredential } from './channel.js';
import { isKeyFile, readKeyFile } from './service-account.js';

const PURPOSE = 'switchboard upstream credentials v1';
const PURPOSE_OF_IDS = 'switchboard ids of upstream credentials v1';
const ID_LENGTH = 12;

/** Seals upstream credentials for the database, bound to their channel. */
@Injectable()
export class CredentialVault {
  private readonly key: SealingKey;
  private readonly keyOfIds: Buffer;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
    this.keyOfIds = derivedKey(secretKey, PURPOSE_OF_IDS);
  }

  /** A short keyed hash that identifies a channel's secret; useless without SECRET_KEY. */
  idOf(secret: Secret, channelId: string): string {
    const digest = createHmac('sha256', this.keyOfIds).update(`${channelId}\n${secret.reveal()}`).digest('hex');
    return digest.slice(0, ID_LENGTH);
  }

  seal(secret: Secret, channelId: string): string {
    return this.key.seal(secret, channelId);
  }

  /** @throws UnreadableSecret when the text was not sealed for this channel with this SECRET_KEY */
  open(sealed: string, channelId: string): Secret {
    return this.key.open(sealed, channelId);
  }
}

/** Converts defined credentials to stored ones. */
@Injectable()
export class CredentialStore {
  constructor(
    private readonly vault: CredentialVault,
    private readonly clock: Clock,
  ) {}

  /**
   * Each `***` stands for the next stored secret, so their numbers must match.
   * @param id of the channel
   * @throws SecretNotStored
   */
  storedOf(
    { name, credentials }: Pick<ChannelDefinition, 'name' | 'credentials'>,
    id: string,
    before: readonly StoredCredential[],
  ): readonly StoredCredential[] {
    const sealed = before.filter((credential) => 'sealed' in credential);
    const kept = credentials.filter((credential) => credential === 'keep').length;
    if (kept > 0 && kept !== sealed.length) throw new SecretNotStored(name, kept, sealed.length);
    const waiting = [...sealed];
    return credentials.flatMap((credential) => this.store(credential, id, sealed, waiting) ?? []);
  }

  private store(
    credential: CredentialDefinition,
    id: string,
    sealed: readonly (StoredCredential & { sealed: string })[],
    waiting: StoredCredential[],
  ): StoredCredential | undefined {
    if (credential === 'keep') return waiting.shift();
    if ('stored' in credential) return credential.stored;
    if ('env' in credential) return credential;
    // Sealing is not deterministic: an unchanged secret keeps its stored text.
    const same = sealed.find((stored) => this.opens(stored.sealed, id) === credential.secret.reveal());
    return same ?? { sealed: this.vault.seal(credential.secret, id), setAt: this.clock.date().toISOString() };
  }

  private opens(sealed: string, id: string): string | undefined {
    try {
      return this.vault.open(sealed, id).reveal();
    } catch {
      // Sealed with another SECRET_KEY: it is replaced.
      return undefined;
    }
  }
}

/** `***` does not refer to a stored secret, or is ambiguous. */
export class SecretNotStored extends AppError {
  constructor(channel: string, kept: number, stored: number) {
    const reason =
      stored === 0
        ? 'has no stored secret for "***"'
        : `has ${stored} stored secrets, but "***" appears ${kept} times. Enter it once per secret, or enter the secrets`;
    super('invalid_request', `The channel ${channel} ${reason}.`);
  }
}

/** Credentials of a channel, or why they are unavailable. */
interface ReadCredentials {
  readonly credentials: readonly ChannelCredential[];
  readonly unavailableReason: string | undefined;
}

/** Reads credentials of stored channels from the environment or the database. */
@Injectable()
export class CredentialReader {
  constructor(
    private readonly config: Config,
    private readonly vault: CredentialVault,
  ) {}

  /** One missing credential makes the channel unavailable: it was not meant to run with fewer. */
  read({ id, credentials }: Pick<ChannelEntity, 'id' | 'credentials'>): ReadCredentials {
    try {
      return { credentials: credentials.map((stored) => this.credentialOf(stored, id)), unavailableReason: undefined };
    } catch (error) {
      return { credentials: [], unavailableReason: AppError.from(error).message };
    }
  }

  /** Which of these variables this process's environment lacks. */
  missing(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.config.variable(name) === undefined);
  }

  private credentialOf(stored: StoredCredential, channelId: string): ChannelCredential {
    const secret = this.secretOf(stored, channelId);
    return credentialOf(this.vault.idOf(secret, channelId), secret);
  }

  private secretOf(stored: StoredCredential, channelId: string): Secret {
    if ('sealed' in stored) return this.vault.open(stored.sealed, channelId);
    const value = this.config.variable(stored.env);
    if (value === undefined) throw new MissingVariable(stored.env);
    return new Secret(value);
  }
}

/** @throws InvalidKeyFile */
export function credentialOf(id: string, secret: Secret): ChannelCredential {
  const text = secret.reveal();
  return { id, secret, ...(isKeyFile(text) && { serviceAccount: readKeyFile(text) }) };
}

class MissingVariable extends AppError {
  constructor(name: string) {
    super('unavailable', `the environment variable ${name} is not set`);
  }
}
