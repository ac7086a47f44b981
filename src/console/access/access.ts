import {
  applyDecorators,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Observable, of } from 'rxjs';
import {
  ConfirmedForm,
  RecentSignIn,
  SecurityLog,
  SessionService,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { actingAs } from '../../platform/audit/index.js';
import { addressOf, AppError } from '../../platform/shared/index.js';
import {
  Detour,
  ForeignForm,
  Form,
  type FormBody,
  FormOrigin,
  localPath,
  Page,
  PageInterceptor,
  rememberVisit,
  VisitCookies,
  visitIn,
} from '../web/index.js';

const open = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), UseGuards(VisitGuard), UseInterceptors(PageInterceptor));

/** A page that anybody may visit. */
export const Public = (): MethodDecorator & ClassDecorator => open('public');
/** A page for whoever has signed in, with a password that somebody else has seen too. */
export const TemporaryPassword = (): MethodDecorator & ClassDecorator => open('temporary-password');
/** A page for whoever has signed in, before their address is verified too. */
export const Unverified = (): MethodDecorator & ClassDecorator => open('unverified');
/** A page for whoever has shown that the address is theirs, before they have the second factor that they need too. */
export const SecondFactorSetUp = (): MethodDecorator & ClassDecorator => open('second-factor');
/** A page for whoever has signed in and shown that the address is theirs. */
export const SignedIn = (): MethodDecorator & ClassDecorator => open('signed-in');
/** A page for operators; to everybody else it does not exist. What it changes is recorded in its visitor's name. */
export const Operator = (): MethodDecorator & ClassDecorator =>
  applyDecorators(open('operator'), UseInterceptors(ActingInterceptor));

/**
 * Who may visit a page: anybody; whoever is signed in, though they still have to choose a password of their own; whoever
 * is signed in, though their address is not verified; whoever is signed in and verified, though they still have to set up
 * a second factor; the same without that; operators.
 */
export type Access = 'public' | 'temporary-password' | 'unverified' | 'second-factor' | 'signed-in' | 'operator';

/** Where a handler or its class says who may visit it. */
export const ACCESS = 'switchboard:access';

/** What a handler of the operators' pages changes is changed in the name of whoever visits. */
@Injectable()
class ActingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { visitor, ip } = visitIn(context.switchToHttp().getRequest<FastifyRequest>());
    if (visitor === undefined) throw new Error('Administrators must be signed in.');
    const actor = { kind: 'account', accountId: visitor.accountId, name: visitor.email, ip } as const;
    return new Observable((subscriber) => actingAs(actor, () => next.handle().subscribe(subscriber)));
  }
}

/** Where whoever has a temporary password is sent from everywhere else. */
const OWN_PASSWORD_PAGE = '/choose-password';
/** The same of whoever needs a second factor and has none. */
const SECOND_FACTOR_PAGE = '/account/second-factor';

/**
 * Finds out who visits, lets them in or sends them where they can get in, and takes forms only from pages of ours that
 * this browser was shown. Stands before every page.
 */
@Injectable()
class VisitGuard implements CanActivate {
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

/** Where a handler states that it requires a recent sign-in. */
export const RECENT_SIGN_IN = 'recent-sign-in';

/** Whether a submitted form changes nothing, such as one that adds a row or asks for a preview. */
type IsDraft = (body: FormBody) => boolean;

/** The page's own field for the page that the form was on. */
const BACK = '_back';

/**
 * Asks for the password on a page of its own before a form takes effect, if the sign-in is not recent. The page carries
 * the submitted fields, so that nothing is typed twice: not for forms with secrets.
 */
@Injectable()
class RecentSignInInterceptor implements NestInterceptor {
  constructor(
    private readonly recent: RecentSignIn,
    private readonly reflector: Reflector,
  ) {}

  async intercept(context: ExecutionContext, next: CallHandler<unknown>): Promise<Observable<unknown>> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { visitor } = visitIn(request);
    if (visitor === undefined) throw new Error('A recent sign-in can only be required of signed-in users.');
    const isDraft = this.reflector.get<IsDraft>(RECENT_SIGN_IN, context.getHandler());
    const { password, ...fields } = (request.body ?? {}) as FormBody;
    if (isDraft(fields)) return next.handle();
    if (this.recent.needed(visitor)) {
      const form = await this.confirmed(() => this.recent.confirm(visitor, textIn(password)), password);
      if (form !== undefined) return of(confirmPage(request, fields, form));
    }
    request.body = fields;
    return next.handle();
  }

  /** Undefined when the password is right; otherwise the form to ask with. */
  private async confirmed(
    confirm: () => Promise<void>,
    password: FormBody[string] | undefined,
  ): Promise<Form<ConfirmedForm> | undefined> {
    if (password === undefined) return Form.empty();
    const form = Form.read(ConfirmedForm, { password });
    const isConfirmed = await form.attempt(async () => {
      await confirm();
      return true;
    });
    return isConfirmed === true ? undefined : form;
  }
}

/** For handlers of forms that may only take effect after a recent sign-in. */
export const RequiresRecentSignIn = (isDraft: IsDraft = () => false): MethodDecorator =>
  applyDecorators(SetMetadata(RECENT_SIGN_IN, isDraft), UseInterceptors(RecentSignInInterceptor));

function confirmPage({ url, headers }: FastifyRequest, fields: FormBody, form: Form<ConfirmedForm>): Page {
  const { _csrf, [BACK]: back = pathIn(headers.referer), ...typed } = fields;
  const hidden = Object.entries({ ...typed, [BACK]: localPath(textIn(back), '/') });
  return new Page('auth/confirm-password', {
    title: 'Confirm your password',
    width: 'narrow',
    data: {
      form,
      action: url,
      back: localPath(textIn(back), '/'),
      fields: hidden.flatMap(([name, values]) => [values].flat().map((value) => ({ name, value }))),
    },
  });
}

const textIn = (value: FormBody[string] = ''): string => (typeof value === 'string' ? value : (value[0] ?? ''));

/** The path of an address, without its host. */
function pathIn(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return '/';
  const { pathname, search } = new URL(address);
  return `${pathname}${search}`;
}
