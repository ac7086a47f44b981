import { Injectable, Logger } from '@nestjs/common';
import type { Visitor } from './visit.js';

/** Why somebody was not let in. */
type Refusal = 'password' | 'code' | 'suspended' | 'operators only' | 'foreign form';

/**
 * What the log of the program says of who got in and who did not: accounts by their ids, never an address of mail and
 * nothing that was typed. What strangers can have written without end is left out: tries are limited before they are told.
 */
@Injectable()
export class SecurityLog {
  private readonly logger = new Logger('Security');

  signedIn(account: string, ip: string): void {
    this.logger.log({ account, ip }, 'User signed in.');
  }

  /** @param account undefined: none that there is */
  refused(why: Refusal, account: string | undefined, ip: string): void {
    this.logger.warn({ account, ip, why }, WORDS[why]);
  }

  /** Somebody who is signed in could not say their password again, or a code of their second factor. */
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
