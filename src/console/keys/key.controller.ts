import { Body, Controller, Get, Injectable, Param, Post, Query } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { KeyIsDeleted, type OwnKey, OwnKeys } from '../../keys/index.js';
import { Clock, dayOf, startOfDay } from '../../platform/shared/index.js';
import { KeyUse, type RecentUse } from '../../usage/index.js';
import { SignedIn } from '../access/index.js';
import { CurrentVisitor, Form, type FormBody, localPath, Page, Redirect } from '../web/index.js';
import { crumbsTo } from './key-facts.js';
import { ConfirmForm } from './key-form.js';
import { KeyFormPages } from './key-form.pages.js';
import { KeyUsePages } from './key-use.pages.js';
import { LeakedKeyPages } from './leaked-key.pages.js';

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

/** One key of an account. Whatever is asked of another account's key, there is none. */
@Controller('keys/:id')
@SignedIn()
export class KeyController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly use: KeyUsePages,
    private readonly forms: KeyFormPages,
    private readonly deletion: KeyDeletePages,
    private readonly leaks: LeakedKeyPages,
  ) {}

  @Get()
  show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query('range') range?: unknown): Promise<Page> {
    return this.use.own(visitor, id, range);
  }

  @Post('notices/:notice')
  acknowledge(
    @CurrentVisitor() visitor: Visitor,
    @Param() { id, notice }: { readonly id: string; readonly notice: string },
    @Body() { back }: FormBody,
  ): Promise<Redirect> {
    return this.use.acknowledge(
      visitor,
      id,
      notice,
      localPath(typeof back === 'string' ? back : undefined, `/keys/${id}`),
    );
  }

  @Get('edit')
  edit(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.forms.edit(visitor, id);
  }

  @Post('edit')
  save(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.save(visitor, id, body);
  }

  @Post('raise')
  raise(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Body() body: FormBody): Promise<Page | Redirect> {
    return this.forms.raise(visitor, id, body);
  }

  @Post('disable')
  async disable(@CurrentVisitor() { accountId }: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.disable({ accountId, id });
    const text = 'Calls with this key are rejected until you enable it.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” disabled`, text });
  }

  @Post('enable')
  async enable(@CurrentVisitor() { accountId }: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { name } = await this.keys.get({ accountId, id });
    await this.keys.enable({ accountId, id });
    const text = 'Calls with this key are accepted again.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” enabled`, text });
  }

  @Get('delete')
  askToDelete(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.deletion.ask(visitor, id);
  }

  @Post('delete')
  delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.deletion.delete(visitor, id, body);
  }

  @Get('leaked')
  leaked(@CurrentVisitor() visitor: Visitor, @Param('id') id: string, @Query('made') made?: string): Promise<Page> {
    return this.leaks.show(visitor, id, made);
  }

  @Post('leaked')
  disableLeaked(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Query('made') made?: string,
  ): Promise<Redirect> {
    return this.leaks.disable(visitor, id, made);
  }

  @Post('replace')
  replace(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    return this.leaks.replace(visitor, id, body);
  }
}
