import { Body, Controller, Get, Module, Post, Query, Res } from '@nestjs/common';
import { IsEmail, IsNotEmpty, IsString, MaxLength, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { LinkRefused, type Visit, type Visitor } from '../../auth/index.js';
import {
  AddressChange,
  AddressProof,
  isRenewable,
  OnboardingModule,
  Registrations,
  SignUpRules,
} from '../../keys/onboarding/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { Secret } from '../../platform/shared/index.js';
import { AccessModule, BrowserSignIn, Public, Unverified } from '../access/index.js';
import {
  CurrentVisit,
  CurrentVisitor,
  Form,
  type FormBody,
  FormOrigin,
  Page,
  Redirect,
  Trimmed,
  VisitCookies,
} from '../web/index.js';
import { AccountEmailController } from './account-email.controller.js';
import { PasswordController } from './password.controller.js';
import { formPage, tellSentJustNow, VerifyController } from './verify.controller.js';

class RegistrationForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter your name.' })
  @MaxLength(100, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @Trimmed()
  @IsEmail({ allow_utf8_local_part: false }, { message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';

  @MinLength(12, { message: 'Use at least 12 characters. A sentence works well.' })
  readonly password: string = '';

  @IsString({ message: 'Enter your invitation code.' })
  readonly invitation: string = '';
}

@Controller('register')
@Public()
class RegistrationController {
  constructor(
    private readonly registrations: Registrations,
    private readonly rules: SignUpRules,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
  ) {}

  @Get()
  show(@CurrentVisit() { visitor }: Visit): Page | Redirect {
    return visitor === undefined ? this.page(Form.empty<RegistrationForm>()) : new Redirect('/');
  }

  /** From here on the browser is known by another token: nobody who gave it the old one sees what it waits for. */
  @Post()
  async begin(
    @Body() body: FormBody,
    @CurrentVisit() { ip }: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const form = Form.read(RegistrationForm, body);
    const token = this.cookies.newToken();
    const begun = await form.attempt((value) => this.begun(value, this.forms.tokenFor(token), ip));
    if (begun === undefined) return this.page(form);
    this.cookies.setToken(reply, token);
    return new Redirect('/verify');
  }

  private async begun({ password, ...entered }: RegistrationForm, visitKey: string, ip: string): Promise<true> {
    await this.registrations.begin({ ...entered, password: new Secret(password) }, visitKey, ip);
    return true;
  }

  private page(form: Form<RegistrationForm>): Page {
    const { closed, invitationNeeded, domains } = this.rules;
    if (closed) return new Page('onboarding/closed', { title: 'Request access', layout: 'auth' });
    const shown =
      domains.length > 0 ? `Use an email address that ends in ${domains.map((name) => `@${name}`).join(' or ')}.` : '';
    const data = { form, invitationNeeded, domains: shown };
    return new Page('onboarding/register', { title: 'Create account', layout: 'auth', data });
  }
}

class AddressForm {
  @IsString({ message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';
}

/** Another address for an account that has shown none to be its own yet. */
@Controller('verify/address')
@Unverified()
class VerifyAddressController {
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
    return this.change.request(visitor, email, visit).then(() => new Redirect('/verify'), tellSentJustNow('/verify'));
  }
}

/**
 * Where the link of a mail leads: it asks for a click, because programs that look into mail follow links. Whoever clicks
 * may be somebody else than who registered, so only the browser that registered is signed in by it.
 */
@Controller('verify/link')
@Public()
class VerifyLinkController {
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

@Module({
  imports: [AccessModule, OnboardingModule, SettingsModule],
  controllers: [
    RegistrationController,
    VerifyController,
    VerifyAddressController,
    VerifyLinkController,
    PasswordController,
    AccountEmailController,
  ],
})
export class RegistrationPagesModule {}
