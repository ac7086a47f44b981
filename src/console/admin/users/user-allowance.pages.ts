import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { formatUsd, ZERO } from '../../../platform/shared/index.js';
import { amountOf, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { price } from '../../../platform/format/index.js';
import { AllowanceService } from '../../../wallet/index.js';
import type { ListedUser } from './user-directory.js';
import { AllowanceForm } from './user-forms.js';
import { UserPages } from './user.pages.js';
import { userCrumbs, userTitle } from './user-labels.js';

/** `/admin/users/:id/allowance`: a user’s monthly allowance. */
@Injectable()
export class UserAllowancePages {
  constructor(
    private readonly users: UserPages,
    private readonly allowances: AllowanceService,
    private readonly recent: RecentSignIn,
  ) {}

  async ask(visitor: Visitor, id: string): Promise<Page> {
    const user = await this.users.findPresent(id);
    const amount = user.allowance > 0n ? formatUsd(user.allowance) : '';
    return this.page(visitor, user, Form.empty({ amount }));
  }

  async set(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.findPresent(id);
    const form = Form.read(AllowanceForm, body);
    const done = await form.attempt(async ({ amount: typed, password }) => {
      await this.recent.confirm(visitor, password);
      const amount = amountOf(typed) ?? ZERO;
      await this.allowances.set(id, amount);
      return amount === 0n ? 'The allowance was ended.' : `The allowance is ${price(amount)} per month.`;
    });
    if (done === undefined) return this.page(visitor, user, form);
    return new Redirect(`/admin/users/${id}`, { tone: 'ok', title: 'Monthly allowance set', text: done });
  }

  private page(visitor: Visitor, user: ListedUser, form: Form<AllowanceForm>): Page {
    return new Page('admin/users-allowance', {
      title: 'Monthly allowance',
      width: 'narrow',
      data: {
        form,
        user: { id: user.id, title: userTitle(user), suspended: user.state === 'disabled' },
        crumbs: userCrumbs(user, 'Monthly allowance'),
        monthly: user.allowance > 0n ? price(user.allowance) : undefined,
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}
