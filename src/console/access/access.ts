import {
  applyDecorators,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  Injectable,
  Module,
  type NestInterceptor,
  SetMetadata,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Observable, of } from 'rxjs';
import {
  AccountService,
  allows,
  AuthModule,
  ConfirmedForm,
  type OrganizationScope,
  type Permission,
  RecentSignIn,
  type RefusalReason,
  SecurityLog,
  SessionNotFound,
  SessionService,
  TimeZones,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { actingAs } from '../../platform/audit/index.js';
import { addressOf, AppError } from '../../platform/shared/index.js';
import {
  type Flash,
  StepRequired,
  ForeignForm,
  Form,
  type FormBody,
  FormOrigin,
  localPath,
  Page,
  PageInterceptor,
  rememberVisit,
  SCOPE_FIELD,
  VisitCookies,
  visitIn,
  WebModule,
} from '../web/index.js';

const open = (access: Access): MethodDecorator & ClassDecorator =>
  applyDecorators(SetMetadata(ACCESS, access), UseGuards(VisitGuard), UseInterceptors(PageInterceptor));

export const Public = (): MethodDecorator & ClassDecorator => open('public');
/** Requires a signed-in user, even with a temporary password. */
export const TemporaryPassword = (): MethodDecorator & ClassDecorator => open('temporary-password');
/** Requires a signed-in user, even without a verified address. */
export const Unverified = (): MethodDecorator & ClassDecorator => open('unverified');
/** Requires a verified user, even before a required second-factor setup. */
export const SecondFactorSetUp = (): MethodDecorator & ClassDecorator => open('second-factor');
/** Requires a verified user. */
export const SignedIn = (): MethodDecorator & ClassDecorator => open('signed-in');
/** Requires an administrator; a 404 for everyone else. Changes are audited in the visitor's name. */
export const Administrator = (): MethodDecorator & ClassDecorator =>
  applyDecorators(open('administrator'), UseInterceptors(ActingInterceptor));

/** Who may open a page, in ascending order of requirements. */
export type Access = 'public' | 'temporary-password' | 'unverified' | 'second-factor' | 'signed-in' | 'administrator';

export const ACCESS = 'switchboard:access';

/**
 * For pages that show or change what belongs to the scope: the user's own account, or their organization, where their
 * role must allow one of these. A form that was opened in another scope is refused.
 */
export const Allows = (...permissions: readonly [Permission, ...Permission[]]): MethodDecorator & ClassDecorator =>
  SetMetadata(ALLOWS, permissions);

export const ALLOWS = 'switchboard:allows';

/** For pages of organizations: changes are audited in the visitor's name. */
export const Audited = (): ClassDecorator => UseInterceptors(ActingInterceptor);

/** Attributes changes to their visitor, who acts on what is not theirs alone. */
@Injectable()
class ActingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler<unknown>): Observable<unknown> {
    const { visitor, ip } = visitIn(context.switchToHttp().getRequest<FastifyRequest>());
    if (visitor === undefined) throw new Error('Who acts must be signed in.');
    const actor = { kind: 'account', accountId: visitor.accountId, name: visitor.email, ip } as const;
    return new Observable((subscriber) => actingAs(actor, () => next.handle().subscribe(subscriber)));
  }
}

