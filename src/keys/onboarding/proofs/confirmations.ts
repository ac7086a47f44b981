import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import {
  type Account,
  AccountExists,
  AccountMails,
  AccountService,
  LinkRefused,
  type Purpose,
  type StoredVerification,
  Verifications,
} from '../../../auth/index.js';
import { RegistrationOpening } from '../registration/registration.opening.js';
import { StartingCredits } from '../starting-credits.js';

/** What was proved. */
export interface ConfirmedAddress {
  readonly accountId: string;
  readonly purpose: Purpose;
}

/** What follows when an address was shown to be somebody's: all of it, in one transaction, or nothing. */
@Injectable()
export class Confirmations {
  constructor(
    private readonly verifications: Verifications,
    private readonly opening: RegistrationOpening,
    private readonly accounts: AccountService,
    private readonly credits: StartingCredits,
    private readonly mails: AccountMails,
  ) {}

  /** @throws LinkRefused when it was used meanwhile, or the address has another account by now; InvitationRefused */
  confirm(verification: StoredVerification): Promise<ConfirmedAddress> {
    switch (verification.purpose) {
      case 'register':
        return this.open(verification);
      case 'confirm':
      case 'change':
        return this.settle(verification);
      case 'reset':
      case 'invite':
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

  /** The address is the account's, and verified; what comes with that is given. Gives the account as it was before. */
  async verify(accountId: string, email: string, manager: EntityManager): Promise<Account> {
    const before = await this.accounts.verify(accountId, email, manager).catch((error: unknown): never => {
      throw error instanceof AccountExists ? new LinkRefused() : error;
    });
    await this.credits.give(accountId, email, before.verifiedAt === undefined, manager);
    // What was sent to the address that it had must not open the account any more.
    if (before.email !== email) await this.verifications.withdraw(accountId, manager);
    return before;
  }
}
