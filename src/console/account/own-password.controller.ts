import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsOptional, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { Secret } from '../../platform/shared/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';
import { BrowserSignIn, TemporaryPassword } from '../access/index.js';
import { OwnPassword, SessionService, type Visit, type Visitor } from '../../auth/index.js';

class OwnPasswordForm {
  @MinLength(12, { message: 'Use at least 12 characters. A sentence works well.' })
  readonly password: string = '';

  /** For password managers alone. */
  @IsOptional()
  readonly email?: unknown;
}

const DONE = { tone: 'ok', title: 'Password set', text: 'Use it the next time you sign in.' } as const;

/** Where everything leads whoever signs in with a password that was made for them. */
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
    return visitor.passwordIsTemporary ? pageOf(visitor, Form.empty()) : new Redirect('/account/password');
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
    const kept = await form.attempt(({ password }) => this.chosen(visitor, new Secret(password)));
    if (kept === undefined) return pageOf(visitor, form);
    await this.browser.begin(visitor.accountId, kept, { ...visit, visitor: undefined }, reply);
    return new Redirect('/', DONE);
  }

  /** Whether this browser was to stay signed in: it is then, under a new token. */
  private async chosen({ accountId, sessionId }: Visitor, password: Secret): Promise<boolean> {
    const kept = await this.sessions.isKept(accountId, sessionId);
    await this.passwords.choose(accountId, password);
    return kept;
  }
}

const pageOf = ({ email }: Visitor, form: Form<OwnPasswordForm>): Page =>
  new Page('auth/own-password', { title: 'Choose your own password', layout: 'auth', data: { form, email } });
