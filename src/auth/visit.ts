import { Injectable, Logger } from '@nestjs/common';
import type { OrganizationScope } from './scope.js';

/** The signed-in user, as pages know them. */
export interface Visitor {
  /** The user's own account. */
  readonly accountId: string;
  /** The account whose wallet, keys and calls pages show: that of the organization they work in, or their own. */
  readonly scopeId: string;
  /** The organization that they work in; undefined: their own account. */
  readonly organization: OrganizationScope | undefined;
  /** The organizations that they can work in, by name. */
  readonly organizations: readonly OrganizationScope[];
  readonly email: string;
  readonly name: string;
  readonly isAdministrator: boolean;
  /** Whether the email address is verified; without it only verification is possible. */
  readonly verified: boolean;
  /** The default group of the calls of their scope; undefined: `default`. */
  readonly groupName: string | undefined;
  /** IANA name; pages show all times in it. */
  readonly timeZone: string;
  /** ID of the session, which is not its secret. */
  readonly sessionId: string;
  /** Client address of this request. */
  readonly ip: string;
  /** When the user last signed in or entered their password in this session. */
  readonly confirmedAt: Date;
  /** False: the user signs in with a provider only. */
  readonly hasPassword: boolean;
  /** Whether they confirm a recent sign-in at their provider, not with a password. */
  readonly confirmsAtProvider: boolean;
  /** The password was set by someone else and must be changed first. */
  readonly passwordIsTemporary: boolean;
  /** Whether they must have a second factor. */
  readonly secondFactorNeeded: boolean;
  /** They must have a second factor but do not: only its setup is possible. */
  readonly secondFactorMissing: boolean;
}

/** A browser request: the user, and what every page needs. */
export interface Visit {
  /** Undefined if not signed in. */
  readonly visitor: Visitor | undefined;
  /** Form token against cross-site requests. */
  readonly csrf: string;
  /** Undefined: the system's theme. */
  readonly theme: 'light' | 'dark' | undefined;
  readonly ip: string;
  readonly userAgent: string;
  /** Of the requested address, with its port if it has one. */
  readonly host: string;
  readonly requestId: string;
  /** Path and query of the request. */
  readonly url: string;
}

/** Why access was refused. */
export type RefusalReason =
  | 'password'
  | 'code'
  | 'passkey'
  | 'suspended'
  | 'operators only'
  | 'organization role'
  | 'foreign form'
  | 'form of other scope';

/**
 * Logs sign-ins, refusals and sign-outs. Accounts appear by ID; email addresses and input are never logged. Anonymous
 * attempts are rate-limited before they are logged.
 */
@Injectable()
export class SecurityLog {
  private readonly logger = new Logger('Security');

  signedIn(account: string, ip: string): void {
    this.logger.log({ account, ip }, 'User signed in.');
  }

  /** @param account undefined: no such account */
  refused(why: RefusalReason, account: string | undefined, ip: string): void {
    this.logger.warn({ account, ip, why }, MESSAGES[why]);
  }

  /** An account was closed by its owner. */
  closed({ accountId: account, ip }: Pick<Visitor, 'accountId' | 'ip'>): void {
    this.logger.log({ account, ip }, 'Account closed by its owner.');
  }

  /** A signed-in user failed to confirm their password or second factor. */
  notConfirmed(why: 'password' | 'code', { accountId: account, ip }: Pick<Visitor, 'accountId' | 'ip'>): void {
    this.logger.warn({ account, ip, why }, `Confirmation failed: wrong ${why}.`);
  }
}

const MESSAGES: Readonly<Record<RefusalReason, string>> = {
  password: 'Sign-in failed: wrong email or password.',
  code: 'Sign-in failed: correct password, wrong two-factor code.',
  passkey: 'Sign-in failed: passkey not accepted.',
  suspended: 'Sign-in failed: account suspended.',
  'operators only': 'Access denied: administrator role required.',
  'organization role': 'Access denied: not allowed by the role in the organization.',
  'form of other scope': 'Form rejected: the scope was switched since it was opened.',
  'foreign form': 'Form rejected: foreign origin or missing CSRF token.',
};
