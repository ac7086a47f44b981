import { Body, Controller, Get, Module, Param, Post } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { ChannelsModule } from '../../../catalog/channels/index.js';
import { KeysModule } from '../../../keys/index.js';
import { OnboardingModule } from '../../../keys/onboarding/index.js';
import { MailModule } from '../../../platform/mail/index.js';
import { SettingsModule } from '../../../platform/settings/index.js';
import { RelayModule } from '../../../relay/index.js';
import { UsageModule } from '../../../usage/index.js';
import { AccessModule, Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, Redirect } from '../../web/index.js';
import { DefaultLimitPages } from './default-limits.js';
import { SectionFacts } from './section-facts.js';
import { pathOf, SettingsPages } from './settings.pages.js';
import { ProviderClaimsController } from './provider-claims.controller.js';
import { SignInProvidersController } from './sign-in-providers.controller.js';
import { TestMail } from './test-mail.js';
import { TokenIssuersController } from './token-issuers.controller.js';

@Controller('admin/settings')
@Administrator()
export class SettingsController {
  constructor(
    private readonly pages: SettingsPages,
    private readonly testMail: TestMail,
    private readonly limits: DefaultLimitPages,
  ) {}

  @Get()
  index(): Redirect {
    return new Redirect(pathOf('site'));
  }

  @Get('limits')
  showLimits(): Promise<Page> {
    return this.limits.show();
  }

  /** @param section its path: `site`, `sign-up`, … */
  @Get(':section')
  show(@CurrentVisitor() visitor: Visitor, @Param('section') section: string): Promise<Page> {
    return this.pages.showAt(visitor, section);
  }

  @Post('site')
  saveSite(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.pages.save(visitor, 'site', body);
  }

  @Post('sign-up')
  saveSignUp(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.pages.save(visitor, 'signUp', body);
  }

  @Post('mail')
  saveMail(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.pages.save(visitor, 'mail', body);
  }

  @Post('mail/test')
  sendTestMail(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.testMail.send(visitor, body);
  }

  @Post('payment')
  savePayment(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.pages.save(visitor, 'payment', body);
  }

  @Post('retention')
  @RequiresRecentSignIn()
  saveRetention(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.pages.save(visitor, 'retention', body);
  }

  /** @param kind `key`, `account` or `address` */
  @Post('limits/:kind')
  @RequiresRecentSignIn()
  saveLimits(@Param('kind') kind: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.limits.save(kind, body);
  }
}

/** The settings pages, each with one section, and a test email. */
@Module({
  imports: [
    AccessModule,
    ChannelsModule,
    KeysModule,
    MailModule,
    OnboardingModule,
    RelayModule,
    SettingsModule,
    UsageModule,
  ],
  controllers: [SettingsController, SignInProvidersController, ProviderClaimsController, TokenIssuersController],
  providers: [SettingsPages, SectionFacts, TestMail, DefaultLimitPages],
})
export class SettingPagesModule {}
