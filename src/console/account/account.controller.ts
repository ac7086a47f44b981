import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsNotEmpty, IsTimeZone, MaxLength } from 'class-validator';
import { Settings } from '../../platform/settings/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect, Trimmed } from '../web/index.js';
import { SignedIn } from '../access/index.js';
import {
  AccountService,
  idleTime,
  SecondFactors,
  SessionService,
  TimeZones,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { sessionViews, themeOptions, timeZoneOptions } from './account.view.js';

class ProfileForm {
  @Trimmed()
  @IsNotEmpty({ message: 'Enter your name.' })
  @MaxLength(100, { message: 'Enter a name of at most 100 characters.' })
  readonly name: string = '';

  @IsTimeZone({ message: 'Choose a time zone from the list.' })
  readonly timeZone: string = '';
}

/** Who one is, and where one is signed in. */
@Controller('account')
@SignedIn()
export class AccountController {
  constructor(
    private readonly accounts: AccountService,
    private readonly sessions: SessionService,
    private readonly timeZones: TimeZones,
    private readonly factors: SecondFactors,
    private readonly settings: Settings,
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
    const done = await form.attempt((profile) => this.changed(visitor, profile));
    return done ? new Redirect('/account', { tone: 'ok', title: 'Saved' }) : this.page(visit, visitor, form);
  }

  private async changed({ accountId }: Visitor, { name, timeZone }: ProfileForm): Promise<true> {
    await this.timeZones.check(timeZone);
    await this.accounts.rename(accountId, name);
    await this.accounts.setTimeZone(accountId, timeZone);
    return true;
  }

  private async page({ theme }: Visit, visitor: Visitor, form: Form<ProfileForm>): Promise<Page> {
    const sessions = sessionViews(await this.sessions.list(visitor.accountId), visitor.sessionId);
    const data = {
      form,
      email: visitor.email,
      secondFactor: await this.factors.of(visitor.accountId),
      sessions,
      others: sessions.length > 1,
      idle: idleTime(this.settings.current().signIn.sessionIdleHours),
      timeZones: timeZoneOptions(await this.timeZones.list()),
      themes: themeOptions(theme),
    };
    return new Page('account/account', { title: 'Account', width: 'narrow', data });
  }
}
