import { Injectable } from '@nestjs/common';
import { type OwnKey, OwnKeys } from '../../../keys/index.js';
import { type Nanos, nanos } from '../../../platform/shared/index.js';
import { amountOf, Form, type FormBody, OnceForms, Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { exactUsd } from '../../../platform/format/index.js';
import type { ListedUser } from './user-directory.js';
import { QuotaForm } from './user-forms.js';
import { UserPages } from './user.pages.js';
import { userCrumbs, userTitle } from './user-labels.js';

/** `/admin/users/:id/keys/:key/quota`: how much of the user's balance a key may spend. Does not change the balance. */
@Injectable()
export class UserKeyQuotaPages {
  constructor(
    private readonly users: UserPages,
    private readonly keys: OwnKeys,
    private readonly once: OnceForms,
  ) {}

  /** @throws KeyNotFound, also for a key of another user */
  async ask(accountId: string, id: string): Promise<Page> {
    const user = await this.users.find(accountId);
    return pageOf(user, await this.keys.get({ accountId, id }), Form.empty({ direction: 'add' }));
  }

  async change(visitor: Visitor, accountId: string, id: string, body: FormBody): Promise<Page | Redirect> {
    const user = await this.users.find(accountId);
    const key = await this.keys.get({ accountId, id });
    const form = Form.read(QuotaForm, body);
    const change = () => form.attempt((value) => this.keys.raiseQuota({ accountId, id }, signed(value)));
    const result = await this.once.run(visitor.accountId, body, change, () => `/admin/users/${accountId}#keys`);
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
      user: { id: user.id, title: userTitle(user) },
      key: { id: key.id, name: key.name, hint: key.hint },
      quota: key.quota && exactUsd(key.quota),
      used: exactUsd(key.used),
      held: key.held > 0n ? exactUsd(key.held) : undefined,
      directions: DIRECTIONS,
      crumbs: userCrumbs({ id: user.id, email: userTitle(user) }, 'API key quota'),
    },
  });
