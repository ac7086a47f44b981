import { Injectable } from '@nestjs/common';
import { Clock, dayOf, startOfDay } from '../../platform/shared/index.js';
import { KeyUse, type RecentUse } from '../../usage/index.js';
import { Form, type FormBody, Page, Redirect } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import { KeyIsDeleted, type OwnKey, OwnKeys } from '../../keys/index.js';
import { crumbsTo } from './key-facts.js';
import { ConfirmForm } from './key-form.js';

interface Found {
  readonly key: OwnKey;
  readonly use: RecentUse;
  /** Somebody would notice: it had a call within a day. */
  readonly inUse: boolean;
}

/** `/keys/:id/delete`: asks first, and more so when the key is in use. */
@Injectable()
export class KeyDeletePages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly use: KeyUse,
    private readonly clock: Clock,
  ) {}

  async ask(visitor: Visitor, id: string): Promise<Page> {
    return pageOf(await this.find(visitor, id), Form.empty<ConfirmForm>());
  }

  async delete(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const found = await this.find(visitor, id);
    const form = Form.read(ConfirmForm, body);
    const { name } = found.key;
    if (found.inUse && form.value?.confirm.trim() !== name)
      form.refuse('confirm', `Enter the key’s name, ${name}, to delete it.`);
    if (form.refused) return pageOf(found, form);
    await this.keys.delete({ accountId: visitor.accountId, id });
    return new Redirect('/keys', {
      tone: 'ok',
      title: `Key “${name}” deleted`,
      text: 'Calls with this key are rejected.',
    });
  }

  private async find({ accountId, timeZone }: Visitor, id: string): Promise<Found> {
    const key = await this.keys.get({ accountId, id });
    if (key.state === 'deleted') throw new KeyIsDeleted(id);
    const today = startOfDay(dayOf(this.clock.date(), timeZone), timeZone);
    const use = await this.use.recent({ accountId, id }, today);
    return { key, use, inUse: use.callsInDay > 0 };
  }
}

const pageOf = ({ key: { id, name, hint }, use, inUse }: Found, form: Form<ConfirmForm>): Page =>
  new Page('keys/delete', {
    title: `Delete “${name}”?`,
    width: 'narrow',
    data: { key: { id, name, hint }, use, inUse, form, crumbs: crumbsTo('Delete', { id, name }) },
  });
