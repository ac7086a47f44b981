import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import {
  type AcceptedCode,
  CodeNotAccepted,
  SecondFactorCheck,
  SecondFactors,
  SecurityLog,
  type Visit,
} from '../../../auth/index.js';
import { BrowserSignIn } from '../../access/index.js';
import { type PendingSignIn, PendingSignIns } from './pending-sign-ins.js';

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
