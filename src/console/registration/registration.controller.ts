import { Body, Controller, Get, Injectable, Module, Post, Res } from '@nestjs/common';
import { IsEmail, IsNotEmpty, IsString, MaxLength, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { PasswordPolicy, PasswordSignInIsOff, providerLink, SignInProviders, type Visit } from '../../auth/index.js';
import { OnboardingModule, Registrations, SignUpRules } from '../../keys/onboarding/index.js';
import { SettingsModule } from '../../platform/settings/index.js';
import { Secret } from '../../platform/shared/index.js';
import { AccessModule, Public } from '../access/index.js';
import { CurrentVisit, Form, type FormBody, FormOrigin, Page, Redirect, Trimmed, VisitCookies } from '../web/index.js';
import { AccountEmailController } from './account-email.controller.js';
import { PasswordController } from './password.controller.js';
import { ProviderRegistrationController } from './provider-registration.controller.js';
import { VerifyAddressController, VerifyController, VerifyLinkController } from './verify.controller.js';

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

/** How new users can sign in. */
@Injectable()
class RegistrationWays {
  constructor(
    private readonly signInProviders: SignInProviders,
    private readonly policy: PasswordPolicy,
  ) {}

  async providers() {
    return (await this.signInProviders.list()).map((provider) => providerLink(provider, '/'));
  }

  /** Not to accounts that could not sign in with their password. */
  async arePasswordsOffered(): Promise<boolean> {
    return !(await this.policy.rules()).isOff;
  }
}

@Controller('register')
@Public()
class RegistrationController {
  constructor(
    private readonly registrations: Registrations,
    private readonly rules: SignUpRules,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
    private readonly ways: RegistrationWays,
  ) {}

  @Get()
  async show(@CurrentVisit() { visitor }: Visit): Promise<Page | Redirect> {
    return visitor === undefined ? this.page(Form.empty<RegistrationForm>()) : new Redirect('/');
  }

  /** Assigns a new token, so that a planted token cannot see the pending verification. */
  @Post()
  async begin(
    @Body() body: FormBody,
    @CurrentVisit() { ip }: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    if (!(await this.ways.arePasswordsOffered())) throw new PasswordSignInIsOff();
    const form = Form.read(RegistrationForm, body);
    const token = this.cookies.newToken();
    const isStarted = await form.succeeds(({ password, ...entered }) =>
      this.registrations.begin({ ...entered, password: new Secret(password) }, this.forms.tokenFor(token), ip),
    );
    if (!isStarted) return this.page(form);
    this.cookies.setToken(reply, token);
    return new Redirect('/verify');
  }

  private async page(form: Form<RegistrationForm>): Promise<Page> {
    const { closed, invitationNeeded, domains } = this.rules;
    if (closed) return new Page('onboarding/closed', { title: 'Request access', layout: 'auth' });
    const domainHint =
      domains.length > 0 ? `Use an email address that ends in ${domains.map((name) => `@${name}`).join(' or ')}.` : '';
    const [providers, isOffered] = [await this.ways.providers(), await this.ways.arePasswordsOffered()];
    const data = { form, invitationNeeded, domains: domainHint, providers, isOffered };
    return new Page('onboarding/register', { title: 'Create account', layout: 'auth', data });
  }
}

@Module({
  imports: [AccessModule, OnboardingModule, SettingsModule],
  controllers: [
    RegistrationController,
    ProviderRegistrationController,
    VerifyController,
    VerifyAddressController,
    VerifyLinkController,
    PasswordController,
    AccountEmailController,
  ],
  providers: [RegistrationWays],
})
export class RegistrationPagesModule {}
