import { Body, Controller, Get, Module, Post, Res } from '@nestjs/common';
import { IsEmail, IsNotEmpty, IsString, MaxLength, MinLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { providerLink, SignInProviders, type Visit } from '../../auth/index.js';
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

@Controller('register')
@Public()
class RegistrationController {
  constructor(
    private readonly registrations: Registrations,
    private readonly rules: SignUpRules,
    private readonly cookies: VisitCookies,
    private readonly forms: FormOrigin,
    private readonly providers: SignInProviders,
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
    const providers = (await this.providers.list()).map((provider) => providerLink(provider, '/'));
    const data = { form, invitationNeeded, domains: domainHint, providers };
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
})
export class RegistrationPagesModule {}
