import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { Passwords } from '../../../auth/index.js';
import { AppError, Clock, newId } from '../../../platform/shared/index.js';
import { type Application, RegistrationChecks } from './registration.checks.js';
import { RegistrationMails } from './registration.mails.js';
import { RegistrationRepository } from './registration.repository.js';

/** A registration that waits for its code, as its page shows it. */
export interface PendingRegistration {
  readonly id: string;
  readonly email: string;
}

/** Nobody registers in this browser, or did so too long ago. */
export class NothingPending extends AppError {
  constructor() {
    super('not_found', 'No pending verification. Register again or sign in.');
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
    private readonly passwords: Passwords,
    private readonly mails: RegistrationMails,
    private readonly clock: Clock,
  ) {}

  /**
   * Has a code mailed and remembers who asked. The mail is counted before the password is hashed and a row is written:
   * strangers have no more of these made than mails.
   * @param visitKey the token of its forms, which only the browser that asks knows
   * @throws what RegistrationChecks does, TooManyTries
   */
  async begin(application: Application, visitKey: string, ip: string): Promise<void> {
    const { name, email, password, invitationId } = await this.checks.check(application);
    await this.mails.spend(email, ip);
    const passwordHash = await this.passwords.hash(password);
    const createdAt = this.clock.date();
    const id = newId('reg', createdAt.getTime());
    const visitHash = hashOf(visitKey);
    await this.registrations.insert({ id, visitHash, email, name, passwordHash, invitationId, createdAt });
    await this.mails.send({ id, email });
  }

  /** What this browser has begun; undefined: nothing, or long ago. */
  pending(visitKey: string): Promise<PendingRegistration | undefined> {
    return this.registrations.byVisit(hashOf(visitKey), this.clock.date());
  }

  /** @throws NothingPending, SentJustNow, TooManyTries */
  async sendAgain(visitKey: string, ip: string): Promise<void> {
    const row = await this.registrations.byVisit(hashOf(visitKey), this.clock.date());
    if (!row) throw new NothingPending();
    await this.mails.sendAgain(row, ip);
  }
}

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');
