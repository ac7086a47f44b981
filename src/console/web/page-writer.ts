import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Config } from '../../platform/config/index.js';
import type { KnownVisit } from './current-visit.js';
import { Frames } from './frames.js';
import type { Page, Redirect } from './page.js';
import { ViewEngine } from './rendering/view-engine.js';
import { securityHeaders } from './security-headers.js';
import { VisitCookies } from './visit-cookies.js';

/** Turns pages and redirects into answers, with everything that a browser must be told beside them. */
@Injectable()
export class PageWriter {
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    config: Config,
    private readonly views: ViewEngine,
    private readonly frames: Frames,
    private readonly cookies: VisitCookies,
  ) {
    this.headers = securityHeaders(config);
  }

  /** The page's HTML; its status and headers are put on the reply. */
  async page(page: Page, known: KnownVisit, reply: FastifyReply): Promise<string> {
    const { status, html } = this.views.render(page, await this.frames.around(known));
    if (known.flash !== undefined) this.cookies.clearFlash(reply);
    // What one person is shown must not be found by the next one at the same browser. Nor must what forms of whoever
    // is not signed in carry: an address, a token out of a mail.
    const isPersonal = known.visit.visitor !== undefined || page.options.layout === 'auth';
    const caching = isPersonal ? 'no-store' : 'private, no-cache';
    void reply
      .status(status)
      .headers({ ...this.headers, 'cache-control': caching })
      .type('text/html; charset=utf-8');
    return html;
  }

  /** The answer's body, for whoever does not follow; status, address and message are put on the reply. */
  redirect({ to, flash }: Redirect, reply: FastifyReply): string {
    if (flash !== undefined) this.cookies.setFlash(reply, flash);
    void reply
      .status(303)
      .headers({ ...this.headers, 'cache-control': 'no-store', location: to })
      .type('text/plain; charset=utf-8');
    return `${to}\n`;
  }
}
