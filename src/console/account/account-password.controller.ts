import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  asFieldError,
  OwnPassword,
  PasswordChange,
  SessionService,
  SignIn,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { Secret } from '../../platform/shared/index.js';
import { BrowserSignIn, SignedIn, TemporaryPassword } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';

class PasswordForm {
  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';

  @MinLength(12, { message: 'Use at least 12 characters. A sentence works well.' })
  readonly password: string = '';

  /** For password managers only. */
  @IsOptional()
  readonly email?: unknown;
}

const DONE = { tone: 'ok', title: 'Password changed', text: 'All other sessions are signed out.' } as const;

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Password' }];

@Controller('account/password')
@SignedIn()
export class AccountPasswordController {
  constructor(
    private readonly signIn: SignIn,
    private readonly passwords: PasswordChange,
    private readonly sessions: SessionService,
    private readonly browser: BrowserSignIn,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Page {
    return pageOf(visitor, Form.empty());
  }

  @Post()
  async change(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const form = Form.read(PasswordForm, body);
    const { accountId, sessionId } = visitor;
    const isPersistent = await form.attempt(async ({ currentPassword, password }) => {
      const kept = await this.sessions.isKept(accountId, sessionId);
      await this.signIn.confirm(visitor, new Secret(currentPassword)).catch(asFieldError('currentPassword'));
      await this.passwords.set(accountId, new Secret(password));
      return kept;
    });
    if (isPersistent === undefined) return pageOf(visitor, form);
    // Changing the password ends all sessions.
    await this.browser.begin(accountId, isPersistent, { ...visit, visitor: undefined }, reply);
    return new Redirect('/account', DONE);
  }
}

const pageOf = ({ email }: Visitor, form: Form<PasswordForm>): Page =>
  new Page('account/password', { title: 'Change password', width: 'narrow', data: { form, email, crumbs: CRUMBS } });

class OwnPasswordForm {
  @MinLength(12, { message: 'Use at least 12 characters. A sentence works well.' })
  readonly password: string = '';

  /** For password managers only. */
  @IsOptional()
  readonly email?: unknown;
}

const PASSWORD_SET = { tone: 'ok', title: 'Password set', text: 'Use it the next time you sign in.' } as const;

/** Replaces a temporary password. */
@Controller('choose-password')
@TemporaryPassword()
export class OwnPasswordController {
  constructor(
    private readonly passwords: OwnPassword,
    private readonly sessions: SessionService,
    private readonly browser: BrowserSignIn,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Page | Redirect {
    return visitor.passwordIsTemporary ? ownPasswordPage(visitor, Form.empty()) : new Redirect('/account/password');
  }

  @Post()
  async choose(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    if (!visitor.passwordIsTemporary) return new Redirect('/account/password');
    const form = Form.read(OwnPasswordForm, body);
    const { accountId, sessionId } = visitor;
    const isPersistent = await form.attempt(async ({ password }) => {
      const kept = await this.sessions.isKept(accountId, sessionId);
      await this.passwords.choose(accountId, new Secret(password));
      return kept;
    });
    if (isPersistent === undefined) return ownPasswordPage(visitor, form);
    // Not after a reset by an administrator: the user may have chosen a zone before.
    if (visitor.timeZone === 'UTC') await this.browser.adoptTimeZone(accountId, body);
    // Choosing a password ends all sessions.
    await this.browser.begin(accountId, isPersistent, { ...visit, visitor: undefined }, reply);
    return new Redirect('/', PASSWORD_SET);
  }
}

const ownPasswordPage = ({ email }: Visitor, form: Form<OwnPasswordForm>): Page =>
  new Page('auth/own-password', { title: 'Choose your own password', layout: 'auth', data: { form, email } });
