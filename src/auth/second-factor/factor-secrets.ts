import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { type Secret, SealingKey } from '../../platform/shared/index.js';

const PURPOSE = 'switchboard second factors v1';

/** Whose setting up it is. */
interface SetUpBy {
  readonly accountId: string;
  readonly sessionId: string;
}

/**
 * What codes are made from, sealed: for the database, where it opens for its account alone, and for the form that sets it
 * up, where it opens in the session that began. So nothing is stored of what nobody finishes.
 */
@Injectable()
export class FactorSecrets {
  private readonly key: SealingKey;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  sealForAccount(secret: Secret, accountId: string): string {
    return this.key.seal(secret, `account\n${accountId}`);
  }

  /** @throws UnreadableSecret */
  openForAccount(sealed: string, accountId: string): Secret {
    return this.key.open(sealed, `account\n${accountId}`);
  }

  sealForSetUp(secret: Secret, { accountId, sessionId }: SetUpBy): string {
    return this.key.seal(secret, `setting up\n${accountId}\n${sessionId}`);
  }

  /** @throws UnreadableSecret when it is not what this session was given */
  openForSetUp(sealed: string, { accountId, sessionId }: SetUpBy): Secret {
    return this.key.open(sealed, `setting up\n${accountId}\n${sessionId}`);
  }
}
