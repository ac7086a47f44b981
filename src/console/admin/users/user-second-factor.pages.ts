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
import { userCrumbs } from './user-words.js';

/**
 * `/admin/users/:id/second-factor`: takes it off somebody who has lost both the app and the recovery codes. Operators turn
 * their own off where everybody does: it takes a code, which whoever found their browser open does not have.
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
    const text = `${user.email} is signed out, signs in with the password alone, and was told so by mail.`;
    return new Redirect(pathOf(id), { tone: 'ok', title: 'Second factor removed', text });
  }

  private async page(visitor: Visitor, user: ListedUser, form: Form<ConfirmedForm>): Promise<Page | Redirect> {
    const factor = await this.factors.of(user.id);
    if (factor === undefined) return new Redirect(pathOf(user.id), GONE);
    return new Page('admin/users-second-factor', {
      title: `Remove the second factor of ${user.email}?`,
      width: 'narrow',
      data: {
        form,
        user: { id: user.id, email: user.email },
        factor,
        crumbs: userCrumbs(user, 'Second factor'),
        passwordNeeded: this.recent.needed(visitor),
      },
    });
  }
}

const pathOf = (id: string): string => `/admin/users/${id}`;
/** Where it takes the password and a code. */
const OWN_PAGE = '/account/second-factor/off';
const GONE = { tone: 'warn', title: 'There is no second factor any more' } as const;
