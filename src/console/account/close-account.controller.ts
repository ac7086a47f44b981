import { Body, Controller, Get, Injectable, Post, Res } from '@nestjs/common';
import { IsNotEmpty, IsOptional, IsString } from 'class-validator';
import type { FastifyReply } from 'fastify';
import {
  AccountMails,
  AccountStatus,
  LastAdministrator,
  OwnSecondFactor,
  SecondFactors,
  SecurityLog,
  type Visit,
  type Visitor,
} from '../../auth/index.js';
import { OwnsOrganizations } from '../../keys/index.js';
import { AccountDeletion } from '../../keys/onboarding/index.js';
import { WalletInUse, WalletService } from '../../wallet/index.js';
import { BrowserSignIn, SignedIn } from '../access/index.js';
import { CurrentVisit, CurrentVisitor, Form, type FormBody, Page, Redirect } from '../web/index.js';

class CloseAccountForm {
  @IsString({ message: 'Enter your current password.' })
  @IsNotEmpty({ message: 'Enter your current password.' })
  readonly currentPassword: string = '';

  /** Only shown if two-factor authentication is on. */
  @IsString({ message: 'Enter the code from your app, or a recovery code.' })
  readonly code: string = '';

  /** For password managers only. */
  @IsOptional()
  readonly email?: unknown;
}

const CRUMBS = [{ href: '/account', label: 'Account' }, { label: 'Close account' }];

const CLOSED = {
  tone: 'ok',
  title: 'Account closed',
  text: 'Your name, email address and password were erased, and your API keys no longer work.',
} as const;

/** Closes accounts for their owners. */
@Injectable()
export class AccountClosing {
  constructor(
    private readonly factors: OwnSecondFactor,
    private readonly deletion: AccountDeletion,
    private readonly mails: AccountMails,
    private readonly log: SecurityLog,
  ) {}

  /** Requires password and code. @throws as `OwnSecondFactor.confirm` and `AccountDeletion.run` */
  async close(visitor: Visitor, given: CloseAccountForm): Promise<void> {
    await this.factors.confirm(visitor, given);
    await this.deletion.run(visitor.accountId, 'Account closed by its owner');
    this.log.closed(visitor);
    this.mails.sendAccountClosed(visitor.email);
  }
}

/** `/account/close`: deletes one's own account. */
@Controller('account/close')
@SignedIn()
export class CloseAccountController {
  constructor(
    private readonly closing: AccountClosing,
    private readonly wallets: WalletService,
    private readonly factors: SecondFactors,
    private readonly status: AccountStatus,
    private readonly browser: BrowserSignIn,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor): Promise<Page> {
    return this.page(visitor, Form.empty());
  }

  @Post()
  async close(
    @Body() body: FormBody,
    @CurrentVisit() visit: Visit,
    @CurrentVisitor() visitor: Visitor,
    @Res({ passthrough: true }) reply: FastifyReply,
  ): Promise<Page | Redirect> {
    const form = Form.read(CloseAccountForm, body);
    try {
      const isClosed = await form.succeeds((given) => this.closing.close(visitor, given));
      if (!isClosed) return await this.page(visitor, form);
    } catch (error) {
      // The page says why.
      if (!REFUSALS.some((type) => error instanceof type)) throw error;
      return this.page(visitor, Form.empty(), 409);
    }
    await this.browser.end(visit, reply);
    return new Redirect('/sign-in', CLOSED);
  }

  private async page({ accountId, email, organizations }: Visitor, form: Form<object>, status?: number): Promise<Page> {
    const { balance, owed, holds } = await this.wallets.balanceOf(accountId);
    const data = {
      form,
      email,
      balance,
      owed: owed > 0n ? owed : undefined,
      running: holds,
      owned: organizations
        .filter(({ role }) => role === 'owner')
        .map(({ name }) => `“${name}”`)
        .join(', '),
      isLastAdministrator: await this.status.isLastAdministrator(accountId),
      secondFactor: (await this.factors.of(accountId)) !== undefined,
      crumbs: CRUMBS,
    };
    return new Page('account/close', { title: 'Close account', width: 'narrow', status, data });
  }
}

/** Reasons that the page shows. */
const REFUSALS = [WalletInUse, LastAdministrator, OwnsOrganizations];
