import { Body, Controller, Get, Module, Param, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsTimeZone, MaxLength } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  AccountService,
  browserName,
  idleTime,
  type Session,
  SessionService,
  TimeZones,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { AlertsModule } from '../../keys/alerts/index.js';
import { KeysModule } from '../../keys/index.js';
import { OnboardingModule } from '../../keys/onboarding/index.js';
import { Settings, SettingsModule } from '../../platform/settings/index.js';
import { AppError } from '../../platform/shared/index.js';
import { UsageModule } from '../../usage/index.js';
import { WalletModule } from '../../wallet/index.js';
import { AccessModule, Public, SignedIn } from '../access/index.js';
import {
  CurrentVisit,
  CurrentVisitor,
  Form,
  type FormBody,
  localPath,
  Page,
  Redirect,
  Trimmed,
  VisitCookies,
} from '../web/index.js';
import { AccountDataController, AccountExport, AccountFacts } from './account-data.controller.js';
import { AccountPasswordController, OwnPasswordController } from './account-password.controller.js';
import { AlertsController } from './alerts.controller.js';
import { AccountClosing, CloseAccountController } from './close-account.controller.js';
import { PasskeysController, PasskeySignInController } from './passkeys.controller.js';
import { RecoveryCodesController, SetUpController, TurnOffController } from './second-factor.controller.js';
import { ConfirmSignInController, ProviderConfirmation, ProviderTrial } from './provider-arrivals.js';
import { ProviderLogoutController, SignOut } from './provider-logout.controller.js';
import {
  IdentityDecisions,
  ProviderArrivals,
  ProviderSignInController,
  ProviderSteps,
  SignInMethodsController,
  SignInMethodViews,
} from './provider-sign-in.controller.js';
import { PendingSignIns, SignInSteps } from './sign-in-steps.js';
import { SignInCodeController, SignInController, SignInPages } from './sign-in.controller.js';

class ProfileForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter your name.' })
  @MaxLength(100, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @IsTimeZone({ message: 'Choose a time zone from the list.' })
  readonly timeZone: string = '';
}

@Controller('account')
@SignedIn()
class AccountController {
  constructor(
    private readonly accounts: AccountService,
    private readonly sessions: SessionService,
    private readonly timeZones: TimeZones,
    private readonly settings: Settings,
    private readonly methods: SignInMethodViews,
  ) {}

  @Get()
  show(@CurrentVisit() visit: Visit, @CurrentVisitor() visitor: Visitor): Promise<Page> {
    const { name, timeZone } = visitor;
    return this.page(visit, visitor, Form.empty({ name, timeZone }));
  }

  @Post('profile')
  async change(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<Page | Redirect> {
    const form = Form.read(ProfileForm, body);
    const isSaved = await form.succeeds(async ({ name, timeZone }) => {
      await this.timeZones.check(timeZone);
      await this.accounts.rename(visitor.accountId, name);
      await this.accounts.setTimeZone(visitor.accountId, timeZone);
    });
    return isSaved ? new Redirect('/account', { tone: 'ok', title: 'Profile saved' }) : this.page(visit, visitor, form);
  }

  private async page({ theme }: Visit, visitor: Visitor, form: Form<ProfileForm>): Promise<Page> {
    const sessions = sessionViews(await this.sessions.list(visitor.accountId), visitor.sessionId);
    const data = {
      form,
      email: visitor.email,
      hasPassword: visitor.hasPassword,
      ...(await this.methods.of(visitor.accountId)),
      sessions,
      others: sessions.length > 1,
      idle: idleTime(this.settings.current().signUp.sessionIdleHours),
      timeZones: timeZoneOptions(await this.timeZones.list()),
      themes: themeOptions(theme),
    };
    return new Page('account/account', { title: 'Account', width: 'narrow', data });
  }
}

/** The current session first, then by last use. */
export const sessionViews = (sessions: readonly Session[], currentId: string) =>
  sessions
    .map(({ userAgent, ...session }) => ({
      ...session,
      browser: browserName(userAgent),
      current: session.id === currentId,
    }))
    .toSorted((one, other) => Number(other.current) - Number(one.current));

const timeZoneOptions = (zones: readonly string[]) =>
  zones.map((zone) => ({ value: zone, label: zone.replaceAll('_', ' ') }));

const themeOptions = (theme: 'light' | 'dark' | undefined) => [
  { value: 'system', label: 'Match system', chosen: theme === undefined },
  { value: 'light', label: 'Light', chosen: theme === 'light' },
  { value: 'dark', label: 'Dark', chosen: theme === 'dark' },
];

@Controller('account/sessions')
@SignedIn()
class AccountSessionsController {
  constructor(private readonly sessions: SessionService) {}

  @Post('others/end')
  async endOthers(@CurrentVisitor() { accountId, sessionId }: Visitor): Promise<Redirect> {
    await this.sessions.endAllOf(accountId, sessionId);
    return new Redirect('/account', { tone: 'ok', title: 'All other sessions are signed out' });
  }

  /** Sessions of other accounts are not found. */
  @Post(':id/end')
  async end(@Param('id') id: string, @CurrentVisitor() { accountId }: Visitor): Promise<Redirect> {
    await this.sessions.end(accountId, id);
    return new Redirect('/account', { tone: 'ok', title: 'Session signed out' });
  }
}

/** Browser preferences: theme, and dismissed messages. */
@Controller()
@Public()
class PreferencesController {
  constructor(private readonly cookies: VisitCookies) {}

  /** `theme`: light, dark, or other values for the system's. `back`: the page it was chosen on. */
  @Post('theme')
  theme(@Body() { theme, back }: FormBody, @Res({ passthrough: true }) reply: FastifyReply): Redirect {
    this.cookies.setTheme(reply, theme === 'light' || theme === 'dark' ? theme : undefined);
    return new Redirect(localPath(back));
  }

  /** Messages are shown once, so reloading the page removes them. */
  @Post('flash/dismiss')
  dismiss(@Body() { back }: FormBody): Redirect {
    return new Redirect(localPath(back));
  }
}

@Controller('scope')
@SignedIn()
class ScopeController {
  constructor(private readonly sessions: SessionService) {}

  /** `organization`: its ID; empty for the user's own account. Leads home: what a page shows may not exist there. */
  @Post()
  async switch(@CurrentVisitor() visitor: Visitor, @Body() { organization }: FormBody): Promise<Redirect> {
    if (typeof organization !== 'string') throw new AppError('invalid_request', 'Choose one account.');
    await this.sessions.switchScope(visitor, organization === '' ? undefined : organization);
    return new Redirect('/');
  }
}

@Module({
  imports: [AccessModule, AlertsModule, KeysModule, OnboardingModule, SettingsModule, UsageModule, WalletModule],
  controllers: [
    PreferencesController,
    ScopeController,
    SignInController,
    AccountController,
    AccountPasswordController,
    AccountSessionsController,
    OwnPasswordController,
    SignInCodeController,
    PasskeySignInController,
    PasskeysController,
    ProviderSignInController,
    ProviderLogoutController,
    ConfirmSignInController,
    SignInMethodsController,
    SetUpController,
    TurnOffController,
    RecoveryCodesController,
    AlertsController,
    AccountDataController,
    CloseAccountController,
  ],
  providers: [
    AccountClosing,
    AccountExport,
    AccountFacts,
    IdentityDecisions,
    PendingSignIns,
    ProviderArrivals,
    ProviderConfirmation,
    ProviderSteps,
    ProviderTrial,
    SignInMethodViews,
    SignInPages,
    SignInSteps,
    SignOut,
  ],
})
export class AccountPagesModule {}
