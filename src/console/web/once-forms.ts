import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { AppError } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';

/** What `{{> once}}` puts into a form. */
const NONCE = /^[\w-]{22}$/;

/** What sending a form led to. */
export interface OnceResult<T> {
  /** Where the result is shown. */
  readonly location: string;
  /** Undefined if the form was already submitted. */
  readonly made: T | undefined;
}

/** The form was submitted again while the first submission was running, or after it failed midway. */
export class AlreadySent extends AppError {
  constructor() {
    super('conflict', 'This form was already submitted. Check the result before you submit it again.');
  }
}

const CLAIM = `
  INSERT INTO form_posts (account_id, nonce) VALUES ($1, $2)
  ON CONFLICT ON CONSTRAINT form_post_key DO NOTHING RETURNING nonce`;
const FIND = 'SELECT location FROM form_posts WHERE account_id = $1 AND nonce = $2';
const FINISH = 'UPDATE form_posts SET location = $3 WHERE account_id = $1 AND nonce = $2';
const FORGET = 'DELETE FROM form_posts WHERE account_id = $1 AND nonce = $2';
/** Retention of submitted nonces. */
const CLEAN = `DELETE FROM form_posts WHERE created_at < now() - interval '2 days'`;

/** Has a form that makes something do it once, however often it is sent: by double clicks, reloads, lost answers. */
@Injectable()
export class OnceForms {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * Does the work unless this form was sent before.
   * @param work makes it; when it fails, or makes nothing (undefined), the same form can be sent again
   * @param locate where what was made is shown
   * @returns undefined when nothing was made
   * @throws AlreadySent, and what the work throws
   */
  async run<T>(
    accountId: string,
    { _once: nonce }: FormBody,
    work: () => Promise<T | undefined>,
    locate: (made: T) => string,
  ): Promise<OnceResult<T> | undefined> {
    if (typeof nonce !== 'string' || !NONCE.test(nonce)) throw new AlreadySent();
    const [claimed] = await this.dataSource.query<unknown[]>(CLAIM, [accountId, nonce]);
    if (claimed === undefined) return { location: await this.before(accountId, nonce), made: undefined };
    const made = await this.attempt(accountId, nonce, work);
    if (made === undefined) return undefined;
    const location = locate(made);
    await this.dataSource.query(FINISH, [accountId, nonce, location]);
    await this.dataSource.query(CLEAN);
    return { location, made };
  }

  /** Where the first sending led. @throws AlreadySent */
  private async before(accountId: string, nonce: string): Promise<string> {
    const [post] = await this.dataSource.query<{ location: string | null }[]>(FIND, [accountId, nonce]);
    const location = post?.location ?? undefined;
    if (location === undefined) throw new AlreadySent();
    return location;
  }

  private async attempt<T>(
    accountId: string,
    nonce: string,
    work: () => Promise<T | undefined>,
  ): Promise<T | undefined> {
    let made: T | undefined;
    try {
      made = await work();
      return made;
    } finally {
      if (made === undefined) await this.dataSource.query(FORGET, [accountId, nonce]);
    }
  }
}
