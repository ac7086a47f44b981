import { Injectable } from '@nestjs/common';
import {
  type Account,
  AccountService,
  LinkedIdentities,
  LinkRefused,
  normalizeEmail,
  type ProvedIdentity,
  type ProviderIdentity,
} from '../../../auth/index.js';
import { ClaimAssignments } from '../claim-assignments.js';
import { Confirmations } from '../proofs/password-resets.js';
import { IdentityRefused, RegistrationChecks, RegistrationOpening } from './registration.service.js';

/** Input of the owner of a new account. */
interface NewOwner {
  readonly name: string;
  readonly invitation: string;
}

/** Existing accounts of identities: linked ones, and those that have the verified address. */
@Injectable()
export class IdentityOwners {
  constructor(
    private readonly accounts: AccountService,
    private readonly identities: LinkedIdentities,
    private readonly confirmations: Confirmations,
  ) {}

  /** Undefined: the identity is linked to no account. */
  linked(identity: ProviderIdentity): Promise<Account | undefined> {
    return this.identities.use(identity);
  }

  /**
   * Links an identity to the account that has its verified address, where the provider may do so. Not to an account
   * with a password and an unverified address: someone else may have made it and know the password.
   * @returns undefined: there is no such account, or it cannot be linked
   */
  async adopt({ provider, identity }: ProvedIdentity): Promise<Account | undefined> {
    const email = verifiedEmail(identity);
    if (!provider.linksByEmail || email === undefined) return undefined;
    const account = await this.accounts.find(email);
    if (account?.state !== 'enabled') return undefined;
    if (account.verifiedAt === undefined) {
      const isVerified = await this.accounts.within(async (manager) => {
        if (await this.accounts.hasPassword(account.id, manager)) return false;
        await this.confirmations.verify(account.id, email, manager);
        return true;
      });
      if (!isVerified) return undefined;
    }
    await this.identities.link(account.id, identity);
    return account;
  }
}

/** New accounts of identities under the rules of sign-up, and what claims assign to accounts. */
@Injectable()
export class IdentityAccounts {
  constructor(
    private readonly accounts: AccountService,
    private readonly identities: LinkedIdentities,
    private readonly checks: RegistrationChecks,
    private readonly opening: RegistrationOpening,
    private readonly assignments: ClaimAssignments,
  ) {}

  /** Assigns what the claims say, before the session begins. @throws AccountGone */
  assign(account: Pick<Account, 'id' | 'email'>, proved: ProvedIdentity): Promise<void> {
    return this.assignments.apply(account, proved);
  }

  /** Whether an account may be created. @throws SignUpClosed, IdentityRefused */
  async check({ provider: { label }, identity }: ProvedIdentity): Promise<string> {
    const email = verifiedEmail(identity);
    if (email !== undefined && (await this.accounts.taken(email))) throw new IdentityRefused(takenText(label));
    return this.checks.verifiedAddress(email, label);
  }

  /**
   * Creates the account, without a password.
   * @returns its ID
   * @throws InvalidAccount, InvitationRefused, IdentityTaken, and as `check`
   */
  async open(proved: ProvedIdentity, owner: NewOwner): Promise<string> {
    const email = await this.check(proved);
    const name = this.checks.name(owner.name);
    const invitationId = await this.checks.invitationIn(owner.invitation);
    const opened = await this.accounts.within(async (manager) => {
      const verified = { email, name, passwordHash: null, invitationId };
      const id = await this.opening.openFor(verified, manager).catch((error: unknown): never => {
        throw error instanceof LinkRefused ? new IdentityRefused(takenText(proved.provider.label)) : error;
      });
      await this.identities.link(id, proved.identity, manager);
      return id;
    });
    await this.assign({ id: opened, email }, proved);
    return opened;
  }
}

const takenText = (label: string): string =>
  `An account with your email address exists. Sign in to it another way, then link ${label} under Account.`;

const verifiedEmail = ({ email, emailVerified }: ProviderIdentity): string | undefined =>
  emailVerified && email !== undefined ? normalizeEmail(email) : undefined;
