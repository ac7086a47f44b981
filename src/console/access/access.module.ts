import { Injectable, Module } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { AuthModule, SessionNotFound, SessionService, type Visit } from '../../auth/index.js';
import { VisitCookies, WebModule } from '../web/index.js';

/** Signs a browser in and out. */
@Injectable()
export class BrowserSignIn {
  constructor(
    private readonly sessions: SessionService,
    private readonly cookies: VisitCookies,
  ) {}

  /** Starts a session under a new token; an earlier session of the browser ends. */
  async begin(accountId: string, kept: boolean, visit: Visit, reply: FastifyReply): Promise<void> {
    const token = this.cookies.newToken();
    const maxAgeSeconds = await this.sessions.start(accountId, token, kept, visit);
    await this.end(visit);
    this.cookies.setToken(reply, token, maxAgeSeconds);
  }

  /** Ends the session, if it still exists; with a reply, the cookie is removed as well. */
  async end({ visitor }: Visit, reply?: FastifyReply): Promise<void> {
    if (visitor !== undefined) await this.sessions.end(visitor.accountId, visitor.sessionId).catch(unlessGone);
    if (reply !== undefined) this.cookies.clearToken(reply);
  }
}

function unlessGone(error: unknown): void {
  if (!(error instanceof SessionNotFound)) throw error;
}

/** Imported by every module with pages. */
@Module({
  imports: [AuthModule, WebModule],
  providers: [BrowserSignIn],
  exports: [AuthModule, WebModule, BrowserSignIn],
})
export class AccessModule {}
