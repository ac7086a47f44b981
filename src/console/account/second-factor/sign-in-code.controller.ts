import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { CurrentVisit, type Flash, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { type AcceptedCode, codesLeft as leftInWords, TooManyTries, type Visit } from '../../../auth/index.js';
import { Public } from '../../access/index.js';
import { PENDING_MINUTES, type PendingSignIn, SignInSteps } from './sign-in-steps.js';

class SignInCodeForm {
  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  /** Return path of the page. */
  @IsOptional()
  readonly with?: unknown;
}

const GONE = {
  tone: 'warn',
  title: 'Sign in again',
  text: `Enter the code within ${PENDING_MINUTES} minutes of the password.`,
} as const;

/** Asks for a second-factor code after the password; the user is not signed in before. */
@Controller('sign-in/code')
@Public()
export class SignInCodeController {
  constructor(private readonly steps: SignInSteps) {}

  @Get()
  async show(@CurrentVisit() visit: Visit, @Query('with') way: unknown): Promise<Page | Redirect> {
    if ((await this.steps.waiting(visit)) !== undefined) return pageOf(Form.empty<SignInCodeForm>(), way);
    return visit.visitor === undefined ? new Redirect('/sign-in', GONE) : new Redirect('/');
  }

  @Post()
  async enter(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const pending = await this.steps.waiting(visit);
    if (pending === undefined) return new Redirect('/sign-in', GONE);
    const form = Form.read(SignInCodeForm, body);
    try {
      const next = await form.attempt(({ code }) => this.entered(pending, code, visit, reply));
      return next ?? pageOf(form, body['with']);
    } catch (error) {
      if (error instanceof TooManyTries) return throttled(form, body['with'], error, reply);
      throw error;
    }
  }

  private async entered(pending: PendingSignIn, code: string, visit: Visit, reply: FastifyReply): Promise<Redirect> {
    const accepted = await this.steps.afterCode(pending, code, visit, reply);
    return accepted === undefined ? new Redirect('/sign-in', GONE) : new Redirect(pending.next, toldOf(accepted));
  }
}

function pageOf(form: Form<SignInCodeForm>, way: unknown, status?: number): Page {
  const data = { form, recovery: way === 'recovery' };
  return new Page('auth/sign-in-code', {
    title: 'Enter your code',
    layout: 'auth',
    data,
    ...(status !== undefined && { status }),
  });
}

/** The same page with the time of the next attempt. */
function throttled(form: Form<SignInCodeForm>, way: unknown, error: TooManyTries, reply: FastifyReply): Page {
  form.refuse('code', error.message);
  void reply.header('retry-after', error.retryAfterSeconds);
  return pageOf(form, way, 429);
}

const toldOf = ({ codesLeft }: AcceptedCode): Flash | undefined =>
  codesLeft === undefined
    ? undefined
    : {
        tone: 'warn',
        title: 'Signed in with a recovery code',
        text: leftInWords(codesLeft),
        action: { href: '/account/second-factor/recovery-codes', label: 'Create new recovery codes' },
      };
