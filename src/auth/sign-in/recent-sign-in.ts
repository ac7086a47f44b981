import { Injectable } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { AppError, Clock, Secret } from '../../platform/shared/index.js';
import type { Visitor } from '../visit.js';
import { SessionService } from '../sessions/session.service.js';
import { TooManyTries } from '../throttle/throttle.js';
import { SignIn, WrongPassword } from './sign-in.service.js';

const RECENT_MS = 15 * 60_000;

/** What a form has beside its own fields when it asks for a recent sign-in: the partial `confirm-password` shows it. */
export class ConfirmedForm {
  /** Empty, or not there at all, where none is needed. */
  @IsOptional()
  @IsString({ message: 'Enter your password.' })
  readonly password: string = '';
}

/** The password that was asked for again is missing or wrong; nothing was done. */
class NotConfirmed extends AppError {
  constructor(message: string, retryAfterSeconds?: number) {
    super('invalid_request', message, {
      param: 'password',
      ...(retryAfterSeconds !== undefined && { retryAfterSeconds }),
    });
  }
}

/**
 * Before credentials, money, prices, roles, suspensions or keys of others are changed, a password must have been given in
 * the last 15 minutes, so that an unattended browser can do little. It counts for
 * the whole session, so that users are not asked at every step.
 */
@Injectable()
export class RecentSignIn {
  /** Those of a request that is still being answered, whose sessions were older when it came. */
  private readonly confirmed = new WeakSet<Visitor>();

  constructor(
    private readonly signIn: SignIn,
    private readonly sessions: SessionService,
    private readonly clock: Clock,
  ) {}

  /** Whether a form has to have the field for it. */
  needed(visitor: Visitor): boolean {
    return !this.confirmed.has(visitor) && this.clock.now() - visitor.confirmedAt.getTime() > RECENT_MS;
  }

  /**
   * To be called before anything is done. Where no password is needed, none is looked at.
   * @throws AppError with the parameter `password`: it is missing or wrong, or was tried too often
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
