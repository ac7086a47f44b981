import { Injectable } from '@nestjs/common';
import {
  ConfirmedForm,
  RecentSignIn,
  SecondFactorIsOff,
  SecondFactorRemoval,
  SecondFactors,
  type Visitor,
} from '../../../auth/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import type { ListedUser } from './user-directory.js';
import { UserPages } from './user.pages.js';
import { userCrumbs } from './user-labels.js';

/**
 * `/admin/users/:id/second-factor`: turns off two-factor authentication for a user who lost the app and the recovery
 * codes. Administrators turn off their own on the account page, which requires a code.
 */
@Injectable()
export class UserSecondFactorPages {
  constructor(
    private readonly users: UserPages,
    private readonly factors: SecondFactors,
    private readonly removal: SecondFactorRemoval,
    private readonly recent: RecentSignIn,
  ) {}

  async ask(visitor: Visitor, id: string): Promise<Page | Redirect> {
    if (id === visitor.accountId) return new Redirect(OWN_PAGE);
    const user = await this.users.findPresent(id);
    return this.page(visitor, user, Form.empty());
  }

  async remove(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    if (id === visitor.accountId) return new Redirect(OWN_PAGE);
    const user = await this.users.findPresent(id);
    const form = Form.read(ConfirmedForm, body);
    try {
      const done = await form.attempt(async ({ password }) => {
        await this.recent.confirm(visitor, password);
        await this.removal.remove(id);
        return true;
      });
      if (done === undefined) return await this.page(visitor, user, form);
    } catch (error) {
      if (error instanceof SecondFactorIsOff) return new Redirect(pathOf(id), GONE);
      throw error;
    }
    const text = `${user.email} was signed out and notified by email. They now sign in with their password only.`;
    return new Redirect(pathOf(id), { tone: 'ok', title: 'Two-factor authentication turned off', text });
  }

  private async page(visitor: Visitor, user: ListedUser, form: Form<ConfirmedForm>): Promise<Page | Redirect> {
    const factor = await this.factors.of(user.id);
    if (factor === undefined) return new Redirect(pathOf(user.id), GONE);
    return new Page('admin/users-second-factor', {
      title: `Turn off two-factor authentication for ${user.email}?`,
      width: 'narrow',
      data: {
        form,
        user: { id: user.id, email: user.email },
        factor,
        crumbs: userCrumbs(user, 'Two-factor authentication'),
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}

const pathOf = (id: string): string => `/admin/users/${id}`;
/** Requires the password and a code. */
const OWN_PAGE = '/account/second-factor/off';
const GONE = { tone: 'warn', title: 'Two-factor authentication is already off' } as const;
