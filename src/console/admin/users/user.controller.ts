import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import {
  ConfirmedForm,
  LastAdministrator,
  RecentSignIn,
  SecondFactorIsOff,
  SecondFactorRemoval,
  SecondFactors,
  SessionService,
  type Visitor,
} from '../../../auth/index.js';
import { OwnsOrganizations } from '../../../keys/index.js';
import { AccountDeletion } from '../../../keys/onboarding/index.js';
import { usd } from '../../../platform/format/index.js';
import { reasonOf } from '../../../platform/shared/index.js';
import { WalletInUse } from '../../../wallet/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { CurrentVisitor, Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { accountPath, type ListQuery } from '../list-address.js';
import { UserChanges } from './user-changes.js';
import type { ListedUser } from './user-directory.js';
import { userCrumbs, userTitle } from './user-facts.js';
import { ConfirmDeletionForm } from './user-forms.js';
import { UserPages } from './user.pages.js';

/** `/admin/users/:id/delete`: requires the email address to be typed, since deletion is permanent. */
@Injectable()
export class UserDeletePages {
  constructor(
    private readonly users: UserPages,
    private readonly deletion: AccountDeletion,
    private readonly recent: RecentSignIn,
  ) {}

  async showForm(visitor: Visitor, id: string): Promise<Page> {
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
      if (!REFUSALS.some((type) => error instanceof type)) throw error;
      form.refuse('confirm', reasonOf(error));
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

const REFUSALS = [WalletInUse, LastAdministrator, OwnsOrganizations];

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

  async showForm(visitor: Visitor, id: string): Promise<Page | Redirect> {
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

type UserPageResult = Promise<Page | Redirect>;

/** One user: page, settings, role, sign-in and deletion. */
@Controller('admin/users/:id')
@Administrator()
export class UserController {
  constructor(
    private readonly pages: UserPages,
    private readonly changes: UserChanges,
    private readonly deletion: UserDeletePages,
    private readonly secondFactor: UserSecondFactorPages,
    private readonly sessions: SessionService,
  ) {}

  /** Links to an account that may be an organization lead to its page. */
  @Get()
  async show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query() query: ListQuery): UserPageResult {
    const path = accountPath(id);
    return path === pathOf(id) ? this.pages.show(visitor, id, query) : new Redirect(path);
  }

  @Post('settings')
  @RequiresRecentSignIn()
  saveSettings(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.changes.settings(visitor, id, body);
  }

  @Post('role')
  setRole(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.changes.role(visitor, id, body);
  }

  @Post('suspend')
  @RequiresRecentSignIn()
  suspend(@Param('id') id: string): Promise<Redirect> {
    return this.changes.suspend(id);
  }

  @Post('enable')
  @RequiresRecentSignIn()
  enable(@Param('id') id: string): Promise<Redirect> {
    return this.changes.enable(id);
  }

  @Get('second-factor')
  confirmSecondFactorRemoval(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): UserPageResult {
    return this.secondFactor.showForm(visitor, id);
  }

  @Post('second-factor')
  removeSecondFactor(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): UserPageResult {
    return this.secondFactor.remove(visitor, id, body);
  }

  @Get('delete')
  confirmDeletion(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.showForm(visitor, id);
  }

  @Post('delete')
  delete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): UserPageResult {
    return this.deletion.delete(visitor, id, body);
  }

  @Post('sessions/:session/end')
  async endSession(@Param('id') id: string, @Param('session') session: string): Promise<Redirect> {
    await this.sessions.end(id, session);
    return new Redirect(`/admin/users/${id}#sessions`, { tone: 'ok', title: 'Browser signed out' });
  }

  @Post('sessions/end')
  async endSessions(@Param('id') id: string): Promise<Redirect> {
    await this.pages.find(id);
    await this.sessions.endAllOf(id);
    return new Redirect(`/admin/users/${id}#sessions`, { tone: 'ok', title: 'All browsers signed out' });
  }
}
