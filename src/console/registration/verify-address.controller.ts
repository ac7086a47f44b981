import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsString } from 'class-validator';
import { Unverified } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';
import { type Visit, type Visitor } from '../../auth/index.js';
import { AddressChange } from '../../keys/onboarding/index.js';
import { tellSentJustNow } from './verify.controller.js';
import { formPage } from './verify.view.js';

class AddressForm {
  @IsString({ message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';
}

/** Another address for an account that has shown none to be its own yet. */
@Controller('verify/address')
@Unverified()
export class VerifyAddressController {
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
