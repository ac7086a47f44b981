import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { DataSource } from 'typeorm';
import { hash } from 'node:crypto';
import {
  type AcceptedCode,
  CodeNotAccepted,
  SecondFactorCheck,
  SecondFactors,
  SecurityLog,
  type Visit,
} from '../../../auth/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { BrowserSignIn } from '../../access/index.js';
import { FormOrigin, VisitCookies } from '../../web/index.js';

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

const CODE_PAGE = '/sign-in/code';

/** What follows a right password: a session, or first the question for a code. */
@Injectable()
export class SignInSteps {
  constructor(
    private readonly factors: SecondFactors,
    private readonly check: SecondFactorCheck,
    private readonly pending: PendingSignIns,
    private readonly browser: BrowserSignIn,
    private readonly log: SecurityLog,
  ) {}

  /** @returns where the browser goes; whoever was signed in there before is not any more */
  async afterPassword(signIn: PendingSignIn, visit: Visit, reply: FastifyReply): Promise<string> {
    if ((await this.factors.of(signIn.accountId)) === undefined) {
      await this.begin(signIn, visit, reply);
      return signIn.next;
    }
    await this.browser.end(visit);
    await this.pending.begin(signIn, reply);
    return CODE_PAGE;
  }

  /** What this browser began, and a code is still to come for; undefined: nothing, or for too long. */
  waiting(visit: Visit): Promise<PendingSignIn | undefined> {
    return this.pending.of(visit);
  }

  /**
   * Signs the browser in whose code is right.
   * @returns undefined where the sign-in was ended meanwhile, as by another password
   * @throws CodeNotAccepted, CodesUnreadable, TooManyTries
   */
  async afterCode(
    signIn: PendingSignIn,
    code: string,
    visit: Visit,
    reply: FastifyReply,
  ): Promise<AcceptedCode | undefined> {
    const accepted = await this.accept(signIn, code, visit);
    if (!(await this.pending.end(visit))) return undefined;
    await this.begin(signIn, visit, reply);
    return accepted;
  }

  private async accept({ accountId }: PendingSignIn, code: string, { ip }: Visit): Promise<AcceptedCode> {
    try {
      return await this.check.signIn(accountId, code, ip);
    } catch (error) {
      if (error instanceof CodeNotAccepted) this.log.refused('code', accountId, ip);
      throw error;
    }
  }

  private async begin({ accountId, kept }: PendingSignIn, visit: Visit, reply: FastifyReply): Promise<void> {
    await this.browser.begin(accountId, kept, visit, reply);
    this.log.signedIn(accountId, visit.ip);
  }
}
