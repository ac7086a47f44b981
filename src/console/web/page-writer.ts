import { type CallHandler, type ExecutionContext, Injectable, type NestInterceptor } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { concatMap, type Observable } from 'rxjs';
import { Readable } from 'node:stream';
import { Config } from '../../platform/config/index.js';
import { compressed } from './compression.js';
import { type KnownVisit, knownVisit, VisitCookies } from './current-visit.js';
import { PageLayouts } from './page-layouts.js';
import { Page, Redirect } from './page.js';
import { ViewEngine } from './rendering/view-engine.js';

@Injectable()
export class PageWriter {
  private readonly headers: Readonly<Record<string, string>>;

  constructor(
    config: Config,
    private readonly views: ViewEngine,
    private readonly layouts: PageLayouts,
    private readonly cookies: VisitCookies,
  ) {
    this.headers = securityHeaders(config);
  }

  /** Returns the HTML; sets status and headers on the reply. */
  async page(page: Page, known: KnownVisit, reply: FastifyReply): Promise<string> {
    const { status, html } = this.views.render(page, await this.layouts.around(known));
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

  /** The body for a client that may accept encodings; sets the headers for it. */
  async encoded(html: string, page: Page, { headers }: FastifyRequest, reply: FastifyReply): Promise<string | Buffer> {
    const vary = [reply.getHeader('vary'), 'accept-encoding', 'sec-fetch-site'];
    void reply.header('vary', vary.filter((name) => name !== undefined).join(', '));
    if (!mayCompress(page, headers['sec-fetch-site'])) return html;
    const found = await compressed(html, headers['accept-encoding'] ?? '');
    if (found === undefined) return html;
    void reply.header('content-encoding', found.encoding);
    return found.body;
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

/**
 * The size of a compressed page reveals how much of it repeats. Another site could make the browser load a page with
 * text of its choice, such as a filter, watch the sizes, and guess a secret on that page piece by piece (BREACH). So
 * these are sent uncompressed: pages that show a secret, pages with a single form, whose URLs can contain a token from
 * an email, and whatever another site has the browser load. The form token, which all pages contain, is masked
 * differently in each of them (`maskedToken`), also for browsers that do not send `Sec-Fetch-Site`.
 */
const mayCompress = ({ options: { hasSecret, layout } }: Page, site: unknown): boolean =>
  hasSecret !== true && layout !== 'auth' && (site === undefined || site === 'same-origin' || site === 'none');

const POLICY = [
  "default-src 'none'",
  "style-src 'self'",
  "script-src 'self'",
  "font-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** Headers of every page: same-origin resources only, no framing. */
const securityHeaders = ({ publicUrl }: Config): Readonly<Record<string, string>> => ({
  'content-security-policy': POLICY,
  // Sends the referrer to this origin only: form checks need it.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  ...(publicUrl?.startsWith('https:') && { 'strict-transport-security': 'max-age=31536000' }),
});

/** Renders the pages and redirects that handlers return; other results are unchanged. */
@Injectable()
export class PageInterceptor implements NestInterceptor {
  constructor(private readonly writer: PageWriter) {}

  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const http = context.switchToHttp();
    const reply = http.getResponse<FastifyReply>();
    const request = http.getRequest<FastifyRequest>();
    return next.handle().pipe(
      concatMap(async (result) => {
        if (result instanceof Redirect) return this.writer.redirect(result, reply);
        if (!(result instanceof Page)) return result;
        const html = await this.writer.page(result, knownVisit(request), reply);
        return this.writer.encoded(html, result, request, reply);
      }),
    );
  }
}

/** The text of a file, in pieces. */
type Pieces = AsyncGenerator<string, void, void>;

/** Streams CSV with back-pressure; stops when the client disconnects. @param name file name without extension */
export const sendCsv = (reply: FastifyReply, name: string, lines: Pieces): void =>
  sendFile(reply, `${name}.csv`, 'text/csv; charset=utf-8', lines);

/** The same for JSON. */
export const sendJson = (reply: FastifyReply, name: string, pieces: Pieces): void =>
  sendFile(reply, `${name}.json`, 'application/json; charset=utf-8', pieces);

function sendFile(reply: FastifyReply, name: string, type: string, pieces: Pieces): void {
  void reply
    .headers({ 'cache-control': 'no-store', 'content-disposition': `attachment; filename="${name}"` })
    .type(type)
    .send(Readable.from(pieces));
}
