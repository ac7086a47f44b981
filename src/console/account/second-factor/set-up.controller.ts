import { Body, Controller, Get, Post } from '@nestjs/common';
import { IsString, Matches } from 'class-validator';
import { UnreadableSecret } from '../../../platform/shared/index.js';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import {
  ConfirmedForm,
  FactorSetUp,
  RecentSignIn,
  SecondFactorIsOn,
  SecondFactors,
  type Visitor,
} from '../../../auth/index.js';
import { SecondFactorSetUp } from '../../access/index.js';
import { recoveryCodesPage, setUpPage, startPage, toAccount } from './recovery-codes.controller.js';

class FirstCodeForm {
  /** The sealed secret from the page. */
  @IsString({ message: 'This form is incomplete. Reload the page and try again.' })
  readonly sealed: string = '';

  @Matches(/\d/, { message: 'Enter the current six-digit code from the app.' })
  readonly code: string = '';
}

const ON_ALREADY = {
  tone: 'warn',
  title: 'Two-factor authentication is already on',
  text: 'Its recovery codes were shown once. If you did not store them, create new ones.',
} as const;
const BEGIN_AGAIN = {
  tone: 'warn',
  title: 'Start over',
  text: 'The QR code belonged to another session. Remove it from your app.',
} as const;

/** Turns two-factor authentication on: password, QR code, first code, and recovery codes, shown once. */
@Controller('account/second-factor')
@SecondFactorSetUp()
export class SetUpController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly setUp: FactorSetUp,
    private readonly recent: RecentSignIn,
  ) {}

  @Get()
  async show(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) !== undefined) return toAccount();
    return startPage(visitor, Form.empty(), this.recent.needed(visitor));
  }

  @Post()
  async begin(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) !== undefined) return toAccount(ON_ALREADY);
    const form = Form.read(ConfirmedForm, body);
    const sealed = await form.attempt(async ({ password }) => {
      await this.recent.confirm(visitor, password);
      return this.setUp.begin(visitor);
    });
    if (sealed === undefined) return startPage(visitor, form, this.recent.needed(visitor));
    return setUpPage(visitor, Form.empty(), this.setUp.shown(visitor, sealed));
  }

  @Post('on')
  async turnOn(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(FirstCodeForm, body);
    try {
      const codes = await form.attempt(({ sealed, code }) => this.setUp.finish(visitor, sealed, code));
      if (codes !== undefined) return recoveryCodesPage(visitor, codes, 'Two-factor authentication is on');
      return setUpPage(visitor, form, this.setUp.shown(visitor, String(form.values['sealed'])));
    } catch (error) {
      if (error instanceof SecondFactorIsOn) return toAccount(ON_ALREADY);
      if (error instanceof UnreadableSecret) return new Redirect('/account/second-factor', BEGIN_AGAIN);
      throw error;
    }
  }
}
