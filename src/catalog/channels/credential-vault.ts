import { Injectable } from '@nestjs/common';
import { createHmac } from 'node:crypto';
import { Config } from '../../platform/config/index.js';
import { derivedKey, SealingKey, type Secret } from '../../platform/shared/index.js';

const PURPOSE = 'switchboard upstream credentials v1';
const PURPOSE_OF_IDS = 'switchboard ids of upstream credentials v1';
const ID_LENGTH = 12;

/** Seals upstream credentials for the database, each for the channel that it belongs to. */
@Injectable()
export class CredentialVault {
  private readonly key: SealingKey;
  private readonly keyOfIds: Buffer;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
    this.keyOfIds = derivedKey(secretKey, PURPOSE_OF_IDS);
  }

  /** A short name of a channel's secret, by which nobody can find it without SECRET_KEY, not even by trying all of them. */
  idOf(secret: Secret, channelId: string): string {
    const digest = createHmac('sha256', this.keyOfIds).update(`${channelId}\n${secret.reveal()}`).digest('hex');
    return digest.slice(0, ID_LENGTH);
  }

  seal(secret: Secret, channelId: string): string {
    return this.key.seal(secret, channelId);
  }

  /** @throws UnreadableSecret when the text is not what was sealed for this channel under this SECRET_KEY */
  open(sealed: string, channelId: string): Secret {
    return this.key.open(sealed, channelId);
  }
}
