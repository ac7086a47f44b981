import { Body, Controller, Get, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { LinkRefused, type Visit } from '../../auth/index.js';
import { BrowserSignIn, Public } from '../access/index.js';
import { CurrentVisit, type FormBody, Page, Redirect } from '../web/index.js';
import { AddressProof, isRenewable } from '../../keys/onboarding/index.js';
import { tellSentJustNow } from './verify.controller.js';
import { formPage } from './verify.view.js';

/**
 * Where the link of a mail leads: it asks for a click, because programs that look into mail follow links. Whoever clicks
 * may be somebody else than who registered, so only the browser that registered is signed in by it.
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
    @Body() { t }: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const waiting = await this.proof.waiting(visit);
    const link = await this.proof.link(tokenIn(t));
    const confirmed = await this.proof.byLink(visit, tokenIn(t)).catch(refused);
    if (!confirmed) return this.page('');
    const own = waiting?.purpose === 'register' && waiting.subject === link?.verification.subject;
    if (own) await this.browser.begin(confirmed.accountId, false, visit, reply);
    if (own || visit.visitor) return new Redirect(own ? '/' : '/account', CONFIRMED);
    return new Redirect('/sign-in', { ...CONFIRMED, text: 'Sign in to continue.' });
  }

  @Post('renew')
  async renew(@Body() { t }: FormBody, @CurrentVisit() visit: Visit): Promise<Page | Redirect> {
    const sent = await this.proof
      .renew(visit, tokenIn(t))
      .then(() => true as const, tellSentJustNow('/sign-in'))
      .catch(refused);
    if (!sent) return this.page('');
    if (sent !== true) return sent;
    return new Redirect('/sign-in', {
      tone: 'ok',
      title: 'Email sent',
      text: 'Only its link is valid.',
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

function refused(error: unknown): undefined {
  if (!(error instanceof LinkRefused)) throw error;
}
