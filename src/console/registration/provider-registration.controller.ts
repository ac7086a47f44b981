import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import { PendingIdentities, type ProvedIdentity, SecurityLog, type Visit } from '../../auth/index.js';
import { IdentityAccounts, SignUpRules } from '../../keys/onboarding/index.js';
import { AppError } from '../../platform/shared/index.js';
import { BrowserSignIn, Public } from '../access/index.js';
import { CurrentVisit, Form, type FormBody, Page, Redirect, Trimmed } from '../web/index.js';

class ProviderRegistrationForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter your name.' })
  @MaxLength(100, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @IsString({ message: 'Enter your invitation code.' })
  readonly invitation: string = '';
}

const EXPIRED = { tone: 'warn', title: 'Sign-in expired', text: 'Sign in with the provider again.' } as const;

/** Creates the account of a user whom a provider has identified. */
@Controller('register/provider')
@Public()
export class ProviderRegistrationController {
  constructor(
    private readonly pending: PendingIdentities,
    private readonly accounts: IdentityAccounts,
    private readonly rules: SignUpRules,
    private readonly browser: BrowserSignIn,
    private readonly log: SecurityLog,
  ) {}

  @Get()
  async show(@CurrentVisit() { visitor, csrf }: Visit): Promise<Page | Redirect> {
    if (visitor !== undefined) return new Redirect('/');
    const proved = await this.pending.of(csrf);
    if (proved === undefined) return new Redirect('/sign-in', EXPIRED);
    return this.page(proved, Form.empty<ProviderRegistrationForm>({ name: proved.identity.name }));
  }

  @Post()
  async create(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const proved = visit.visitor === undefined ? await this.pending.of(visit.csrf) : undefined;
    if (proved === undefined) return new Redirect('/sign-in', EXPIRED);
    const form = Form.read(ProviderRegistrationForm, body);
    try {
      const accountId = await form.attempt((owner) => this.accounts.open(proved, owner));
      if (accountId === undefined) return this.page(proved, form);
      await this.pending.end(visit.csrf);
      await this.browser.adoptTimeZone(accountId, body);
      await this.browser.begin(accountId, false, visit, reply, proved.providerSessionId);
      this.log.signedIn(accountId, visit.ip);
      return new Redirect(proved.next, { tone: 'ok', title: 'Account created', text: 'Your account is ready.' });
    } catch (error) {
      // The rules, or the accounts, have changed since the page was shown.
      if (!(error instanceof AppError) || error.kind !== 'permission_denied') throw error;
      return new Redirect('/sign-in', { tone: 'bad', title: 'No account created', text: error.message });
    }
  }

  private page({ provider, identity }: ProvedIdentity, form: Form<ProviderRegistrationForm>): Page {
    const { email } = identity;
    const data = { form, email, provider: provider.label, invitationNeeded: this.rules.invitationNeeded };
    return new Page('onboarding/register-provider', { title: 'Create account', layout: 'auth', data });
  }
}
