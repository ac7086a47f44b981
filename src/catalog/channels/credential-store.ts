import { Injectable } from '@nestjs/common';
import { AppError, Clock } from '../../platform/shared/index.js';
import type { ChannelDefinition, CredentialDefinition } from './channel-definition.js';
import type { StoredCredential } from './channel.entity.js';
import { CredentialVault } from './credential-vault.js';

/** Turns credentials as they are defined into what is stored of them. */
@Injectable()
export class CredentialStore {
  constructor(
    private readonly vault: CredentialVault,
    private readonly clock: Clock,
  ) {}

  /**
   * Each `***` stands for the next secret that is stored, so there must be as many of the one as of the other.
   * @param id the channel's
   * @throws SecretNotKept
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
    // Sealing is different every time; what is stored already stays, so that nothing changes when nothing changes.
    const same = sealed.find((stored) => this.opens(stored.sealed, id) === credential.secret.reveal());
    return same ?? { sealed: this.vault.seal(credential.secret, id), setAt: this.clock.date().toISOString() };
  }

  private opens(sealed: string, id: string): string | undefined {
    try {
      return this.vault.open(sealed, id).reveal();
    } catch {
      // Stored under another SECRET_KEY: it is replaced.
      return undefined;
    }
  }
}

/** The catalog says `***`, but there is no such secret, or it is not plain which one. */
export class SecretNotStored extends AppError {
  constructor(channel: string, kept: number, stored: number) {
    const fault =
      stored === 0
        ? 'has no stored secret for "***"'
        : `has ${stored} stored secrets, but "***" appears ${kept} times. Enter it once per secret, or enter the secrets`;
    super('invalid_request', `The channel ${channel} ${fault}.`);
  }
}
