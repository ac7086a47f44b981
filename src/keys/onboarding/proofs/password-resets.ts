import { Injectable, Logger } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  type Account,
  AccountExists,
  AccountMails,
  AccountService,
  LinkRefused,
  normalizeEmail,
  type OpenedLink,
  PasswordChange,
  VerificationMailer,
  type Purpose,
  type StoredVerification,
  Verifications,
} from '../../../auth/index.js';
import { reasonOf, type Secret } from '../../../platform/shared/index.js';
import { StartingCredits } from '../onboarding.service.js';
import { RegistrationOpening } from '../registration/registration.service.js';

/** The result of a verification. */
export interface ConfirmedAddress {
  readonly accountId: string;
  readonly purpose: Purpose;
}

/** Applies a verified address: everything in one transaction. */
@Injectable()
export class Confirmations {
  constructor(
    private readonly verifications: Verifications,
    private readonly opening: RegistrationOpening,
    private readonly accounts: AccountService,
    private readonly credits: StartingCredits,
    private readonly mails: AccountMails,
  ) {}

  /** @throws LinkRefused when it was already used, or the address belongs to another account; InvitationRefused */
  confirm(verification: StoredVerification): Promise<ConfirmedAddress> {
    switch (verification.purpose) {
      case 'register':
        return this.open(verification);
      case 'confirm':
      case 'change':
        return this.settle(verification);
      case 'reset':
      case 'invite':
      case 'join':
        return Promise.reject(new LinkRefused());
    }
  }

  private async open(verification: StoredVerification): Promise<ConfirmedAddress> {
    const { purpose, subject } = verification;
    const accountId = await this.accounts.within(async (manager) => {
      await this.verifications.use(verification, manager);
      return this.opening.open(subject, manager);
    });
    return { purpose, accountId };
  }

  private async settle(verification: StoredVerification): Promise<ConfirmedAddress> {
    const { purpose, subject: accountId, email } = verification;
    const before = await this.accounts.within(async (manager) => {
      await this.verifications.use(verification, manager);
      return this.verify(accountId, email, manager);
    });
    if (before.email !== email && before.verifiedAt !== undefined) this.mails.sendAddressChanged(before.email, email);
    return { purpose, accountId };
  }

  /** Marks the address as the account's and verified, with all consequences. Returns the account as it was before. */
  async verify(accountId: string, email: string, manager: EntityManager): Promise<Account> {
    const before = await this.accounts.verify(accountId, email, manager).catch((error: unknown): never => {
      throw error instanceof AccountExists ? new LinkRefused() : error;
    });
    await this.credits.give(accountId, email, before.verifiedAt === undefined, manager);
    // Emails sent to the previous address must no longer open the account.
    if (before.email !== email) await this.verifications.withdraw(accountId, manager);
    return before;
  }
}

/** Password resets by email, for forgotten passwords and for invitations. */
@Injectable()
export class PasswordResets {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly verifications: Verifications,
    private readonly accounts: AccountService,
    private readonly proofs: VerificationMailer,
    private readonly passwords: PasswordChange,
    private readonly confirmations: Confirmations,
  ) {}

  /**
   * Emails a link if the address belongs to an account. The lookup runs after the response, so that timing reveals
   * nothing.
   * @throws TooManyAttempts for known and unknown addresses alike
   */
  async request(typed: string, ip: string): Promise<void> {
    const email = normalizeEmail(typed);
    await this.proofs.spend(email ?? typed.trim().slice(0, 320), ip);
    if (email !== undefined)
      void this.mail(email).catch((error: unknown) =>
        this.logger.warn(`Failed to send a password reset link: ${reasonOf(error)}`),
      );
  }

  /** The target of a link. @throws LinkRefused when it was used or is unknown */
  async open(token: string): Promise<OpenedLink> {
    const link = await this.verifications.byToken(token);
    const { purpose } = link?.verification ?? {};
    if (!link || link.state === 'used' || (purpose !== 'reset' && purpose !== 'invite')) throw new LinkRefused();
    return link;
  }

  /** Sends a new email for an expired link, to the same address. @throws LinkRefused, ResendTooSoon, TooManyAttempts */
  async renew(token: string, ip: string): Promise<void> {
    const { verification } = await this.open(token);
    const { subject, email } = verification;
    const purpose = verification.purpose === 'invite' ? 'invite' : 'reset';
    const account = await this.accounts.byId(subject);
    if (account.email !== email) throw new LinkRefused();
    await this.proofs.send({ purpose, subject, email, ip });
  }

  /** Sets the password; following the emailed link also verifies the address. @throws LinkRefused, InvalidAccount */
  async choose(token: string, password: Secret): Promise<void> {
    const { verification, state } = await this.open(token);
    if (state !== 'open') throw new LinkRefused();
    await this.passwords.set(verification.subject, password, async (manager) => {
      await this.verifications.use(verification, manager);
      const before = await this.confirmations.verify(verification.subject, verification.email, manager);
      if (before.email !== verification.email) throw new LinkRefused();
    });
  }

  private async mail(email: string): Promise<void> {
    const account = await this.accounts.find(email);
    if (account?.state === 'enabled')
      await this.proofs.mail({ purpose: 'reset', subject: account.id, email, taken: false });
  }
}
