import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { SecondFactorRepository } from './second-factor/second-factor.repository.js';
import { SessionRepository } from './sessions/session.repository.js';
import { VerificationRepository } from './verification/verification.repository.js';

/** Everything that gives access to an account: sessions, passwords, pending proofs. */
@Injectable()
export class SignInMethods {
  constructor(
    private readonly sessions: SessionRepository,
    private readonly verifications: VerificationRepository,
    private readonly factors: SecondFactorRepository,
  ) {}

  /** Signs out all browsers. */
  async signOut(accountId: string, manager: EntityManager): Promise<void> {
    await this.sessions.deleteAllOf(accountId, undefined, manager);
  }

  /** Deletes all of them. */
  async end(accountId: string, manager: EntityManager): Promise<void> {
    await this.signOut(accountId, manager);
    await this.verifications.withdraw(accountId, manager);
    await this.factors.delete(accountId, manager);
  }
}
