import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { hash } from 'node:crypto';
import { DataSource } from 'typeorm';
import { Clock } from '../../../platform/shared/index.js';
import { FormOrigin, VisitCookies } from '../../web/index.js';
import { type Visit } from '../../../auth/index.js';

/** How long somebody may look for their phone, as pages say it. */
export const PENDING_MINUTES = 10;

/** A sign-in whose password was right, and whose code is still to come. */
export interface PendingSignIn {
  readonly accountId: string;
  /** Whether the browser is to stay signed in when it is closed. */
  readonly kept: boolean;
  /** Where it wanted to go: a path of ours. */
  readonly next: string;
}

const INSERT = `
  INSERT INTO pending_sign_ins (visit_hash, account_id, kept, next, expires_at) VALUES ($1, $2, $3, $4, $5)`;
const FIND = `
  SELECT account_id AS "accountId", kept, next FROM pending_sign_ins WHERE visit_hash = $1 AND expires_at > $2`;

/** Sign-ins between the password and the code. They open nothing, and are known by the browser that began them. */
@Injectable()
export class PendingSignIns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
    private readonly clock: Clock,
  ) {}

  /** From here on the browser is known by another token: nobody who gave it the old one can go on in its place. */
  async begin({ accountId, kept, next }: PendingSignIn, reply: FastifyReply): Promise<void> {
    const token = this.cookies.newToken();
    const now = this.clock.now();
    await this.dataSource.query('DELETE FROM pending_sign_ins WHERE expires_at <= $1', [new Date(now)]);
    const expiresAt = new Date(now + PENDING_MINUTES * 60_000);
    await this.dataSource.query(INSERT, [hashOf(this.forms.tokenFor(token)), accountId, kept, next, expiresAt]);
    this.cookies.setToken(reply, token);
  }

  /** Of the browser that asks; undefined: it has none, or waited for too long. */
  async of({ csrf }: Visit): Promise<PendingSignIn | undefined> {
    const [pending] = await this.dataSource.query<PendingSignIn[]>(FIND, [hashOf(csrf), this.clock.date()]);
    return pending;
  }

  /** It has become a sign-in, or is given up. False when it was ended meanwhile, as by another password. */
  async end({ csrf }: Visit): Promise<boolean> {
    const sql = 'DELETE FROM pending_sign_ins WHERE visit_hash = $1';
    const [, count] = await this.dataSource.query<[unknown[], number]>(sql, [hashOf(csrf)]);
    return count === 1;
  }
}

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');