/**
 * Guards every page: identifies the visitor, redirects to required steps, and accepts forms only from our own pages in
 * the same browser.
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

  /** @throws StepRequired, AppError of the kinds not_found and permission_denied */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    // The database rejects NUL. Queries are checked where they are parsed.
    if (request.url.split('?', 1)[0]?.includes('%00') === true) throw nothingHere();
    const declaredBy = [context.getHandler(), context.getClass()];
    const access = this.reflector.getAllAndOverride<Access>(ACCESS, declaredBy);
    const allowed = this.reflector.getAllAndOverride<readonly Permission[] | undefined>(ALLOWS, declaredBy);
    const visit = await this.visit(request, http.getResponse<FastifyReply>());
    try {
      const form = request.method === 'POST' ? ((request.body ?? {}) as FormBody) : undefined;
      if (form !== undefined) this.forms.check(request.headers, form, visit.csrf);
      admit(access, visit.visitor, request);
      if (allowed !== undefined) admitToScope(allowed, visit.visitor?.organization, form);
    } catch (error) {
      this.logRefusal(error, visit);
      throw error;
    }
    return true;
  }

  /** Only for signed-in users: anyone else could fill the log. */
  private logRefusal(error: unknown, { visitor, ip }: Visit): void {
    if (visitor === undefined || error instanceof StepRequired) return;
    this.log.refused(reasonOf(error), visitor.accountId, ip);
  }

  private async visit(request: FastifyRequest, reply: FastifyReply): Promise<Visit> {
    const { token, theme, flash } = this.cookies.read(request.headers.cookie);
    const { 'user-agent': userAgent = '', host = '' } = request.headers;
    const from = { ip: addressOf(request), userAgent };
    const session = token === undefined ? undefined : await this.sessions.find(token, from);
    const known = token ?? this.cookies.newToken();
    if (token === undefined) this.cookies.setToken(reply, known);
    const visit = {
      ...from,
      host,
      visitor: session?.visitor,
      csrf: this.forms.tokenFor(known),
      theme,
      requestId: request.id,
      url: request.url,
    };
    // Until a page has shown it: this request may be of another kind.
    if (session?.hasLostOrganization === true) this.cookies.setFlash(reply, ORGANIZATION_LOST);
    rememberVisit(request, { visit, flash: session?.hasLostOrganization === true ? ORGANIZATION_LOST : flash });
    return visit;
  }
}

/** @throws StepRequired, AppError */
function admit(access: Access, visitor: Visitor | undefined, { method, url }: FastifyRequest): void {
  const first = visitor && firstStep(visitor);
  if (first !== undefined && !isOpenBefore(first.access, access, method)) throw new StepRequired(first.page);
  if (access === 'public') return;
  // Form targets are not resumed after signing in: the form would have to be submitted again.
  if (visitor === undefined)
    throw new StepRequired(method === 'GET' ? `/sign-in?next=${encodeURIComponent(url)}` : '/sign-in');
  if (access === 'temporary-password' || access === 'unverified') return;
  if (!visitor.verified) throw new StepRequired('/verify');
  if (access === 'administrator' && !visitor.isAdministrator) throw nothingHere();
}

/** @param form undefined if none was submitted @throws FormOfOtherScope, NotAllowed */
function admitToScope(
  permissions: readonly Permission[],
  organization: OrganizationScope | undefined,
  form: FormBody | undefined,
): void {
  if (form !== undefined && (form[SCOPE_FIELD] ?? '') !== (organization?.id ?? '')) throw new FormOfOtherScope();
  if (organization !== undefined && !permissions.some((permission) => allows(organization, permission)))
    throw new NotAllowed(organization);
}

/** The scope was switched since the form was opened, such as in another tab. */
class FormOfOtherScope extends AppError {
  constructor() {
    super(
      'conflict',
      'This page was opened in another account, and you have switched since. Nothing was changed. Switch back, or reload the page.',
    );
  }
}

export class NotAllowed extends AppError {
  constructor({ name, role }: OrganizationScope) {
    super('permission_denied', `Your role in ${name} (${role}) does not allow this. Ask its owner or an admin.`);
  }
}

const ORGANIZATION_LOST: Flash = {
  tone: 'warn',
  title: 'You no longer have access to the organization',
  text: 'You are back in your personal account.',
};

function reasonOf(error: unknown): RefusalReason {
  if (error instanceof ForeignForm) return 'foreign form';
  if (error instanceof FormOfOtherScope) return 'form of other scope';
  return error instanceof NotAllowed ? 'organization role' : 'operators only';
}

const nothingHere = (): AppError => new AppError('not_found', 'There is no page at this address.');

