import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { IsNotEmpty, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  LIFETIME_MINUTES,
  LinkRefused,
  RESEND_AFTER_MS,
  ResendTooSoon,
  type Verification,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import {
  AddressChange,
  AddressProof,
  InvitationRefused,
  isRenewable,
  type Waiting,
} from '../../keys/onboarding/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { BrowserSignIn, Public, Unverified } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';

@Controller('verify')
@Public()
export class VerifyController {
  constructor(
    private readonly proof: AddressProof,
    private readonly browser: BrowserSignIn,
    private readonly clock: Clock,
  ) {}

  @Get()
  async show(@CurrentVisit() visit: Visit): Promise<Page | Redirect> {
    const waiting = await this.proof.waiting(visit);
    return waiting ? this.page(waiting, Form.empty()) : new Redirect(visit.visitor ? '/' : '/sign-in');
  }

  @Post()
  async confirm(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const waiting = await this.proof.waiting(visit);
    if (!waiting) return new Redirect('/sign-in', GONE);
    const form = Form.read(CodeForm, body);
    const confirmed = await form.attempt(({ code }) => this.proof.byCode(visit, code).catch(asCodeError));
    if (!confirmed) return this.page(waiting, form);
    if (confirmed.purpose === 'register') await this.browser.adoptTimeZone(confirmed.accountId, body);
    await this.browser.begin(confirmed.accountId, false, visit, reply);
    return new Redirect('/', { tone: 'ok', title: 'Address confirmed', text: 'Your account is ready.' });
  }

  @Post('resend')
  async resend(@CurrentVisit() visit: Visit): Promise<Redirect> {
    return this.proof
      .sendAgain(visit)
      .then(
        () => new Redirect('/verify', { tone: 'ok', title: 'Email sent', text: 'Earlier codes no longer work.' }),
        ifResentTooSoon('/verify'),
      );
  }

  private page({ email, sent, purpose }: Waiting, form: Form<CodeForm>): Page {
    const otherHref = purpose === 'register' ? '/register' : '/verify/address';
    const data = { form, otherHref, ...sentMail(email, sent, this.clock.date()) };
    return formPage('verify', sent ? 'Check your email' : 'Confirm your email address', data);
  }
}

class AddressForm {
  @IsString({ message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';
}

/** Changes the address of an unverified account. */
@Controller('verify/address')
@Unverified()
export class VerifyAddressController {
  constructor(private readonly change: AddressChange) {}

  @Get()
  show(@CurrentVisitor() { verified }: Visitor): Page | Redirect {
    return verified
      ? new Redirect('/account')
      : formPage('verify-address', 'Use another email address', { form: Form.empty() });
  }

  @Post()
  async request(
    @Body() body: FormBody,
    @CurrentVisitor() visitor: Visitor,
    @CurrentVisit() visit: Visit,
  ): Promise<Page | Redirect> {
    if (visitor.verified) return new Redirect('/account');
    const form = Form.read(AddressForm, body);
    const next = await form.attempt(({ email }) => this.requested(visitor, email, visit));
    return next ?? formPage('verify-address', 'Use another email address', { form });
  }

  private requested(visitor: Visitor, email: string, visit: Visit): Promise<Redirect> {
    return this.change.request(visitor, email, visit).then(() => new Redirect('/verify'), ifResentTooSoon('/verify'));
  }
}

/**
 * The link in the email. It requires a click, because mail scanners follow links. Only the browser that registered is
 * signed in, since anyone may have clicked.
 */
@Controller('verify/link')
@Public()
export class VerifyLinkController {
  constructor(
    private readonly proof: AddressProof,
    private readonly browser: BrowserSignIn,
  ) {}

  @Get()
  show(@Query('t') t: unknown): Promise<Page> {
    return this.page(tokenIn(t));
  }

  @Post()
  async confirm(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const { t } = body;
    const waiting = await this.proof.waiting(visit);
    const link = await this.proof.link(tokenIn(t));
    const confirmed = await this.proof.byLink(visit, tokenIn(t)).catch(ifRefused);
    if (!confirmed) return this.page('');
    if (confirmed.purpose === 'register') await this.browser.adoptTimeZone(confirmed.accountId, body);
    const isOwn = waiting?.purpose === 'register' && waiting.subject === link?.verification.subject;
    if (isOwn) await this.browser.begin(confirmed.accountId, false, visit, reply);
    if (isOwn || visit.visitor) return new Redirect(isOwn ? '/' : '/account', CONFIRMED);
    return new Redirect('/sign-in', { ...CONFIRMED, text: 'Sign in to continue.' });
  }

  @Post('renew')
  async renew(@Body() { t }: FormBody, @CurrentVisit() visit: Visit): Promise<Page | Redirect> {
    const sent = await this.proof
      .renew(visit, tokenIn(t))
      .then(() => true as const, ifResentTooSoon('/sign-in'))
      .catch(ifRefused);
    if (!sent) return this.page('');
    if (sent !== true) return sent;
    return new Redirect('/sign-in', {
      tone: 'ok',
      title: 'Email sent',
      text: 'Use the link in the new email; earlier links no longer work.',
    });
  }

  private async page(token: string): Promise<Page> {
    const link = await this.proof.link(token);
    const { state = 'unknown', verification } = link ?? {};
    const renewable = link !== undefined && isRenewable(link);
    return formPage('verify-link', 'Confirm your email address', {
      token,
      state,
      renewable,
      email: verification?.email,
    });
  }
}

const CONFIRMED = { tone: 'ok', title: 'Address confirmed' } as const;

const tokenIn = (t: unknown): string => (typeof t === 'string' ? t : '');

function ifRefused(error: unknown): undefined {
  if (!(error instanceof LinkRefused)) throw error;
}

const GONE = {
  tone: 'warn',
  title: 'Nothing to confirm',
  text: 'Your confirmation expired or is already complete. Sign in, or register again.',
} as const;

/** Shows other reasons for a refusal at the code field, too. */
export function asCodeError(error: unknown): never {
  if (!(error instanceof LinkRefused || error instanceof InvitationRefused)) throw error;
  throw new AppError('invalid_request', error.message, { param: 'code' });
}

export const ifResentTooSoon =
  (to: string) =>
  (error: unknown): Redirect => {
    if (error instanceof ResendTooSoon) return new Redirect(to, { tone: 'warn', title: error.message });
    throw error;
  };

interface SentMail {
  readonly email: string;
  readonly minutes: number;
  /** Undefined if none was sent. */
  readonly sentAt: Date | undefined;
  /** When another email can be requested; undefined: now. */
  readonly resendAt: Date | undefined;
}

export function sentMail(email: string, sent: Verification | undefined, now: Date): SentMail {
  const resendAt = sent && new Date(sent.sentAt.getTime() + RESEND_AFTER_MS);
  return {
    email,
    minutes: LIFETIME_MINUTES,
    sentAt: sent?.sentAt,
    resendAt: resendAt && resendAt > now ? resendAt : undefined,
  };
}

export const formPage = (
  view: string,
  title: string,
  data: { readonly form?: Form<object> } & Readonly<Record<string, unknown>> = {},
): Page => new Page(`onboarding/${view}`, { title, layout: 'auth', data });

export class CodeForm {
  @IsString({ message: 'Enter the six-digit code from the email.' })
  @IsNotEmpty({ message: 'Enter the six-digit code from the email.' })
  readonly code: string = '';
}
