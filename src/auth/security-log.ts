import { Injectable, Logger } from '@nestjs/common';
import type { Visitor } from './visit.js';

/** Why access was refused. */
type Refusal = 'password' | 'code' | 'suspended' | 'operators only' | 'foreign form';

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
  refused(why: Refusal, account: string | undefined, ip: string): void {
    this.logger.warn({ account, ip, why }, WORDS[why]);
  }

  /** A signed-in user failed to confirm their password or second factor. */
  notConfirmed(why: 'password' | 'code', { accountId: account, ip }: Pick<Visitor, 'accountId' | 'ip'>): void {
    this.logger.warn({ account, ip, why }, `Confirmation failed: wrong ${why}.`);
  }
}

const WORDS: Readonly<Record<Refusal, string>> = {
  password: 'Sign-in failed: wrong email or password.',
  code: 'Sign-in failed: correct password, wrong two-factor code.',
  suspended: 'Sign-in failed: account suspended.',
  'operators only': 'Access denied: administrator role required.',
  'foreign form': 'Form rejected: foreign origin or missing CSRF token.',
};