/** The step that the user must take first; undefined: none. Verification has public pages. */
function firstStep({
  passwordIsTemporary,
  verified,
  secondFactorMissing,
}: Visitor): { page: string; access: Access } | undefined {
  if (passwordIsTemporary) return { page: '/choose-password', access: 'temporary-password' };
  return verified && secondFactorMissing ? { page: '/account/second-factor', access: 'second-factor' } : undefined;
}

/** The step itself, and forms on its page: sign-out and theme. */
const isOpenBefore = (step: Access, access: Access, method: string): boolean =>
  access === step || (access === 'public' && method === 'POST');

export const RECENT_SIGN_IN = 'recent-sign-in';

/** Whether the submitted form has no effect, such as adding a row or a preview. */
type IsDraft = (body: FormBody) => boolean;

/** Field with the path of the form's page. */
const BACK = '_back';

/**
 * Asks for the password, or a new sign-in with the provider, on a separate page before a form takes effect, unless the
 * sign-in is recent. That page carries the submitted fields, so it must not be used for forms with secrets.
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
      const form = password === undefined ? Form.empty<ConfirmedForm>() : Form.read(ConfirmedForm, { password });
      const isConfirmed = await form.succeeds(() => this.recent.confirm(visitor, textIn(password)));
      if (!isConfirmed) return of(confirmPage(request, fields, form, visitor));
    }
    request.body = fields;
    return next.handle();
  }
}

/** For handlers of forms that require a recent sign-in. */
export const RequiresRecentSignIn = (isDraft: IsDraft = () => false): MethodDecorator =>
  applyDecorators(SetMetadata(RECENT_SIGN_IN, isDraft), UseInterceptors(RecentSignInInterceptor));

function confirmPage(
  { url, headers }: FastifyRequest,
  fields: FormBody,
  form: Form<ConfirmedForm>,
  { confirmsAtProvider: atProvider }: Visitor,
): Page {
  const { _csrf, [SCOPE_FIELD]: _scope, [BACK]: back = pathIn(headers.referer), ...typed } = fields;
  const hidden = Object.entries({ ...typed, [BACK]: localPath(textIn(back), '/') });
  const title = atProvider ? 'Confirm your sign-in' : 'Confirm your password';
  return new Page('auth/confirm-password', {
    title,
    width: 'narrow',
    data: {
      title,
      atProvider,
      form,
      action: url,
      back: localPath(textIn(back), '/'),
      fields: hidden.flatMap(([name, values]) => [values].flat().map((value) => ({ name, value }))),
    },
  });
}

const textIn = (value: FormBody[string] = ''): string => (typeof value === 'string' ? value : (value[0] ?? ''));

function pathIn(address: string | undefined): string {
  if (address === undefined || !URL.canParse(address)) return '/';
  const { pathname, search } = new URL(address);
  return `${pathname}${search}`;
}

@Injectable()
export class BrowserSignIn {
  constructor(
    private readonly sessions: SessionService,
    private readonly cookies: VisitCookies,
    private readonly accounts: AccountService,
    private readonly timeZones: TimeZones,
  ) {}

  /**
   * Takes over the time zone of the browser, which script adds to the last form of a sign-up. Without script, the
   * account keeps UTC.
   */
  async adoptTimeZone(accountId: string, { _timeZone: name }: FormBody): Promise<void> {
    const timeZone = await this.timeZones.named(name);
    if (timeZone !== undefined) await this.accounts.setTimeZone(accountId, timeZone);
  }

  /**
   * Starts a session under a new token; an earlier session of the browser ends.
   * @param isPersistent whether it survives closing the browser
   * @param providerSessionId of the sign-in with a provider
   */
  async begin(
    accountId: string,
    isPersistent: boolean,
    visit: Visit,
    reply: FastifyReply,
    providerSessionId?: string,
  ): Promise<void> {
    const token = this.cookies.newToken();
    const maxAgeSeconds = await this.sessions.start(accountId, token, isPersistent, visit, providerSessionId);
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
