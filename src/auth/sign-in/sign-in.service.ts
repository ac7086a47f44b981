import { Injectable } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { AppError, Clock, networkOf, Secret } from '../../platform/shared/index.js';
import type { Account } from '../account.js';
import { accountOf, AccountRepository } from '../account.repository.js';
import { normalizeEmail } from '../email-address.js';
import { Passwords } from '../passwords.js';
import { SessionService } from '../sessions/session.service.js';
import { PasswordPolicy } from './password-policy.js';
import { Throttle, TooManyAttempts } from '../throttle/throttle.js';
import { SecurityLog, type Visitor } from '../visit.js';

/** Longer than any address; bounds what is counted. */
const MAX_TYPED = 320;

interface SignInCredentials {
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
    super('invalid_request', 'Wrong password. Enter your current password.', { param: 'currentPassword' });
  }
}

/** Accounts that a provider's sign-in created have none until their owner sets one. */
export class NoPassword extends AppError {
  constructor() {
    super('invalid_request', 'Your account has no password. Set one under Account, then enter it here.', {
      param: 'currentPassword',
    });
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
    private readonly policy: PasswordPolicy,
  ) {}

  /** @throws SignInRefused, AccountSuspended, PasswordSignInIsOff, TooManyAttempts */
  async check({ email: typed, password, ip }: SignInCredentials): Promise<Account> {
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
    await this.policy.check(row);
    return accountOf(row);
  }

  /**
   * Verifies the password of a signed-in user again, with the same limits.
   * @throws WrongPassword, TooManyAttempts
   */
  async confirm(visitor: Visitor, password: Secret): Promise<Account> {
    const { accountId } = visitor;
    await this.throttle.spend('password-of-session', accountId);
    const row = await this.accounts.withPassword({ id: accountId });
    if (!row || !(await this.passwords.matches(password, row.passwordHash))) {
      this.log.notConfirmed('password', visitor);
      throw visitor.hasPassword ? new WrongPassword() : new NoPassword();
    }
    await this.throttle.forget('password-of-session', accountId);
    return accountOf(row);
  }
}

const RECENT_MS = 15 * 60_000;

const CONFIRM_AT_PROVIDER = 'Sign in with your provider again: you signed in more than 15 minutes ago.';

/** Fields of forms that require a recent sign-in; rendered by the partial `confirm-password`. */
export class ConfirmedForm {
  /** Empty or absent where it is not required. */
  @IsOptional()
  @IsString({ message: 'Enter your password.' })
  readonly password: string = '';
}

/** The required password is missing or wrong; nothing was done. */
class NotConfirmed extends AppError {
  constructor(message: string, retryAfterSeconds?: number) {
    super('invalid_request', message, {
      param: 'password',
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

/**
 * Requires a sign-in, or a password entered, in this session within the last 15 minutes before credentials, money, prices,
 * roles, states or other users' keys are changed, so that an unattended browser can do little. Users without a password
 * sign in with their provider again.
 */
@Injectable()
export class RecentSignIn {
  /** Confirmed requests in progress, whose sessions were older when they arrived. */
  private readonly confirmed = new WeakSet<Visitor>();

  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: SessionService,
    private readonly clock: Clock,
  ) {}

  /** Whether the form must show the password field. */
  needed(visitor: Visitor): boolean {
    return !this.confirmed.has(visitor) && this.clock.now() - visitor.confirmedAt.getTime() > RECENT_MS;
  }

  /**
   * Call before any effect. Ignores the password where none is required.
   * @throws AppError with the parameter `password` when it is missing, wrong or was tried too often
   */
  async confirm(visitor: Visitor, password: string): Promise<void> {
    if (!this.needed(visitor)) return;
    if (visitor.confirmsAtProvider) throw new NotConfirmed(CONFIRM_AT_PROVIDER);
    if (password === '') throw new NotConfirmed('Enter your password: you signed in more than 15 minutes ago.');
    await this.signIn.confirm(visitor, new Secret(password)).catch(asFieldError);
    await this.sessions.confirm(visitor.sessionId);
    this.confirmed.add(visitor);
  }
}

function asFieldError(error: unknown): never {
  if (error instanceof WrongPassword) throw new NotConfirmed(error.message);
  if (error instanceof TooManyAttempts) throw new NotConfirmed(error.message, error.retryAfterSeconds);
  throw error;
}
