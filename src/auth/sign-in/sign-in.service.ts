import { Injectable } from '@nestjs/common';
import { AppError, networkOf, type Secret } from '../../platform/shared/index.js';
import type { Visitor } from '../visit.js';
import { accountOf, AccountRepository } from '../account.repository.js';
import type { Account } from '../account.js';
import { normalizeEmail } from '../email-address.js';
import { Passwords } from '../passwords.js';
import { SecurityLog } from '../security-log.js';
import { Throttle } from '../throttle/throttle.js';

/** Longer than any address; what is counted must not depend on what else a stranger sends. */
const MAX_TYPED = 320;

interface Credentials {
  readonly email: string;
  readonly password: Secret;
  /** From where they were sent. */
  readonly ip: string;
}

/** Which of both is wrong is not told. */
export class SignInRefused extends AppError {
  constructor() {
    super('invalid_request', 'Wrong email or password.', {
      param: 'password',
    });
  }
}

/** Told to nobody but whoever knows the password. */
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

/** Finds out whether somebody is who they say. Whatever is wrong, it looks the same and takes as long. */
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
   * Has somebody who is signed in say their password again, with the same limits.
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
