import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { addressOf, AppError } from '../../platform/shared/index.js';
import { Detour, ForeignForm, type FormBody, FormOrigin, rememberVisit, VisitCookies } from '../web/index.js';
import { SecurityLog, SessionService, type Visit, type Visitor } from '../../auth/index.js';
import { ACCESS, type Access } from './access-level.js';

/** Where whoever has a temporary password is sent from everywhere else. */
const OWN_PASSWORD_PAGE = '/choose-password';
/** The same of whoever needs a second factor and has none. */
const SECOND_FACTOR_PAGE = '/account/second-factor';

/**
 * Finds out who visits, lets them in or sends them where they can get in, and takes forms only from pages of ours that
 * this browser was shown. Stands before every page.
 */
@Injectable()
export class VisitGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly cookies: VisitCookies,
    private readonly sessions: SessionService,
    private readonly forms: FormOrigin,
    private readonly log: SecurityLog,
  ) {}

  /** @throws Detour, AppError of the kinds not_found and permission_denied */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // Nothing has a name with a NUL, and the database does not even take one to look for it. Queries see to it themselves.
    if (request.url.split('?', 1)[0]?.includes('%00') === true) throw nothingHere();
    const access = this.reflector.getAllAndOverride<Access>(ACCESS, [context.getHandler(), context.getClass()]);
    const visit = await this.visit(request, http.getResponse<FastifyReply>());
    try {
      if (request.method === 'POST') this.forms.check(request.headers, (request.body ?? {}) as FormBody, visit.csrf);
      admit(access, visit.visitor, request);
    } catch (error) {
      this.tell(error, visit);
      throw error;
    }
    return true;
  }

  /** Only of whoever is signed in: a stranger could fill the log with it, and gains nothing by trying. */
  private tell(error: unknown, { visitor, ip }: Visit): void {
    if (visitor === undefined || error instanceof Detour) return;
    this.log.refused(error instanceof ForeignForm ? 'foreign form' : 'operators only', visitor.accountId, ip);
  }

  private async visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
    const { token, theme, flash } = this.cookies.read(request.headers.cookie);
    const from = { ip: addressOf(request), userAgent: request.headers['user-agent'] ?? '' };
    const visitor = token === undefined ? undefined : await this.sessions.find(token, from);
    const known = token ?? this.cookies.newToken();
    if (token === undefined) this.cookies.setToken(reply, known);
    const visit = {
      ...from,
      visitor,
      csrf: this.forms.tokenFor(known),
      theme,
      requestId: request.id,
      url: request.url,
    };
    rememberVisit(request, { visit, flash });
    return visit;
  }
}

/** @throws Detour, AppError */
function admit(access: Access, visitor: Visitor | undefined, { method, url }: FastifyRequest): void {
  const first = visitor && firstStep(visitor);
  if (first !== undefined && !isOpenBefore(first.access, access, method)) throw new Detour(first.page);
  if (access === 'public') return;
  // Where a form led cannot be gone back to: it would have to be sent again.
  if (visitor === undefined)
    throw new Detour(method === 'GET' ? `/sign-in?next=${encodeURIComponent(url)}` : '/sign-in');
  if (access === 'temporary-password' || access === 'unverified') return;
  if (!visitor.verified) throw new Detour('/verify');
  if (access === 'operator' && !visitor.operator) throw nothingHere();
}

const nothingHere = (): AppError => new AppError('not_found', 'There is no page at this address.');

interface FirstStep {
  readonly page: string;
  readonly access: Access;
}

/** What somebody must do before anything else; undefined: nothing. An address is verified on pages for everybody. */
function firstStep({ passwordIsTemporary, verified, secondFactorMissing }: Visitor): FirstStep | undefined {
  if (passwordIsTemporary) return { page: OWN_PASSWORD_PAGE, access: 'temporary-password' };
  return verified && secondFactorMissing ? { page: SECOND_FACTOR_PAGE, access: 'second-factor' } : undefined;
}

/** The step itself, and the forms that stand on its page: to sign out, and of the theme. */
const isOpenBefore = (step: Access, access: Access, method: string): boolean =>
  access === step || (access === 'public' && method === 'POST');
