import { Body, Controller, Get, Injectable, Post, Query, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  type AcceptedCode,
  codesLeft as codesLeftText,
  idleTime,
  PasswordPolicy,
  providerLink,
  SecondFactors,
  SignIn,
  SignInProviders,
  TooManyAttempts,
  type Visit,
} from '../../auth/index.js';
import { dateTime } from '../../platform/format/index.js';
import { Settings } from '../../platform/settings/index.js';
import { Secret } from '../../platform/shared/index.js';
import { BrowserSignIn, Public } from '../access/index.js';
import { CurrentVisit, type Flash, Form, type FormBody, localPath, Page, Redirect } from '../web/index.js';
import { SignOut } from './provider-logout.controller.js';
import { type PendingSignIn, PendingSignIns, SIGN_IN_TIMED_OUT, SignInSteps } from './sign-in-steps.js';

class SignInForm {
  @IsString({ message: 'Enter your email address.' })
  @IsNotEmpty({ message: 'Enter your email address.' })
  readonly email: string = '';

  @IsString({ message: 'Enter your password.' })
  @IsNotEmpty({ message: 'Enter your password.' })
  readonly password: string = '';

  @IsOptional()
  readonly remember?: unknown;

  @IsOptional()
  readonly next?: unknown;
}

/** The sign-in page, with the ways to sign in. */
@Injectable()
export class SignInPages {
  constructor(
    private readonly settings: Settings,
    private readonly providers: SignInProviders,
    private readonly policy: PasswordPolicy,
  ) {}

  async show(form: Form<SignInForm>, next: unknown, status?: number): Promise<Page> {
    const idle = idleTime(this.settings.current().signUp.sessionIdleHours);
    const path = localPath(next);
    const providers = (await this.providers.list()).map((provider) => providerLink(provider, path));
    const { isOff, areAdministratorsAllowed, allowedUntil } = await this.policy.rules();
    const until = allowedUntil && `${dateTime(allowedUntil, 'UTC')} UTC`;
    const passwords = { isOff, isOffered: !isOff || areAdministratorsAllowed, allowedUntil: until };
    const forgot = { href: '/forgot', label: 'Forgot password?' };
    const data = { form, next: path, idle, forgot, providers, passwords };
    return new Page('auth/sign-in', { title: 'Sign in', layout: 'auth', data, status });
  }
}

@Controller()
@Public()
export class SignInController {
  constructor(
    private readonly signIn: SignIn,
    private readonly browser: BrowserSignIn,
    private readonly steps: SignInSteps,
    private readonly signOut: SignOut,
    private readonly pages: SignInPages,
  ) {}

  @Get('sign-in')
  async show(@Query('next') next: unknown, @CurrentVisit() { visitor }: Visit): Promise<Page | Redirect> {
    if (visitor !== undefined) return new Redirect(localPath(next));
    return this.pages.show(Form.empty<SignInForm>(), next);
  }

  @Post('sign-in')
  async begin(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const form = Form.read(SignInForm, body);
    const { next, remember } = body;
    try {
      const account = await form.attempt(({ email, password }) =>
        this.signIn.check({ email, password: new Secret(password), ip: visit.ip }),
      );
      if (account === undefined) return await this.pages.show(form, next);
      const signIn = { accountId: account.id, kept: remember !== undefined, next: localPath(next) };
      return new Redirect(await this.steps.afterFirstFactor(signIn, visit, reply));
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      form.refuse('password', error.message);
      void reply.header('retry-after', error.retryAfterSeconds);
      return this.pages.show(form, next, 429);
    }
  }

  @Post('sign-out')
  async end(@CurrentVisit() visit: Visit, @Res({ passthrough: true }) reply: FastifyReply): Promise<Page | Redirect> {
    const provider = await this.signOut.begin(visit);
    await this.browser.end(visit, reply);
    return this.signOut.finish(provider, reply);
  }
}

class SignInCodeForm {
  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  @IsOptional()
  readonly with?: unknown;
}

/** Asks for a second-factor code after the password; the user is not signed in before. */
@Controller('sign-in/code')
@Public()
export class SignInCodeController {
  constructor(
    private readonly pending: PendingSignIns,
    private readonly steps: SignInSteps,
    private readonly factors: SecondFactors,
  ) {}

  @Get()
  async show(@CurrentVisit() visit: Visit, @Query('with') way: unknown): Promise<Page | Redirect> {
    const pending = await this.pending.of(visit);
    if (pending !== undefined) return this.page(pending, Form.empty<SignInCodeForm>(), way);
    return visit.visitor === undefined ? new Redirect('/sign-in', SIGN_IN_TIMED_OUT) : new Redirect('/');
  }

  @Post()
  async enter(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const pending = await this.pending.of(visit);
    if (pending === undefined) return new Redirect('/sign-in', SIGN_IN_TIMED_OUT);
    const form = Form.read(SignInCodeForm, body);
    try {
      const next = await form.attempt(({ code }) => this.entered(pending, code, visit, reply));
      return next ?? (await this.page(pending, form, body['with']));
    } catch (error) {
      if (!(error instanceof TooManyAttempts)) throw error;
      form.refuse('code', error.message);
      void reply.header('retry-after', error.retryAfterSeconds);
      return this.page(pending, form, body['with'], 429);
    }
  }

  private async entered(pending: PendingSignIn, code: string, visit: Visit, reply: FastifyReply): Promise<Redirect> {
    const accepted = await this.steps.afterCode(pending, code, visit, reply);
    return accepted === undefined
      ? new Redirect('/sign-in', SIGN_IN_TIMED_OUT)
      : new Redirect(pending.next, recoveryFlash(accepted));
  }

  private async page(
    { accountId }: PendingSignIn,
    form: Form<SignInCodeForm>,
    way: unknown,
    status?: number,
  ): Promise<Page> {
    const { hasApp = false, passkeys = 0 } = (await this.factors.of(accountId)) ?? {};
    const data = { form, hasApp, hasPasskey: passkeys > 0, recovery: way === 'recovery' || !hasApp };
    const title = hasApp ? 'Enter your code' : 'Confirm your sign-in';
    return new Page('auth/sign-in-code', { title, layout: 'auth', data: { ...data, title }, status });
  }
}

const recoveryFlash = ({ codesLeft }: AcceptedCode): Flash | undefined =>
  codesLeft === undefined
    ? undefined
    : {
        tone: 'warn',
        title: 'Signed in with a recovery code',
        text: codesLeftText(codesLeft),
        action: { href: '/account/second-factor/recovery-codes', label: 'Create new recovery codes' },
      };
