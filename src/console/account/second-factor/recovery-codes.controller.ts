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

/** Other recovery codes, and their file. */
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

  /** They are stored as hashes alone: the page that shows them sends them back. */
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

/** Back to the password alone. */
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

/** What is asked of whoever weakens how they sign in. */
class BothFactorsForm {
  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';

  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  @IsNotEmpty({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  /** For password managers alone. */
  @IsOptional()
  readonly email?: unknown;
}

const TITLE = 'Second factor';
/** Where its state stands. */
const ACCOUNT_CARD = '/account#signing-in';

const crumbsTo = (label: string) => [{ href: '/account', label: 'Account' }, { label }];

/** Told where it was turned off in another window. */
const OFF_ALREADY = { tone: 'warn', title: 'Two-factor authentication is already off' } as const;

/** Whoever must set it up before anything else has nowhere else to go: the page stands by itself. */
const frameOf = ({ secondFactorMissing }: Visitor) =>
  secondFactorMissing ? ({ layout: 'auth' } as const) : ({ width: 'narrow' } as const);

/** What it is, and the password where the sign-in is not recent. */
export const startPage = (visitor: Visitor, form: Form<object>, passwordNeeded: boolean): Page =>
  new Page('account/second-factor', {
    title: TITLE,
    ...frameOf(visitor),
    data: { form, passwordNeeded, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The QR code, and the first code. */
export const setUpPage = (visitor: Visitor, form: Form<object>, shown: SecretView): Page =>
  new Page('account/second-factor-set-up', {
    title: 'Set up your app',
    ...frameOf(visitor),
    data: { form, ...shown, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The one page that recovery codes stand on. */
export const recoveryCodesPage = (visitor: Visitor, codes: readonly string[], title: string): Page =>
  new Page('account/recovery-codes', {
    title,
    ...frameOf(visitor),
    data: { title, text: codes.join('\n'), required: visitor.secondFactorMissing, crumbs: crumbsTo('Recovery codes') },
  });

/** A form that takes the password and a code. */
const bothFactorsPage = (view: string, title: string, visitor: Visitor, form: Form<object>): Page =>
  new Page(`account/${view}`, {
    title,
    width: 'narrow',
    data: { form, email: visitor.email, required: visitor.secondFactorNeeded, crumbs: crumbsTo(title) },
  });

export const toAccount = (flash?: Flash): Redirect => new Redirect(ACCOUNT_CARD, flash);
