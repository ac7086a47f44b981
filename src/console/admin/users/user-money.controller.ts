import { Body, Controller, Get, Injectable, Param, Post } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { exactUsd, price, usd } from '../../../platform/format/index.js';
import { formatUsd, type Nanos, nanos, ZERO } from '../../../platform/shared/index.js';
import { AllowanceService, type WalletPreview, WalletService } from '../../../wallet/index.js';
import { Administrator } from '../../access/index.js';
import { amountOf, CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../../web/index.js';
import { accountPath } from '../list-address.js';
import type { ListedUser } from './user-directory.js';
import { accountView, userCrumbs } from './user-facts.js';
import { AllowanceForm, BalanceForm } from './user-forms.js';
import { UserPages } from './user.pages.js';

/** `…/:id/balance`: an adjustment is previewed before it is made. */
@Injectable()
export class UserBalancePages {
  constructor(
    private readonly users: UserPages,
    private readonly wallets: WalletService,
    private readonly recent: RecentSignIn,
    private readonly once: IdempotentForms,
  ) {}

  async showForm(visitor: Visitor, id: string): Promise<Page> {
    return this.page(visitor, await this.users.findPresentAccount(id), Form.empty({ direction: 'add' }));
  }

  /** Makes a reviewed adjustment; shows the preview if it was not reviewed or has changed since. */
  async adjust(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.findPresentAccount(id);
    const form = Form.read(BalanceForm, body);
    const preview = await form.attempt((value) => this.wallets.preview(id, signed(value)));
    const { value } = form;
    if (value === undefined || preview === undefined) return this.page(visitor, user, form);
    const review = reviewed(value, preview);
    if (value.reviewed !== review.of) return this.page(visitor, user, form, review);
    const adjusted = () => form.attempt(() => this.adjusted(visitor, id, value));
    const there = accountPath(id);
    const result = await this.once.run(visitor.accountId, body, adjusted, () => there);
    if (result === undefined) return this.page(visitor, user, form, review);
    const text = result.made === undefined ? 'This form was already submitted.' : `The balance is now ${result.made}.`;
    return new Redirect(result.location, { tone: 'ok', title: 'Balance adjusted', text });
  }

  /** Returns the new balance, formatted. */
  private async adjusted(visitor: Visitor, id: string, form: BalanceForm): Promise<string> {
    await this.recent.confirm(visitor, form.password);
    return usd((await this.wallets.credit(id, signed(form), form.reason)).balance);
  }

  private async page(visitor: Visitor, user: ListedUser, form: Form<BalanceForm>, review?: Review): Promise<Page> {
    const { balance, held, holds } = await this.wallets.balanceOf(user.id);
    return new Page('admin/users-balance', {
      title: 'Adjust balance',
      width: 'narrow',
      data: {
        form,
        user: accountView(user),
        crumbs: userCrumbs(user, 'Adjust balance'),
        directions: DIRECTIONS,
        balance: exactUsd(balance),
        held: held > 0n ? { amount: exactUsd(held), calls: holds } : undefined,
        review,
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}

const DIRECTIONS = [
  { value: 'add', label: 'Add to balance' },
  { value: 'take', label: 'Deduct from balance' },
];

/** Negative for a deduction. */
function signed({ direction, amount: typed }: BalanceForm): Nanos {
  const amount = amountOf(typed) ?? nanos(0n);
  return direction === 'take' ? nanos(-amount) : amount;
}

/** The preview of an adjustment, formatted. */
interface Review {
  /** The reviewed amount; an adjustment by another amount is reviewed again. */
  readonly of: string;
  readonly before: string;
  readonly after: string;
  readonly paidDebt: string | undefined;
  /** Button label. */
  readonly act: string;
}

function reviewed(form: BalanceForm, { before, after }: WalletPreview): Review {
  const amount = signed(form);
  return {
    of: amount.toString(),
    before: exactUsd(before.balance),
    after: exactUsd(after.balance),
    paidDebt: after.owed < before.owed ? exactUsd(before.owed - after.owed) : undefined,
    act: amount < 0n ? `Deduct ${exactUsd(-amount)}` : `Add ${exactUsd(amount)}`,
  };
}

/** `…/:id/allowance`: the monthly allowance. */
@Injectable()
export class UserAllowancePages {
  constructor(
    private readonly users: UserPages,
    private readonly allowances: AllowanceService,
    private readonly recent: RecentSignIn,
  ) {}

  async showForm(visitor: Visitor, id: string): Promise<Page> {
    const user = await this.users.findPresentAccount(id);
    const amount = user.allowance > 0n ? formatUsd(user.allowance) : '';
    return this.page(visitor, user, Form.empty({ amount }));
  }

  async set(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.findPresentAccount(id);
    const form = Form.read(AllowanceForm, body);
    const done = await form.attempt(async ({ amount: typed, password }) => {
      await this.recent.confirm(visitor, password);
      const amount = amountOf(typed) ?? ZERO;
      await this.allowances.set(id, amount);
      return amount === 0n ? 'The allowance was ended.' : `The allowance is ${price(amount)} per month.`;
    });
    if (done === undefined) return this.page(visitor, user, form);
    return new Redirect(accountPath(id), { tone: 'ok', title: 'Monthly allowance set', text: done });
  }

  private page(visitor: Visitor, user: ListedUser, form: Form<AllowanceForm>): Page {
    return new Page('admin/users-allowance', {
      title: 'Monthly allowance',
      width: 'narrow',
      data: {
        form,
        user: { ...accountView(user), suspended: user.state === 'disabled' },
        crumbs: userCrumbs(user, 'Monthly allowance'),
        monthly: user.allowance > 0n ? price(user.allowance) : undefined,
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}

type MoneyPageResult = Promise<Page | Redirect>;

/** Balance adjustments and the monthly allowance of a user or an organization. */
@Controller(['admin/users/:id', 'admin/organizations/:id'])
@Administrator()
export class UserMoneyController {
  constructor(
    private readonly balance: UserBalancePages,
    private readonly allowance: UserAllowancePages,
  ) {}

  @Get('balance')
  showBalanceForm(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.balance.showForm(visitor, id);
  }

  @Post('balance')
  adjustBalance(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): MoneyPageResult {
    return this.balance.adjust(visitor, id, body);
  }

  @Get('allowance')
  showAllowanceForm(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.allowance.showForm(visitor, id);
  }

  @Post('allowance')
  setAllowance(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): MoneyPageResult {
    return this.allowance.set(visitor, id, body);
  }
}
