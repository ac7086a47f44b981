import { Injectable } from '@nestjs/common';
import { verify } from '@node-rs/argon2';
import { AppError, type Secret } from '../platform/shared/index.js';
import { hashPassword } from './password.js';

/** Each takes a core for some 50 ms, of a pool of threads that looks up upstreams' names too. */
const AT_ONCE = 2;
/** Whoever comes when so many wait is told to come again: they would wait for seconds. */
const MAX_WAITING = 100;

/** The hash of a password that nobody has: checking against it takes as long as against anybody's. */
const NOBODYS = '$argon2id$v=19$m=19456,t=2,p=1$c8F1mc8yXQ6Mtol+73yglA$maljNKnaf8AwBY+kn3jHsl0jMUGMguTAPzrxhWKQzTs';

/** Hashes and checks passwords, few at a time: however many strangers try, calls go on. */
@Injectable()
export class Passwords {
  private running = 0;
  private readonly waiting: (() => void)[] = [];

  /** @throws AppError when too many wait */
  hash(password: Secret): Promise<string> {
    return this.inTurn(() => hashPassword(password));
  }

  /**
   * Whether it is the password of this hash. Without a hash the answer is no, and takes as long.
   * @throws AppError when too many wait
   */
  async matches(password: Secret, hash: string | null | undefined): Promise<boolean> {
    const same = await this.inTurn(() => verify(hash ?? NOBODYS, password.reveal()));
    return same && typeof hash === 'string';
  }

  private async inTurn<T>(work: () => Promise<T>): Promise<T> {
    if (this.waiting.length >= MAX_WAITING)
      throw new AppError('server_is_overloaded', 'Too many sign-ins at the moment. Retry shortly.', {
        retryAfterSeconds: 5,
      });
    if (this.running >= AT_ONCE) await new Promise<void>((resume) => this.waiting.push(resume));
    else this.running += 1;
    try {
      return await work();
    } finally {
      const next = this.waiting.shift();
      if (next) next();
      else this.running -= 1;
    }
  }
}
