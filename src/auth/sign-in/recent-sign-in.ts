import { Injectable } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { AppError, Clock, Secret } from '../../platform/shared/index.js';
import type { Visitor } from '../visit.js';
import { SessionService } from '../sessions/session.service.js';
import { TooManyTries } from '../throttle/throttle.js';
import { SignIn, WrongPassword } from './sign-in.service.js';

const RECENT_MS = 15 * 60_000;

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
 * Requires that a password was entered in this session within the last 15 minutes before credentials, money, prices,
 * roles, states or other users' keys are changed, so that an unattended browser can do little.
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
    if (password === '') throw new NotConfirmed('Enter your password: you signed in more than 15 minutes ago.');
    await this.signIn.confirm(visitor, new Secret(password)).catch(asFieldError);
    await this.sessions.confirm(visitor.sessionId);
    this.confirmed.add(visitor);
  }
}

function asFieldError(error: unknown): never {
  if (error instanceof WrongPassword) throw new NotConfirmed(error.message);
  if (error instanceof TooManyTries) throw new NotConfirmed(error.message, error.retryAfterSeconds);
  throw error;
}
