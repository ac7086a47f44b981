import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { AppError, Secret } from '../../platform/shared/index.js';
import type { ChannelCredential } from './channel.js';
import type { ChannelEntity, StoredCredential } from './channel.entity.js';
import { CredentialVault } from './credential-vault.js';

/** What a channel calls its upstream with, or why it cannot. */
interface ReadCredentials {
  readonly credentials: readonly ChannelCredential[];
  readonly unavailableReason: string | undefined;
}

/** Reads the credentials of stored channels: from this process's environment, or out of the vault. */
@Injectable()
export class CredentialReader {
  constructor(
    private readonly config: Config,
    private readonly vault: CredentialVault,
  ) {}

  /** One credential that cannot be had takes the channel out: it was not meant to run on fewer. */
  read({ id, credentials }: Pick<ChannelEntity, 'id' | 'credentials'>): ReadCredentials {
    try {
      return { credentials: credentials.map((stored) => this.credentialOf(stored, id)), unavailableReason: undefined };
    } catch (error) {
      return { credentials: [], unavailableReason: AppError.from(error).message };
    }
  }

  /** Those of the named variables that this process's environment does not have. */
  missing(names: readonly string[]): readonly string[] {
    return names.filter((name) => this.config.variable(name) === undefined);
  }

  private credentialOf(stored: StoredCredential, channelId: string): ChannelCredential {
    const secret = this.secretOf(stored, channelId);
    return { id: this.vault.idOf(secret, channelId), secret };
  }

  private secretOf(stored: StoredCredential, channelId: string): Secret {
    if ('sealed' in stored) return this.vault.open(stored.sealed, channelId);
    const value = this.config.variable(stored.env);
    if (value === undefined) throw new MissingVariable(stored.env);
    return new Secret(value);
  }
}

class MissingVariable extends AppError {
  constructor(name: string) {
    super('unavailable', `the environment variable ${name} is not set`);
  }
}
