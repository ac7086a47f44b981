import { Injectable } from '@nestjs/common';
import { type OwnKey, OwnKeys } from '../../../keys/index.js';
import { KeyUsePages } from '../../keys/index.js';
import { Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { listAddress } from '../list-address.js';
import { UserPages } from './user.pages.js';
import { userCrumbs, userTitle } from './user-labels.js';

const pathOf = (id: string): string => `/admin/users/${id}#keys`;

/** Administration of a user's API keys. */
@Injectable()
export class UserKeyPages {
  constructor(
    private readonly users: UserPages,
    private readonly keys: OwnKeys,
    private readonly use: KeyUsePages,
  ) {}

  /** The key's usage page without the owner's actions. @throws KeyNotFound */
  async show(visitor: Visitor, accountId: string, id: string, range: unknown): Promise<Page> {
    const user = await this.users.find(accountId);
    const place = {
      path: `/admin/users/${accountId}/keys/${id}`,
      crumbs: userCrumbs({ id: accountId, email: userTitle(user) }, 'API key'),
      log: (name: string): string => listAddress('/admin/calls', { user: accountId, key: id, range: name }),
    };
    return this.use.ofUser({ accountId, id }, place, visitor, range);
  }

  /** @throws KeyNotFound, also for a key of another user; so do the methods below */
  async disable(accountId: string, id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.disable({ accountId, id });
    const text = 'Calls with this key are rejected until you or the user re-enable it.';
    return new Redirect(pathOf(accountId), { tone: 'ok', title: `API key “${name}” disabled`, text });
  }

  async enable(accountId: string, id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.enable({ accountId, id });
    return new Redirect(pathOf(accountId), { tone: 'ok', title: `API key “${name}” enabled` });
  }

  async askToDelete(accountId: string, id: string): Promise<Page> {
    const user = await this.users.find(accountId);
    const key = await this.keys.get({ accountId, id });
    const crumbs = userCrumbs({ id: user.id, email: userTitle(user) }, 'Delete API key');
    const data = { key: shown(key), user: { id: user.id, title: userTitle(user) }, crumbs };
    return new Page('admin/users-key-delete', { title: `Delete “${key.name}”?`, width: 'narrow', data });
  }

  async delete(accountId: string, id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.delete({ accountId, id });
    const text = 'Calls with this key are now rejected.';
    return new Redirect(pathOf(accountId), { tone: 'ok', title: `API key “${name}” deleted`, text });
  }
}

const shown = ({ id, name, hint, lastUsedAt }: OwnKey) => ({ id, name, hint, lastUsedAt });
