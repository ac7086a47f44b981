import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { Operator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, type FormBody, type Page, type Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { SettingsPages } from './settings.pages.js';
import { TestMailPages } from './test-mail.pages.js';
import { DefaultLimitPages } from './default-limits.pages.js';

@Controller('admin/settings')
@Operator()
export class SettingsController {
  constructor(
    private readonly pages: SettingsPages,
    private readonly testMail: TestMailPages,
    private readonly limits: DefaultLimitPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.pages.show(visitor);
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
  saveLimits(
    @CurrentVisitor() visitor: Visitor,
    @Param('kind') kind: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.limits.save(visitor, kind, body);
  }
}
