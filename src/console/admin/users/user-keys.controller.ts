import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { type OwnKey, OwnKeys } from '../../../keys/index.js';
import { exactUsd } from '../../../platform/format/index.js';
import { type Nanos, nanos } from '../../../platform/shared/index.js';
import { Administrator, RequiresRecentSignIn } from '../../access/index.js';
import { KeyUsePages, type KeyUseQuery } from '../../keys/index.js';
import { amountOf, CurrentVisitor, Form, type FormBody, IdempotentForms, Page, Redirect } from '../../web/index.js';
import { accountPath, listAddress } from '../list-address.js';
import type { ListedUser } from './user-directory.js';
import { accountView, userCrumbs } from './user-facts.js';
import { QuotaForm } from './user-forms.js';
import { UserPages } from './user.pages.js';

const pathOf = (id: string): string => `${accountPath(id)}#keys`;

/** Administration of API keys. */
@Injectable()
export class UserKeyPages {
  constructor(
    private readonly users: UserPages,
    private readonly keys: OwnKeys,
    private readonly use: KeyUsePages,
  ) {}

  /** The key's usage page without the owner's actions. @throws KeyNotFound */
  async show(visitor: Visitor, accountId: string, id: string, query: KeyUseQuery): Promise<Page> {
    const user = await this.users.findAccount(accountId);
    const place = {
      path: `${accountPath(accountId)}/keys/${id}`,
      crumbs: userCrumbs(user, 'API key'),
      log: (parts: Readonly<Record<string, string>>): string =>
        listAddress('/admin/calls', { user: accountId, key: id, ...parts }),
    };
    return this.use.ofUser({ accountId, id }, place, visitor, query);
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

  async confirmDeletion(accountId: string, id: string): Promise<Page> {
    const user = await this.users.findAccount(accountId);
    const key = await this.keys.get({ accountId, id });
    const crumbs = userCrumbs(user, 'Delete API key');
    const data = { key: shown(key), user: accountView(user), crumbs };
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

/** `…/:id/keys/:key/quota`: how much of the balance a key may spend. Does not change the balance. */
@Injectable()
export class UserKeyQuotaPages {
  constructor(
    private readonly users: UserPages,
    private readonly keys: OwnKeys,
    private readonly once: IdempotentForms,
  ) {}

  /** @throws KeyNotFound, also for a key of another user */
  async showForm(accountId: string, id: string): Promise<Page> {
    const user = await this.users.findAccount(accountId);
    return pageOf(user, await this.keys.get({ accountId, id }), Form.empty({ direction: 'add' }));
  }

  async change(visitor: Visitor, accountId: string, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.findAccount(accountId);
    const key = await this.keys.get({ accountId, id });
    const form = Form.read(QuotaForm, body);
    const change = () => form.attempt((value) => this.keys.raiseQuota({ accountId, id }, signed(value)));
    const result = await this.once.run(visitor.accountId, body, change, () => pathOf(accountId));
    if (result === undefined) return pageOf(user, key, form);
    const text =
      result.made === undefined ? 'This form was already submitted.' : `The quota is now ${exactUsd(result.made)}.`;
    return new Redirect(result.location, { tone: 'ok', title: `Quota of “${key.name}” changed`, text });
  }
}

const DIRECTIONS = [
  { value: 'add', label: 'Raise the quota' },
  { value: 'take', label: 'Lower the quota' },
];

/** Negative to lower the quota. */
function signed({ direction, quota }: QuotaForm): Nanos {
  const amount = amountOf(quota) ?? nanos(0n);
  return direction === 'take' ? nanos(-amount) : amount;
}

const pageOf = (user: ListedUser, key: OwnKey, form: Form<QuotaForm>): Page =>
  new Page('admin/users-key-quota', {
    title: `Quota of “${key.name}”`,
    width: 'narrow',
    data: {
      form,
      user: accountView(user),
      key: { id: key.id, name: key.name, hint: key.hint },
      quota: key.quota && exactUsd(key.quota),
      used: exactUsd(key.used),
      held: key.held > 0n ? exactUsd(key.held) : undefined,
      directions: DIRECTIONS,
      crumbs: userCrumbs(user, 'API key quota'),
    },
  });

/** API keys of a user or an organization. */
@Controller(['admin/users/:id', 'admin/organizations/:id'])
@Administrator()
export class UserKeysController {
  constructor(
    private readonly keys: UserKeyPages,
    private readonly quotas: UserKeyQuotaPages,
  ) {}

  @Get('keys/:key')
  showKey(
    @CurrentVisitor() visitor: Visitor,
    @Param() { id, key }: { readonly id: string; readonly key: string },
    @Query() query: KeyUseQuery,
  ): Promise<Page> {
    return this.keys.show(visitor, id, key, query);
  }

  @Post('keys/:key/disable')
  @RequiresRecentSignIn()
  disableKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.disable(id, key);
  }

  @Post('keys/:key/enable')
  @RequiresRecentSignIn()
  enableKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.enable(id, key);
  }

  @Get('keys/:key/quota')
  showQuotaForm(@Param('id') id: string, @Param('key') key: string): Promise<Page> {
    return this.quotas.showForm(id, key);
  }

  @Post('keys/:key/quota')
  @RequiresRecentSignIn()
  changeQuota(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Param('key') key: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.quotas.change(visitor, id, key, body);
  }

  @Get('keys/:key/delete')
  confirmKeyDeletion(@Param('id') id: string, @Param('key') key: string): Promise<Page> {
    return this.keys.confirmDeletion(id, key);
  }

  @Post('keys/:key/delete')
  @RequiresRecentSignIn()
  deleteKey(@Param('id') id: string, @Param('key') key: string): Promise<Redirect> {
    return this.keys.delete(id, key);
  }
}
