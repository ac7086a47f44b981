import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsEmail, IsNotEmpty, IsString } from 'class-validator';
import { asFieldError, SignIn, type Visit, type Visitor } from '../../auth/index.js';
import { AddressChange } from '../../keys/onboarding/index.js';
import { Clock, Secret } from '../../platform/shared/index.js';
import { SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';
import { asCodeError, CodeForm, sentMail, ifResentTooSoon } from './verify.controller.js';

class EmailForm {
  @IsEmail({ allow_utf8_local_part: false }, { message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';

  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';
}

@Controller('account/email')
@SignedIn()
export class AccountEmailController {
  constructor(
    private readonly change: AddressChange,
    private readonly signIn: SignIn,
    private readonly clock: Clock,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.page(visitor, { form: Form.empty() });
  }

  @Post()
  async request(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
  ): Promise<Page | Redirect> {
    const form = Form.read(EmailForm, body);
    const next = await form.attempt((value) => this.requested(visitor, value, visit));
    return next ?? this.page(visitor, { form });
  }

  @Post('confirm')
  async confirm(@Body() body: FormBody, @CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    const form = Form.read(CodeForm, body);
    const confirmed = await form.attempt(({ code }) => this.change.confirm(visitor, code).catch(asCodeError));
    return confirmed ? new Redirect('/account', CONFIRMED) : this.page(visitor, { form, codeRefused: true });
  }

  @Post('resend')
  resend(@CurrentVisit() visit: Visit, @CurrentVisitor() visitor: Visitor): Promise<Redirect> {
    return this.change
      .sendAgain(visitor, visit)
      .then(() => new Redirect('/account/email', SENT), ifResentTooSoon('/account/email'));
  }

  private async requested(visitor: Visitor, { email, currentPassword }: EmailForm, visit: Visit): Promise<Redirect> {
    await this.signIn.confirm(visitor, new Secret(currentPassword)).catch(asFieldError('currentPassword'));
    return this.change
      .request(visitor, email, visit)
      .then(() => new Redirect('/account/email', SENT), ifResentTooSoon('/account/email'));
  }

  private async page(visitor: Visitor, data: { form: Form<object>; codeRefused?: boolean }): Promise<Page> {
    const waiting = await this.change.waiting(visitor);
    const sent = waiting && sentMail(waiting.email, waiting, this.clock.date());
    return new Page('account/email', {
      title: 'Change email address',
      width: 'narrow',
      data: { ...data, email: visitor.email, sent, crumbs: CRUMBS },
    });
  }
}

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Email' }];
const CONFIRMED = { tone: 'ok', title: 'Email address changed', text: 'Use it the next time you sign in.' } as const;
const SENT = { tone: 'ok', title: 'Email sent', text: 'Enter the code from the email, or follow its link.' } as const;
