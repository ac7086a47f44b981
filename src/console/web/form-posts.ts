import { Injectable } from '@nestjs/common';
import type { FastifyInstance } from 'fastify';
import { Column, DataSource, Entity, PrimaryColumn } from 'typeorm';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { Config } from '../../platform/config/index.js';
import { AppError, readSmallBody } from '../../platform/shared/index.js';
import type { FormBody } from './form.js';
import { Signatures } from './signatures.js';

/** Far more than any form of ours has, also that of a channel with hundreds of models. */
const MAX_BYTES = 256 * 1024;

/**
 * Has the bodies of forms read before guards run: these want to see the token in it. `/v1` reads its own bodies.
 * @param withinMs a form that takes longer is refused
 */
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
  // A NUL is nothing that anybody types, and the database takes none.
  for (const [name, value] of new URLSearchParams(text.replaceAll('%00', ''))) {
    const known = fields.get(name);
    if (known) known.push(value);
    else fields.set(name, [value]);
  }
  return Object.fromEntries(
    [...fields].map(([name, values]) => [name, values.length === 1 ? (values[0] ?? '') : values]),
  );
}

/** The form did not come from one of our pages shown to this browser. */
export class ForeignForm extends AppError {
  constructor() {
    super('permission_denied', 'This page has expired. Reload it and try again.');
  }
}

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

  /** The CSRF token for forms of the browser with this visit token. */
  tokenFor(visitToken: string): string {
    return this.signatures.of('csrf', visitToken);
  }

  /** @throws ForeignForm */
  check(headers: IncomingHttpHeaders, body: FormBody, expected: string): void {
    const { _csrf: token } = body;
    const site = headers['sec-fetch-site'];
    const ours =
      typeof token === 'string' &&
      this.signatures.same(token, expected) &&
      (site === undefined || site === 'same-origin' || site === 'none') &&
      this.isOurs(headers.origin, headers.host);
    if (!ours) throw new ForeignForm();
  }

  /** Behind a proxy only PUBLIC_URL knows the address; without one people may reach us under any. */
  private isOurs(origin: string | undefined, host: string | undefined): boolean {
    if (origin === undefined || origin === this.origin) return true;
    return URL.canParse(origin) && new URL(origin).host === host;
  }
}

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

@Entity('form_posts')
export class FormPostEntity {
  @PrimaryColumn('text', { name: 'account_id' })
  readonly accountId: string;

  @PrimaryColumn('text')
  readonly nonce: string;

  /** Null while what it asks for is being done. */
  @Column('text', { nullable: true })
  readonly location: string | null;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;
}
