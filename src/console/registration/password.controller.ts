import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { IsEmail, IsOptional, MinLength } from 'class-validator';
import { LIFETIME_MINUTES, LinkRefused, type OpenedLink, type Visit } from '../../auth/index.js';
import { PasswordResets } from '../../keys/onboarding/index.js';
import { Secret } from '../../platform/shared/index.js';
import { BrowserSignIn, Public } from '../access/index.js';
import { CurrentVisit, Form, type FormBody, Page, Redirect } from '../web/index.js';
import { formPage, ifResentTooSoon } from './verify.controller.js';

class ForgotForm {
  @IsEmail({ allow_utf8_local_part: false }, { message: 'Enter the email address of your account.' })
  readonly email: string = '';
}

class ResetForm {
  @MinLength(12, { message: 'Use at least 12 characters. A sentence works well.' })
  readonly password: string = '';

  @IsOptional()
  readonly t?: unknown;

  /** For password managers only. */
  @IsOptional()
  readonly email?: unknown;
}

/** Password resets and invitations by email link. */
@Controller()
@Public()
export class PasswordController {
  constructor(
    private readonly resets: PasswordResets,
    private readonly browser: BrowserSignIn,
  ) {}

  @Get('forgot')
  showForm(): Page {
    return formPage('forgot', 'Reset your password', { form: Form.empty() });
  }

  /** Does not reveal whether the address is known. */
  @Post('forgot')
  async request(@Body() body: FormBody, @CurrentVisit() { ip }: Visit): Promise<Page> {
    const form = Form.read(ForgotForm, body);
    if (form.value === undefined) return formPage('forgot', 'Reset your password', { form });
    await this.resets.request(form.value.email, ip);
    return formPage('forgot', 'Check your email', { asked: true, minutes: LIFETIME_MINUTES });
  }

  @Get('reset')
  async open(@Query('t') t: unknown): Promise<Page> {
    return resetPage(await this.link(t), t, Form.empty());
  }

  @Post('reset')
  async choose(@Body() body: FormBody): Promise<Page | Redirect> {
    const { t } = body;
    const link = await this.link(t);
    const form = Form.read(ResetForm, body);
    if (link?.state !== 'open') return resetPage(link, t, Form.empty());
    const isSet = await form.succeeds(({ password }) => this.resets.choose(String(t), new Secret(password)));
    if (!isSet) return resetPage(link, t, form);
    const { purpose, subject } = link.verification;
    if (purpose === 'invite') await this.browser.adoptTimeZone(subject, body);
    return new Redirect('/sign-in', CHANGED);
  }

  @Post('reset/renew')
  async renew(@Body() { t }: FormBody, @CurrentVisit() { ip }: Visit): Promise<Page | Redirect> {
    if ((await this.link(t)) === undefined) return resetPage(undefined, t, Form.empty());
    return this.resets.renew(String(t), ip).then(() => new Redirect('/sign-in', SENT), ifResentTooSoon('/sign-in'));
  }

  private link(t: unknown): Promise<OpenedLink | undefined> {
    return this.resets.open(typeof t === 'string' ? t : '').catch((error: unknown) => {
      if (error instanceof LinkRefused) return undefined;
      throw error;
    });
  }
}

const CHANGED = { tone: 'ok', title: 'Password set', text: 'Sign in with your new password.' } as const;
const SENT = {
  tone: 'ok',
  title: 'Email sent',
  text: 'Use the link in the new email; earlier links no longer work.',
} as const;

function resetPage(link: OpenedLink | undefined, t: unknown, form: Form<ResetForm>): Page {
  const { state = 'unknown', verification } = link ?? {};
  const invited = verification?.purpose === 'invite';
  return formPage('reset', 'Choose a password', { form, token: t, state, email: verification?.email, invited });
}
