import { Injectable } from '@nestjs/common';
import { LastAdministrator, RecentSignIn, type Visitor } from '../../../auth/index.js';
import { AccountDeletion } from '../../../keys/onboarding/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { usd } from '../../../platform/format/index.js';
import { WalletInUse } from '../../../wallet/index.js';
import type { ListedUser } from './user-directory.js';
import { ConfirmDeletionForm } from './user-forms.js';
import { UserPages } from './user.pages.js';
import { userCrumbs, userTitle } from './user-labels.js';

/** `/admin/users/:id/delete`: requires the email address to be typed, since deletion is permanent. */
@Injectable()
export class UserDeletePages {
  constructor(
    private readonly users: UserPages,
    private readonly deletion: AccountDeletion,
    private readonly recent: RecentSignIn,
  ) {}

  async ask(visitor: Visitor, id: string): Promise<Page> {
    return this.page(visitor, await this.users.findPresent(id), Form.empty());
  }

  async delete(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.findPresent(id);
    const form = Form.read(ConfirmDeletionForm, body);
    if (form.value?.confirm.toLowerCase() !== user.email) form.refuse('confirm', `Enter ${user.email} to confirm.`);
    const done = await form.attempt(({ password }) => this.deleted(visitor, id, password, form));
    if (done !== true) return this.page(visitor, user, form);
    const text = 'Usage logs and the ledger are kept. The email address can be used again.';
    return new Redirect('/admin/users', { tone: 'ok', title: `${user.email} deleted`, text });
  }

  /** Reasons against the deletion become an error of the confirmation field. */
  private async deleted(
    visitor: Visitor,
    id: string,
    password: string,
    form: Form<ConfirmDeletionForm>,
  ): Promise<boolean> {
    await this.recent.confirm(visitor, password);
    try {
      await this.deletion.run(id);
      return true;
    } catch (error) {
      if (!(error instanceof WalletInUse) && !(error instanceof LastAdministrator)) throw error;
      form.refuse('confirm', error.message);
      return false;
    }
  }

  private page(visitor: Visitor, user: ListedUser, form: Form<ConfirmDeletionForm>): Page {
    return new Page('admin/users-delete', {
      title: `Delete ${userTitle(user)}?`,
      width: 'narrow',
      data: {
        form,
        user: { id: user.id, email: user.email },
        balance: user.balance > 0n ? usd(user.balance) : undefined,
        owed: user.owed > 0n ? usd(user.owed) : undefined,
        calls: user.calls,
        crumbs: userCrumbs(user, 'Delete'),
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}
