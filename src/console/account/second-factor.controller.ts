import { Body, Controller, Get, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString, Matches } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  ConfirmedForm,
  FactorSetUp,
  OwnSecondFactor,
  RecentSignIn,
  recoveryCodeHash,
  SecondFactorIsOff,
  SecondFactorIsOn,
  type SecondFactor,
  SecondFactors,
  type SecretView,
  type Visitor,
} from '../../auth/index.js';
import { BaseAddress } from '../../platform/config/index.js';
import { UnreadableSecret } from '../../platform/shared/index.js';
import { SecondFactorSetUp, SignedIn } from '../access/index.js';
import { CurrentVisitor, type Flash, Form, type FormBody, Page, Redirect } from '../web/index.js';

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
  text: 'The QR code belonged to another session. Remove its entry from your app and scan the new code.',
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
    if ((await this.factors.of(visitor.accountId))?.hasApp) return toAccount();
    return startPage(visitor, Form.empty(), this.recent.needed(visitor));
  }

  @Post()
  async begin(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    if ((await this.factors.of(visitor.accountId))?.hasApp) return toAccount(ON_ALREADY);
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
  async showForm(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
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
    const head = [`Recovery codes for ${email} at ${this.address.current()}`, 'Each works once.', ''];
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
const APP_OFF = {
  tone: 'ok',
  title: 'Authenticator app removed',
  text: 'You now sign in with a passkey. All other sessions are signed out.',
} as const;

@Controller('account/second-factor/off')
@SignedIn()
export class TurnOffController {
  constructor(
    private readonly factors: SecondFactors,
    private readonly own: OwnSecondFactor,
  ) {}

  @Get()
  async showForm(@CurrentVisitor() visitor: Visitor): Promise<Page | Redirect> {
    const factor = await this.factors.of(visitor.accountId);
    return factor?.hasApp ? this.page(visitor, Form.empty(), factor) : toAccount();
  }

  @Post()
  async turnOff(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(BothFactorsForm, body);
    try {
      const isOff = await form.succeeds((given) => this.own.turnOff(visitor, given));
      const factor = await this.factors.of(visitor.accountId);
      if (!isOff) return this.page(visitor, form, factor);
      return toAccount(factor === undefined ? OFF : APP_OFF);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return toAccount(OFF_ALREADY);
      throw error;
    }
  }

  private page(visitor: Visitor, form: Form<BothFactorsForm>, factor: SecondFactor | undefined): Page {
    const isLast = factor === undefined || factor.passkeys === 0;
    const title = isLast ? 'Turn off two-factor authentication' : 'Remove authenticator app';
    return bothFactorsPage('second-factor-off', title, visitor, form, { isLast });
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

const TITLE = 'Two-factor authentication';
const ACCOUNT_CARD = '/account#signing-in';

const crumbsTo = (label: string) => [{ href: '/account', label: 'Account' }, { label }];

/** It was turned off in another window. */
const OFF_ALREADY = { tone: 'warn', title: 'Two-factor authentication is already off' } as const;

/** Users who must set it up cannot navigate elsewhere. */
export const layoutOf = ({ secondFactorMissing }: Visitor) =>
  secondFactorMissing ? ({ layout: 'auth' } as const) : ({ width: 'narrow' } as const);

/** Explains it, and asks for the password unless the sign-in is recent. */
const startPage = (visitor: Visitor, form: Form<object>, passwordNeeded: boolean): Page =>
  new Page('account/second-factor', {
    title: TITLE,
    ...layoutOf(visitor),
    data: { form, passwordNeeded, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

const setUpPage = (visitor: Visitor, form: Form<object>, shown: SecretView): Page =>
  new Page('account/second-factor-set-up', {
    title: 'Set up your app',
    ...layoutOf(visitor),
    hasSecret: true,
    data: { form, ...shown, required: visitor.secondFactorMissing, crumbs: crumbsTo(TITLE) },
  });

/** The only page that shows recovery codes. */
export const recoveryCodesPage = (visitor: Visitor, codes: readonly string[], title: string): Page =>
  new Page('account/recovery-codes', {
    title,
    ...layoutOf(visitor),
    hasSecret: true,
    data: { title, text: codes.join('\n'), required: visitor.secondFactorMissing, crumbs: crumbsTo('Recovery codes') },
  });

const bothFactorsPage = (
  view: string,
  title: string,
  { email, secondFactorNeeded }: Visitor,
  form: Form<object>,
  more: { readonly isLast?: boolean } = {},
): Page =>
  new Page(`account/${view}`, {
    title,
    width: 'narrow',
    data: { form, title, email, required: secondFactorNeeded, crumbs: crumbsTo(title), ...more },
  });

const toAccount = (flash?: Flash): Redirect => new Redirect(ACCOUNT_CARD, flash);
