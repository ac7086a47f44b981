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
    this.logger.log({ account, ip }, 'Somebody signed in.');
  }

  /** @param account undefined: none that there is */
  refused(why: Refusal, account: string | undefined, ip: string): void {
    this.logger.warn({ account, ip, why }, WORDS[why]);
  }

  /** Somebody who is signed in could not say their password again, or a code of their second factor. */
  notConfirmed(why: 'password' | 'code', { accountId: account, ip }: Pick<Visitor, 'accountId' | 'ip'>): void {
    this.logger.warn({ account, ip, why }, `A ${why} that was asked for again was wrong.`);
  }
}

const WORDS: Readonly<Record<Refusal, string>> = {
  password: 'A sign-in was refused: address or password was wrong.',
  code: 'A sign-in was refused: the password was right, the code of the second factor was not.',
  suspended: 'A sign-in was refused: the account is suspended.',
  'operators only': 'A page of operators was asked for by somebody who is none.',
  'foreign form': 'A form was refused that did not come from a page of ours.',
};
