import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  LIFETIME_MINUTES,
  LinkRefused,
  RESEND_AFTER_MS,
  SentJustNow,
  type Verification,
  type Visit,
} from '../../auth/index.js';
import { AddressProof, InvitationRefused, type Waiting } from '../../keys/onboarding/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { BrowserSignIn, Public } from '../access/index.js';
import { CurrentVisit, Form, type FormBody, Page, Redirect } from '../web/index.js';

/** The page that asks for the code: after registering, and of an account whose address was never verified. */
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
    await this.browser.begin(confirmed.accountId, false, visit, reply);
    return new Redirect('/', { tone: 'ok', title: 'Address confirmed', text: 'Your account is ready.' });
  }

  @Post('resend')
  async resend(@CurrentVisit() visit: Visit): Promise<Redirect> {
    return this.proof
      .sendAgain(visit)
      .then(
        () => new Redirect('/verify', { tone: 'ok', title: 'Email sent', text: 'Only its code is valid now.' }),
        tellSentJustNow('/verify'),
      );
  }

  private page({ email, sent, purpose }: Waiting, form: Form<CodeForm>): Page {
    const otherHref = purpose === 'register' ? '/register' : '/verify/address';
    const data = { form, otherHref, ...sentMail(email, sent, this.clock.date()) };
    return formPage('verify', sent ? 'Check your email' : 'Confirm your email address', data);
  }
}

const GONE = { tone: 'warn', title: 'No pending verification', text: 'Sign in or register again.' } as const;

/** What stands in the way of a right code is told beside it, too. */
export function asCodeError(error: unknown): never {
  if (!(error instanceof LinkRefused || error instanceof InvitationRefused)) throw error;
  throw new AppError('invalid_request', error.message, { param: 'code' });
}

/** A mail that was asked for too soon is told where it was asked for. */
export const tellSentJustNow =
  (to: string) =>
  (error: unknown): Redirect => {
    if (error instanceof SentJustNow) return new Redirect(to, { tone: 'warn', title: error.message });
    throw error;
  };

/** What the page that asks for a code shows of the mail that it was in. */
interface SentMail {
  readonly email: string;
  readonly minutes: number;
  /** Undefined: nothing was sent yet. */
  readonly sentAt: Date | undefined;
  /** When another mail can be asked for; undefined: now. */
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

/** A page in the frame of single forms. */
export const formPage = (
  view: string,
  title: string,
  data: { readonly form?: Form<object> } & Readonly<Record<string, unknown>> = {},
): Page => new Page(`onboarding/${view}`, { title, layout: 'auth', data });

/** The code of a mail, however it is typed. */
export class CodeForm {
  @IsString({ message: 'Enter the six-digit code from the email.' })
  @IsNotEmpty({ message: 'Enter the six-digit code from the email.' })
  readonly code: string = '';
}
