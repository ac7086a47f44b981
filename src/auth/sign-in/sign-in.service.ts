import { Injectable } from '@nestjs/common';
import { AppError, networkOf, type Secret } from '../../platform/shared/index.js';
import type { Visitor } from '../visit.js';
import { accountOf, AccountRepository } from '../account.repository.js';
import type { Account } from '../account.js';
import { normalizeEmail } from '../email-address.js';
import { Passwords } from '../passwords.js';
import { SecurityLog } from '../security-log.js';
import { Throttle } from '../throttle/throttle.js';

/** Longer than any address; bounds what is counted. */
const MAX_TYPED = 320;

interface Credentials {
  readonly email: string;
  readonly password: Secret;
  /** Client address. */
  readonly ip: string;
}

/** Does not say which of the two is wrong. */
export class SignInRefused extends AppError {
  constructor() {
    super('invalid_request', 'Wrong email or password.', {
      param: 'password',
    });
  }
}

/** Only revealed to those who know the password. */
export class AccountSuspended extends AppError {
  constructor() {
    super('invalid_request', 'This account is suspended. Contact an administrator.', { param: 'email' });
  }
}

export class WrongPassword extends AppError {
  constructor() {
    super('invalid_request', 'Enter your current password.', { param: 'currentPassword' });
  }
}

/** Verifies email and password. All failures look the same and take equally long. */
@Injectable()
export class SignIn {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly passwords: Passwords,
    private readonly throttle: Throttle,
    private readonly log: SecurityLog,
  ) {}

  /** @throws SignInRefused, AccountSuspended, TooManyTries */
  async check({ email: typed, password, ip }: Credentials): Promise<Account> {
    const email = normalizeEmail(typed);
    const [network, address] = [networkOf(ip), email ?? typed.trim().toLowerCase().slice(0, MAX_TYPED)];
    await this.throttle.spend('password-from-network', network);
    await this.throttle.spend('password-of-account', address);
    const row = email === undefined ? null : await this.accounts.withPassword({ email });
    const matches = await this.passwords.matches(password, row?.passwordHash);
    if (!row || !matches) {
      this.log.refused('password', row?.id, ip);
      throw new SignInRefused();
    }
    await this.throttle.forget('password-of-account', address);
    await this.throttle.giveBack('password-from-network', network);
    if (row.state !== 'enabled') {
      this.log.refused('suspended', row.id, ip);
      throw new AccountSuspended();
    }
    return accountOf(row);
  }

  /**
   * Verifies the password of a signed-in user again, with the same limits.
   * @throws WrongPassword, TooManyTries
   */
  async confirm(visitor: Visitor, password: Secret): Promise<Account> {
    const { accountId } = visitor;
    await this.throttle.spend('password-of-session', accountId);
    const row = await this.accounts.withPassword({ id: accountId });
    if (!row || !(await this.passwords.matches(password, row.passwordHash))) {
      this.log.notConfirmed('password', visitor);
      throw new WrongPassword();
    }
    await this.throttle.forget('password-of-session', accountId);
    return accountOf(row);
  }
}
