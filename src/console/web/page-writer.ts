import { Injectable } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { Config } from '../../platform/config/index.js';
import type { KnownVisit } from './current-visit.js';
import { Frames } from './frames.js';
import type { Page, Redirect } from './page.js';
import { ViewEngine } from './rendering/view-engine.js';
import { securityHeaders } from './security-headers.js';
import { VisitCookies } from './visit-cookies.js';

/** Renders pages and redirects, and sets their headers. */
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

  /** Returns the HTML; sets status and headers on the reply. */
  async page(page: Page, known: KnownVisit, reply: FastifyReply): Promise<string> {
    const { status, html } = this.views.render(page, await this.frames.around(known));
    if (known.flash !== undefined) this.cookies.clearFlash(reply);
    // Personal pages must not be cached for the next user of the browser, nor forms that contain an email address or a
    // token from a mail.
    const isPersonal = known.visit.visitor !== undefined || page.options.layout === 'auth';
    const caching = isPersonal ? 'no-store' : 'private, no-cache';
    void reply
      .status(status)
      .headers({ ...this.headers, 'cache-control': caching })
      .type('text/html; charset=utf-8');
    return html;
  }

  /** Returns the body for clients that do not follow redirects; sets status, location and flash on the reply. */
  redirect({ to, flash }: Redirect, reply: FastifyReply): string {
    if (flash !== undefined) this.cookies.setFlash(reply, flash);
    void reply
      .status(303)
      .headers({ ...this.headers, 'cache-control': 'no-store', location: to })
      .type('text/plain; charset=utf-8');
    return `${to}\n`;
  }
}
