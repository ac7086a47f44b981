import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import {
  AccountExists,
  AccountService,
  checkChoice,
  InvalidAccount,
  LinkRefused,
  normalizeEmail,
  Passwords,
  type ProofMail,
  ProofRequests,
} from '../../../auth/index.js';
import { AppError, Clock, newId, type Secret } from '../../../platform/shared/index.js';
import { Onboarding } from '../onboarding.service.js';
import { StartingCredits } from '../starting-credits.js';
import { InvitationRefused, Invitations } from './invitations.js';
import { RegistrationRepository, type RegistrationRow } from './registration.repository.js';
import { SignUpRules } from './sign-up-rules.js';

/** What somebody who registers has entered. */
interface Application {
  readonly name: string;
  readonly email: string;
  readonly password: Secret;
  readonly invitation: string;
}

interface CheckedApplication {
  readonly name: string;
  readonly email: string;
  readonly password: Secret;
  readonly invitationId: string | null;
}

/**
 * Whether somebody may register with what they entered. Nothing here depends on whose address it is, and nothing takes
 * long: it is done however often strangers try.
 */
@Injectable()
export class RegistrationChecks {
  constructor(
    private readonly rules: SignUpRules,
    private readonly invitations: Invitations,
  ) {}

  /** @throws SignUpClosed, InvalidAccount, InvitationRefused, and of an address that is not let in */
  async check({ name: typedName, email: typed, password, invitation }: Application): Promise<CheckedApplication> {
    this.rules.checkOpen();
    const name = typedName.trim();
    if (!/^[^\p{Cc}]{1,100}$/u.test(name)) throw new InvalidAccount('name', 'Enter a name of at most 100 characters.');
    const email = normalizeEmail(typed);
    if (email === undefined) throw new InvalidAccount('email', 'Enter an address such as name@example.com.');
    this.rules.checkAddress(email);
    checkChoice(password, { email, name });
    return { name, email, password, invitationId: await this.invitationIn(invitation) };
  }

  private async invitationIn(typed: string): Promise<string | null> {
    if (!this.rules.invitationNeeded) return null;
    if (typed.trim() === '') throw new InvitationRefused('Enter your invitation code.');
    return this.invitations.find(typed);
  }
}

type Registration = Pick<RegistrationRow, 'id' | 'email'>;

/** The mail that a registration has sent: its code or, to an address that has an account, what its owner should know. */
@Injectable()
export class RegistrationMails {
  constructor(
    private readonly accounts: AccountService,
    private readonly proofs: ProofRequests,
  ) {}

  /** Counts a mail that is asked for. @throws TooManyTries */
  spend(email: string, ip: string): Promise<void> {
    return this.proofs.spend(email, ip);
  }

  /** Sends it, counted before. */
  async send(registration: Registration): Promise<void> {
    await this.proofs.mail(await this.mailFor(registration));
  }

  /** @throws SentJustNow, TooManyTries */
  async sendAgain(registration: Registration, ip: string): Promise<void> {
    await this.proofs.send({ ...(await this.mailFor(registration)), ip });
  }

  private async mailFor({ id, email }: Registration): Promise<ProofMail> {
    return { purpose: 'register', subject: id, email, taken: await this.accounts.taken(email) };
  }
}

/** A registration that waits for its code, as its page shows it. */
interface PendingRegistration {
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

/** Makes an account of a registration whose address was shown to be theirs who registered. */
@Injectable()
export class RegistrationOpening {
  constructor(
    private readonly registrations: RegistrationRepository,
    private readonly accounts: AccountService,
    private readonly onboarding: Onboarding,
    private readonly invitations: Invitations,
    private readonly credits: StartingCredits,
  ) {}

  /**
   * In the transaction that uses up what proved it.
   * @returns the id of the account
   * @throws LinkRefused when the address has an account by now, or the registration is gone; InvitationRefused
   */
  async open(registrationId: string, manager: EntityManager): Promise<string> {
    const registration = await this.registrations.take(registrationId, manager);
    if (!registration) throw new LinkRefused();
    const { email, name, passwordHash, invitationId } = registration;
    const prepared = await this.accounts.prepare({ email, name, passwordHash, verified: true });
    const { id } = await this.onboarding.open(prepared, undefined, manager).catch(asRefusal);
    if (invitationId !== null) await this.invitations.use(invitationId, id, manager);
    await this.credits.give(id, email, true, manager);
    return id;
  }
}

/** Somebody else, or the same person twice, was quicker. */
function asRefusal(error: unknown): never {
  throw error instanceof AccountExists ? new LinkRefused() : error;
}
