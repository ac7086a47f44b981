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
  type VerificationMail,
  VerificationMailer,
} from '../../../auth/index.js';
import { AppError, Clock, newId, type Secret } from '../../../platform/shared/index.js';
import { Onboarding, StartingCredits } from '../onboarding.service.js';
import { InvitationRefused, Invitations } from './invitations.js';
import { RegistrationRepository, type RegistrationRow, SignUpRules } from './sign-up-rules.js';

/** The input of a registration. */
interface RegistrationInput {
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

/** This user of a provider gets no account. The message suggests what to do. */
export class IdentityRefused extends AppError {
  constructor(message: string) {
    super('permission_denied', message);
  }
}

/**
 * Validates registrations. Nothing depends on whether the address has an account, and nothing is expensive, since
 * anyone can call it at any rate.
 */
@Injectable()
export class RegistrationChecks {
  constructor(
    private readonly rules: SignUpRules,
    private readonly invitations: Invitations,
  ) {}

  /** @throws SignUpClosed, InvalidAccount, InvitationRefused, and errors for addresses that are not allowed */
  async check({ name: typedName, email: typed, password, invitation }: RegistrationInput): Promise<CheckedApplication> {
    this.rules.checkOpen();
    const name = this.name(typedName);
    const email = normalizeEmail(typed);
    if (email === undefined) throw new InvalidAccount('email', 'Enter an address such as name@example.com.');
    this.rules.checkAddress(email);
    checkChoice(password, { email, name });
    return { name, email, password, invitationId: await this.invitationIn(invitation) };
  }

  /** @throws InvalidAccount */
  name(typed: string): string {
    const name = typed.trim();
    if (!/^[^\p{Cc}]{1,100}$/u.test(name)) throw new InvalidAccount('name', 'Enter a name of at most 100 characters.');
    return name;
  }

  /**
   * The address of an account for a user of a provider.
   * @param email as the provider has verified it, if it has
   * @param label name of the provider
   * @throws SignUpClosed, IdentityRefused
   */
  verifiedAddress(email: string | undefined, label: string): string {
    this.rules.checkOpen();
    if (email === undefined)
      throw new IdentityRefused(
        `${label} has not verified your email address, which a new account needs. Verify it there, then try again.`,
      );
    if (this.rules.allows(email)) return email;
    const domains = this.rules.domains.map((domain) => `@${domain}`).join(' or ');
    throw new IdentityRefused(`Accounts need an email address that ends in ${domains}; yours is ${email}.`);
  }

  /** The invitation that an account needs; null if none. @throws InvitationRefused */
  async invitationIn(typed: string): Promise<string | null> {
    if (!this.rules.invitationNeeded) return null;
    if (typed.trim() === '') throw new InvitationRefused('Enter your invitation code.');
    return this.invitations.find(typed);
  }
}

type Registration = Pick<RegistrationRow, 'id' | 'email'>;

/** The email of a registration: its code or, for an address with an account, a notice to the owner. */
@Injectable()
export class RegistrationMails {
  constructor(
    private readonly accounts: AccountService,
    private readonly proofs: VerificationMailer,
  ) {}

  /** Counts a requested email. @throws TooManyAttempts */
  spend(email: string, ip: string): Promise<void> {
    return this.proofs.spend(email, ip);
  }

  /** Sends the email, which must have been counted. */
  async send(registration: Registration): Promise<void> {
    await this.proofs.mail(await this.mailFor(registration));
  }

  /** @throws ResendTooSoon, TooManyAttempts */
  async sendAgain(registration: Registration, ip: string): Promise<void> {
    await this.proofs.send({ ...(await this.mailFor(registration)), ip });
  }

  private async mailFor({ id, email }: Registration): Promise<VerificationMail> {
    return { purpose: 'register', subject: id, email, taken: await this.accounts.taken(email) };
  }
}

/** A registration that waits for its code. */
interface PendingRegistration {
  readonly id: string;
  readonly email: string;
}

/** This browser has no pending registration. */
export class NothingPending extends AppError {
  constructor() {
    super('not_found', 'No pending verification. Register again or sign in.');
  }
}

/**
 * Registrations: a name, an email address and a password hash until the address is verified. Registering an address
 * that has an account does the same work, so that accounts cannot be discovered; its owner is notified by email.
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
   * Emails a code and remembers the browser. The email is counted before the password is hashed and a row is written,
   * which limits both.
   * @param visitKey form token, known to this browser only
   * @throws errors of RegistrationChecks, TooManyAttempts
   */
  async begin(application: RegistrationInput, visitKey: string, ip: string): Promise<void> {
    const { name, email, password, invitationId } = await this.checks.check(application);
    await this.mails.spend(email, ip);
    const passwordHash = await this.passwords.hash(password);
    const createdAt = this.clock.date();
    const id = newId('reg', createdAt.getTime());
    const visitHash = hashOf(visitKey);
    await this.registrations.insert({ id, visitHash, email, name, passwordHash, invitationId, createdAt });
    await this.mails.send({ id, email });
  }

  /** The pending registration of this browser; undefined if there is none. */
  pending(visitKey: string): Promise<PendingRegistration | undefined> {
    return this.registrations.byVisit(hashOf(visitKey), this.clock.date());
  }

  /** @throws NothingPending, ResendTooSoon, TooManyAttempts */
  async sendAgain(visitKey: string, ip: string): Promise<void> {
    const row = await this.registrations.byVisit(hashOf(visitKey), this.clock.date());
    if (!row) throw new NothingPending();
    await this.mails.sendAgain(row, ip);
  }
}

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');

/** A user whose address is verified. */
interface VerifiedApplication {
  readonly email: string;
  readonly name: string;
  /** Null: they sign in with a provider. */
  readonly passwordHash: string | null;
  readonly invitationId: string | null;
}

/** Creates the account of a verified registration. */
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
   * Runs in the transaction that uses the verification.
   * @returns account ID
   * @throws LinkRefused when the address has an account by now, or the registration is gone; InvitationRefused
   */
  async open(registrationId: string, manager: EntityManager): Promise<string> {
    const registration = await this.registrations.take(registrationId, manager);
    if (!registration) throw new LinkRefused();
    return this.openFor(registration, manager);
  }

  /**
   * The account of a user whose address is verified, in the same transaction.
   * @returns account ID
   * @throws LinkRefused when the address has an account by now; InvitationRefused
   */
  async openFor(verified: VerifiedApplication, manager: EntityManager): Promise<string> {
    const { email, name, passwordHash, invitationId } = verified;
    const prepared = await this.accounts.prepare({ email, name, passwordHash, verified: true });
    const { id } = await this.onboarding.open(prepared, undefined, manager).catch(asRefusal);
    if (invitationId !== null) await this.invitations.use(invitationId, id, manager);
    await this.credits.give(id, email, true, manager);
    return id;
  }
}

/** A concurrent registration won. */
function asRefusal(error: unknown): never {
  throw error instanceof AccountExists ? new LinkRefused() : error;
}
