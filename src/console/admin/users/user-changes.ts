import { Injectable } from '@nestjs/common';
import {
  AccountChangedMeanwhile,
  AccountStatus,
  LastAdministrator,
  RecentSignIn,
  type Visitor,
} from '../../../auth/index.js';
import { Form, type FormBody, Page, Redirect } from '../../web/index.js';
import { ROLES, UserChoices } from './user-facts.js';
import { RoleForm, SettingsForm } from './user-forms.js';
import { UserPages } from './user.pages.js';

const pathOf = (id: string): string => `/admin/users/${id}`;

/** Changes made directly on a user's page. */
@Injectable()
export class UserChanges {
  constructor(
    private readonly pages: UserPages,
    private readonly choices: UserChoices,
    private readonly standing: AccountStatus,
    private readonly recent: RecentSignIn,
  ) {}

  async settings(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(SettingsForm, body);
    try {
      const done = await form.attempt((value) => this.choices.setTerms(id, value));
      if (done === undefined) return await this.pages.show(visitor, id, {}, { settings: { form } });
    } catch (error) {
      if (!(error instanceof AccountChangedMeanwhile)) throw error;
      return this.pages.show(visitor, id, {}, { settings: { form, conflict: true } });
    }
    return new Redirect(pathOf(id), {
      tone: 'ok',
      title: 'Group and limits saved',
      text: 'Changes apply from the next call.',
    });
  }

  async role(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    await this.pages.find(id);
    const form = Form.read(RoleForm, body);
    const done = await form.attempt(async ({ role, password }) => {
      await this.recent.confirm(visitor, password);
      await this.standing.setRole(id, role);
      return role;
    });
    if (done === undefined) return this.pages.show(visitor, id, {}, { role: form });
    const there = visitor.accountId === id && done === 'user' ? '/' : pathOf(id);
    return new Redirect(there, {
      tone: 'ok',
      title: 'Role changed',
      text: `The role is now ${ROLES[done].toLowerCase()}.`,
    });
  }

  async suspend(id: string): Promise<Redirect> {
    const { email } = await this.pages.find(id);
    const refused = await this.standing.disable(id).then(() => undefined, asLastAdministrator);
    if (refused !== undefined)
      return new Redirect(pathOf(id), { tone: 'bad', title: 'User not suspended', text: refused.message });
    const text = 'All sessions ended, and their API keys are rejected.';
    return new Redirect(pathOf(id), { tone: 'ok', title: `${email} suspended`, text });
  }

  async enable(id: string): Promise<Redirect> {
    const { email } = await this.pages.find(id);
    await this.standing.enable(id);
    return new Redirect(pathOf(id), {
      tone: 'ok',
      title: `${email} reinstated`,
      text: 'Sign-in and API keys work again.',
    });
  }
}

/** @throws any other error */
function asLastAdministrator(error: unknown): LastAdministrator {
  if (error instanceof LastAdministrator) return error;
  throw error;
}
