import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  OwnSecondFactor,
  recoveryCodeHash,
  SecondFactorIsOff,
  SecondFactors,
  type SecretView,
  type Visitor,
} from '../../../auth/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import { SecondFactorSetUp, SignedIn } from '../../access/index.js';
import { CurrentVisitor, type Flash, Form, type FormBody, Page, Redirect } from '../../web/index.js';

/** Renews recovery codes, and downloads them. */
@Controller('account/second-factor/recovery-codes')
@SignedIn()
export class RecoveryCodesController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly own: OwnSecondFactor,
    private readonly address: BaseAddress,
  ) {}

  @Get()
  async ask(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) === undefined) return toAccount();
    return this.page(visitor, Form.empty());
  }

  @Post()
  async renew(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(BothFactorsForm, body);
    try {
      const codes = await form.attempt((given) => this.own.renewCodes(visitor, given));
      return codes ? recoveryCodesPage(visitor, codes, 'New recovery codes') : this.page(visitor, form);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return toAccount(OFF_ALREADY);
      throw error;
    }
  }

  /** Only hashes are stored, so the page sends the codes back. */
  @Post('file')
  @SecondFactorSetUp()
  file(@Body() { codes }: FormBody, @CurrentVisitor() { email }: Visitor, @Res() reply: FastifyReply): void {
    const lines = String(codes)
      .split(/\r?\n/)
      .filter((line) => recoveryCodeHash(line) !== undefined);
    const head = [`Recovery codes of ${email} at ${this.address.current()}`, 'Each works once.', ''];
    void reply
      .headers({ 'cache-control': 'no-store', 'content-disposition': 'attachment; filename="recovery-codes.txt"' })
      .type('text/plain; charset=utf-8')
      .send([...head, ...lines, ''].join('\n'));
  }

  private page(visitor: Visitor, form: Form<BothFactorsForm>): Page {
    return bothFactorsPage('recovery-codes-new', 'New recovery codes', visitor, form);
  }
}

const OFF = {
  tone: 'ok',
  title: 'Two-factor authentication turned off',
  text: 'All other sessions are signed out.',
} as const;

/** Turns two-factor authentication off. */
@Controller('account/second-factor/off')
@SignedIn()
export class TurnOffController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly own: OwnSecondFactor,
  ) {}

  @Get()
  async ask(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId)) === undefined) return toAccount();
    return this.page(visitor, Form.empty());
  }

  @Post()
  async turnOff(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(BothFactorsForm, body);
    try {
      const done = await form.attempt(async (given) => {
        await this.own.turnOff(visitor, given);
        return true;
      });
      return done ? toAccount(OFF) : this.page(visitor, form);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return toAccount(OFF_ALREADY);
      throw error;
    }
  }

  private page(visitor: Visitor, form: Form<BothFactorsForm>): Page {
    return bothFactorsPage('second-factor-off', 'Turn off two-factor authentication', visitor, form);
  }
}

/** Both factors, required for weakening the sign-in. */
class BothFactorsForm {
  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';

  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  /** For password managers only. */
  @IsOptional()
  readonly email?: unknown;
}

const TITLE = 'Second factor';
/** Section with its state. */
const ACCOUNT_CARD = '/account#signing-in';

const crumbsTo = (label: string) => [{ href: '/account', label: 'Account' }, { label }];

/** It was turned off in another window. */
const OFF_ALREADY = { tone: 'warn', title: 'Two-factor authentication is already off' } as const;

/** Users who must set it up cannot navigate elsewhere. */
const frameOf = ({ secondFactorMissing }: Visitor) =>
  secondFactorMissing ? ({ layout: 'auth' } as const) : ({ width: 'narrow' } as const);

/** Explains it, and asks for the password unless the sign-in is recent. */
export const startPage = (visitor: Visitor, form: Form<object>, passwordNeeded: boolean): Page =>
  new Page('account/second-factor', {
    title: TITLE,
    ...frameOf(visitor),
    data: { form, passwordNeeded, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** Shows the QR code and asks for the first code. */
export const setUpPage = (visitor: Visitor, form: Form<object>, shown: SecretView): Page =>
  new Page('account/second-factor-set-up', {
    title: 'Set up your app',
    ...frameOf(visitor),
    data: { form, ...shown, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The only page that shows recovery codes. */
export const recoveryCodesPage = (visitor: Visitor, codes: readonly string[], title: string): Page =>
  new Page('account/recovery-codes', {
    title,
    ...frameOf(visitor),
    data: { title, text: codes.join('\n'), required: visitor.secondFactorMissing, crumbs: crumbsTo('Recovery codes') },
  });

/** A form with password and code. */
const bothFactorsPage = (view: string, title: string, visitor: Visitor, form: Form<object>): Page =>
  new Page(`account/${view}`, {
    title,
    width: 'narrow',
    data: { form, email: visitor.email, required: visitor.secondFactorNeeded, crumbs: crumbsTo(title) },
  });

export const toAccount = (flash?: Flash): Redirect => new Redirect(ACCOUNT_CARD, flash);
