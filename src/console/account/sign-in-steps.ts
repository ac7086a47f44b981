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
} from '../../auth/index.js';
import { Clock } from '../../platform/shared/index.js';
import { BrowserSignIn } from '../access/index.js';
import { FormOrigin, VisitCookies } from '../web/index.js';

export const PENDING_MINUTES = 10;

/** A sign-in with a correct password, or with a provider, that waits for its code. */
export interface PendingSignIn {
  readonly accountId: string;
  /** Whether the browser stays signed in when closed. */
  readonly kept: boolean;
  readonly next: string;
  /** Of the sign-in with a provider. */
  readonly providerSessionId?: string | null;
}

const INSERT = `
  INSERT INTO pending_sign_ins (visit_hash, account_id, kept, next, expires_at, provider_session_id)
  VALUES ($1, $2, $3, $4, $5, $6)`;
const FIND = `
  SELECT account_id AS "accountId", kept, next, provider_session_id AS "providerSessionId"
    FROM pending_sign_ins WHERE visit_hash = $1 AND expires_at > $2`;

/** Sign-ins between password, or provider, and code. They grant nothing, and belong to the browser that started them. */
@Injectable()
export class PendingSignIns {
  constructor(
    private readonly dataSource: DataSource,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
    private readonly clock: Clock,
  ) {}

  /** Assigns a new token, so that a planted token cannot continue the sign-in. */
  async begin({ accountId, kept, next, providerSessionId }: PendingSignIn, reply: FastifyReply): Promise<void> {
    const token = this.cookies.newToken();
    const now = this.clock.now();
    await this.dataSource.query('DELETE FROM pending_sign_ins WHERE expires_at <= $1', [new Date(now)]);
    const expiresAt = new Date(now + PENDING_MINUTES * 60_000);
    const values = [accountId, kept, next, expiresAt, providerSessionId ?? null];
    await this.dataSource.query(INSERT, [hashOf(this.forms.tokenFor(token)), ...values]);
    this.cookies.setToken(reply, token);
  }

  /** Of this browser; undefined: none, or expired. */
  async of({ csrf }: Visit): Promise<PendingSignIn | undefined> {
    const [pending] = await this.dataSource.query<PendingSignIn[]>(FIND, [hashOf(csrf), this.clock.date()]);
    return pending;
  }

  /** Completes or cancels it. False if it was ended meanwhile, for example by a password change. */
  async end({ csrf }: Visit): Promise<boolean> {
    const sql = 'DELETE FROM pending_sign_ins WHERE visit_hash = $1';
    const [, count] = await this.dataSource.query<[unknown[], number]>(sql, [hashOf(csrf)]);
    return count === 1;
  }
}

export const SIGN_IN_TIMED_OUT = {
  tone: 'warn',
  title: 'Sign-in timed out',
  text: `You have ${PENDING_MINUTES} minutes for the second factor after your password.`,
} as const;

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');

const CODE_PAGE = '/sign-in/code';

/** The step after a correct password, or a sign-in with a provider: a session, or the request for a code. */
@Injectable()
export class SignInSteps {
  constructor(
    private readonly factors: SecondFactors,
    private readonly check: SecondFactorCheck,
    private readonly pending: PendingSignIns,
    private readonly browser: BrowserSignIn,
    private readonly log: SecurityLog,
  ) {}

  /** @returns where to redirect; an earlier session of the browser ends */
  async afterFirstFactor(signIn: PendingSignIn, visit: Visit, reply: FastifyReply): Promise<string> {
    if ((await this.factors.of(signIn.accountId)) === undefined) {
      await this.begin(signIn, visit, reply);
      return signIn.next;
    }
    await this.browser.end(visit);
    await this.pending.begin(signIn, reply);
    return CODE_PAGE;
  }

  /**
   * Completes the sign-in if the code is correct.
   * @returns undefined if it was ended meanwhile, for example by a password change
   * @throws CodeNotAccepted, CodesUnreadable, TooManyAttempts
   */
  async afterCode(
    signIn: PendingSignIn,
    code: string,
    visit: Visit,
    reply: FastifyReply,
  ): Promise<AcceptedCode | undefined> {
    const accepted = await this.accept(signIn, code, visit);
    return (await this.complete(signIn, visit, reply)) ? accepted : undefined;
  }

  /**
   * Completes a sign-in whose second factor was verified.
   * @returns false if it was ended meanwhile, for example by a password change
   */
  async complete(signIn: PendingSignIn, visit: Visit, reply: FastifyReply): Promise<boolean> {
    if (!(await this.pending.end(visit))) return false;
    await this.begin(signIn, visit, reply);
    return true;
  }

  /** Signs in after all factors were verified. */
  async begin({ accountId, kept, providerSessionId }: PendingSignIn, visit: Visit, reply: FastifyReply): Promise<void> {
    await this.browser.begin(accountId, kept, visit, reply, providerSessionId ?? undefined);
    this.log.signedIn(accountId, visit.ip);
  }

  private async accept({ accountId }: PendingSignIn, code: string, { ip }: Visit): Promise<AcceptedCode> {
    try {
      return await this.check.signIn(accountId, code, ip);
    } catch (error) {
      if (error instanceof CodeNotAccepted) this.log.refused('code', accountId, ip);
      throw error;
    }
  }
}
