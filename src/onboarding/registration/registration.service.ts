import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { AccountService, ProofRequests } from '../../auth/index.js';
import { AppError, Clock, newId } from '../../shared/index.js';
import { type Application, RegistrationChecks } from './registration.checks.js';
import { RegistrationRepository, type RegistrationRow } from './registration.repository.js';

/** A registration that waits for its code, as its page shows it. */
export interface PendingRegistration {
  readonly id: string;
  readonly email: string;
}

/** Nobody registers in this browser, or did so too long ago. */
export class NothingPending extends AppError {
  constructor() {
    super('not_found', 'There is nothing to confirm here any more. Register again, or sign in.');
  }
}

/**
 * Accounts to be: nothing but a name, an address and the hash of a password until somebody has shown to read that
 * address's mail. Everything that registering does is done for an address that has an account too, so that nobody
 * learns which ones have; its owner is told by mail.
 */
@Injectable()
export class Registrations {
  constructor(
    private readonly checks: RegistrationChecks,
    private readonly registrations: RegistrationRepository,
    private readonly accounts: AccountService,
    private readonly proofs: ProofRequests,
    private readonly clock: Clock,
  ) {}

  /**
   * Has a code mailed and remembers who asked.
   * @param visitKey what only the browser that asks knows
   * @throws what RegistrationChecks does, TooManyTries
   */
  async begin(application: Application, visitKey: string, ip: string): Promise<void> {
    const checked = await this.checks.check(application);
    const createdAt = this.clock.date();
    const id = newId('reg', createdAt.getTime());
    await this.registrations.insert({ ...checked, id, visitHash: hashOf(visitKey), createdAt });
    await this.mail({ id, email: checked.email }, ip);
  }

  /** What this browser has begun; undefined: nothing, or long ago. */
  pending(visitKey: string): Promise<PendingRegistration | undefined> {
    return this.registrations.byVisit(hashOf(visitKey), this.clock.date());
  }

  /** @throws NothingPending, SentJustNow, TooManyTries */
  async sendAgain(visitKey: string, ip: string): Promise<void> {
    const row = await this.registrations.byVisit(hashOf(visitKey), this.clock.date());
    if (!row) throw new NothingPending();
    await this.mail(row, ip);
  }

  private async mail({ id, email }: Pick<RegistrationRow, 'id' | 'email'>, ip: string): Promise<void> {
    const taken = await this.accounts.taken(email);
    await this.proofs.send({ purpose: 'register', subject: id, email, ip, taken });
  }
}

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');
