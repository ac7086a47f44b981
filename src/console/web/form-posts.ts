import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Config } from '../../platform/config/index.js';
import { AppError, readSmallBody } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';
import { Signatures } from './signatures.js';

/** Exceeds the largest form, a channel with hundreds of models. */
const MAX_BYTES = 256 * 1024;

/** Parses forms before guards run, because these check the form token. `/v1` reads its own bodies. @param withinMs time limit */
export function readFormBodies(server: FastifyInstance, withinMs: number): void {
  server.addContentTypeParser(
    'application/x-www-form-urlencoded',
    async (_request: unknown, payload: IncomingMessage) => {
      const body = await readSmallBody(payload, { what: 'form', maxBytes: MAX_BYTES, withinMs });
      return fieldsOf(body.toString('utf8'));
    },
  );
}

function fieldsOf(text: string): FormBody {
  const fields = new Map<string, string[]>();
  // The database rejects NUL.
  for (const [name, value] of new URLSearchParams(text.replaceAll('%00', ''))) {
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

/** Names the organization of the scope that a form was opened in; missing in forms of the user's own account. */
export const SCOPE_FIELD = '_scope';

/** The form did not come from one of our pages shown to this browser. */
export class ForeignForm extends AppError {
  constructor() {
    super('permission_denied', 'This page has expired. Reload it and try again.');
  }
}

/**
 * The form token as a page contains it: different each time, so that the sizes of compressed pages reveal nothing about
 * it.
 */
export function maskedToken(token: string): string {
  const mask = randomBytes(token.length);
  return Buffer.concat([mask, combined(mask, Buffer.from(token))]).toString('base64url');
}

/** Empty if it is not a masked token. */
function unmaskedToken(masked: string): string {
  const bytes = Buffer.from(masked, 'base64url');
  const half = bytes.length / 2;
  // Decoding ignores characters and bits that do not belong to a byte.
  if (bytes.toString('base64url') !== masked || !Number.isInteger(half)) return '';
  return combined(bytes.subarray(0, half), bytes.subarray(half)).toString('latin1');
}

const combined = (one: Buffer, other: Buffer): Buffer =>
  Buffer.from(one.map((byte, index) => byte ^ (other[index] ?? 0)));

/** CSRF protection: checks the form token and the `Origin` and `Sec-Fetch-Site` headers. */
@Injectable()
export class FormOrigin {
  private readonly origin: string | undefined;

  constructor(
    config: Config,
    private readonly signatures: Signatures,
  ) {
    this.origin = config.publicUrl === undefined ? undefined : new URL(config.publicUrl).origin;
  }

  /** The CSRF token for forms of the browser with this visit token; pages contain it masked. */
  tokenFor(visitToken: string): string {
    return this.signatures.of('csrf', visitToken);
  }

  /** @param expected the token, not masked. @throws ForeignForm */
  check(headers: IncomingHttpHeaders, body: FormBody, expected: string): void {
    const { _csrf: token } = body;
    const site = headers['sec-fetch-site'];
    const ours =
      typeof token === 'string' &&
      this.signatures.same(unmaskedToken(token), expected) &&
      (site === undefined || site === 'same-origin' || site === 'none') &&
      this.isOurs(headers.origin, headers.host);
    if (!ours) throw new ForeignForm();
  }

  /** Accepts PUBLIC_URL, which a proxy may hide, or the requested host. */
  private isOurs(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || origin === this.origin) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }
}

/** Value of `{{> once}}`. */
const NONCE = /^[\w-]{22}$/;

interface OnceResult<T> {
  /** Where the result is shown. */
  readonly location: string;
  /** Undefined if the form was already submitted. */
  readonly made: T | undefined;
}

/** The form was submitted again while the first submission was running, or after it failed midway. */
export class DuplicateSubmission extends AppError {
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

/** Runs the work of a form once, even if it is submitted again by double clicks, reloads or retries. */
@Injectable()
export class IdempotentForms {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * @param work if it throws or returns undefined, the form can be submitted again
   * @param locate URL of the result
   * @returns undefined if the work returned undefined
   * @throws DuplicateSubmission, and errors of the work
   */
  async run<T>(
    accountId: string,
    { _once: nonce }: FormBody,
    work: () => Promise<T | undefined>,
    locate: (made: T) => string,
  ): Promise<OnceResult<T> | undefined> {
    if (typeof nonce !== 'string' || !NONCE.test(nonce)) throw new DuplicateSubmission();
    const [claimed] = await this.dataSource.query<unknown[]>(CLAIM, [accountId, nonce]);
    if (claimed === undefined) return { location: await this.locationOf(accountId, nonce), made: undefined };
    const made = await this.attempt(accountId, nonce, work);
    if (made === undefined) return undefined;
    const location = locate(made);
    await this.dataSource.query(FINISH, [accountId, nonce, location]);
    await this.dataSource.query(CLEAN);
    return { location, made };
  }

  /** URL of the first submission's result. @throws DuplicateSubmission */
  private async locationOf(accountId: string, nonce: string): Promise<string> {
    const [post] = await this.dataSource.query<{ location: string | null }[]>(FIND, [accountId, nonce]);
    const location = post?.location ?? undefined;
    if (location === undefined) throw new DuplicateSubmission();
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

@Entity('form_posts')
export class FormPostEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @PrimaryColumn('text')
  readonly nonce: string;

  /** Null while the work is running. */
  @Column('text', { nullable: true })
  readonly location: string | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
