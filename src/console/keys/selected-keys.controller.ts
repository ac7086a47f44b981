import { Body, Controller, Get, Post, Query } from '@nestjs/common';
import { Transform } from 'class-transformer';
import { IsString, ValidateBy } from 'class-validator';
import { changedKeys, type Visitor } from '../../auth/index.js';
import { groupOfViewer } from '../../catalog/index.js';
import { type OwnKey, OwnKeys, PAGE_KEYS, type SharedKeyChange } from '../../keys/index.js';
import { LARGEST_LIMIT } from '../../platform/limits/index.js';
import { AppError, Clock } from '../../platform/shared/index.js';
import { Allows, SignedIn } from '../access/index.js';
import {
  amountOf,
  countOf,
  CurrentVisitor,
  Form,
  type FormBody,
  localPath,
  Page,
  Redirect,
  typedAmount,
  typedCount,
} from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { crumbsTo } from './key.view.js';

type Selection = Readonly<{ id?: unknown; _back?: unknown }>;

/** Changes several keys of the list at once: all of them or none. */
@Controller('keys/selected')
@SignedIn()
@Allows('use keys')
export class SelectedKeysController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly clock: Clock,
  ) {}

  /** Takes the form of the list. Edits and deletions have their own pages. */
  @Post()
  async act(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Redirect> {
    const ids = idsIn(body);
    const back = backIn(body);
    if (ids.length === 0)
      return new Redirect(back, { tone: 'warn', title: 'No keys selected', text: 'Select at least one key.' });
    switch (body['_act']) {
      case 'disable':
        return this.change(visitor, body, { state: 'disabled' }, 'disabled', 'Calls with them are rejected.');
      case 'enable':
        return this.change(visitor, body, { state: 'enabled' }, 'enabled', 'Calls with them are accepted again.');
      case 'delete':
        return new Redirect(addressOf('delete', ids, back));
      default:
        return new Redirect(addressOf('edit', ids, back));
    }
  }

  @Get('edit')
  edit(@CurrentVisitor() visitor: Visitor, @Query() query: Selection): Promise<Page | Redirect> {
    return this.editPage(visitor, query, Form.empty<SharedForm>());
  }

  @Post('edit')
  async save(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(SharedForm, body);
    const text = 'Changes apply immediately.';
    try {
      const done = await form.attempt(async (value) =>
        isEmpty(value)
          ? new Redirect(backIn(body), { tone: 'ok', title: 'No changes to save', text: 'The keys are unchanged.' })
          : this.changeAll(visitor, body, changeOf(value, visitor), 'changed', text),
      );
      return done ?? (await this.editPage(visitor, body, form));
    } catch (error) {
      return notChanged(error, backIn(body));
    }
  }

  @Get('delete')
  confirmDeletion(@CurrentVisitor() visitor: Visitor, @Query() query: Selection): Promise<Page | Redirect> {
    return this.deletePage(visitor, query, Form.empty<DeletionForm>());
  }

  /** If one of the keys is in use, the form must repeat their number. */
  @Post('delete')
  async delete(@CurrentVisitor() visitor: Visitor, @Body() body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(DeletionForm, body);
    const keys = await this.selected(visitor, body);
    if (this.inUse(keys).length > 0 && form.value?.confirm.trim() !== String(keys.length))
      form.refuse('confirm', `Enter ${keys.length} to delete ${countOfKeys(keys.length)}.`);
    if (form.refused) return this.deletePage(visitor, body, form);
    return this.change(visitor, body, { state: 'deleted' }, 'deleted', 'Calls with them are rejected.');
  }

  private async change(...change: Parameters<typeof this.changeAll>): Promise<Redirect> {
    try {
      return await this.changeAll(...change);
    } catch (error) {
      return notChanged(error, backIn(change[1]));
    }
  }

  /** @throws AppError that names the key that prevents the change */
  private async changeAll(
    visitor: Visitor,
    selection: Selection,
    change: SharedKeyChange,
    done: string,
    text: string,
  ): Promise<Redirect> {
    const ids = idsIn(selection);
    await this.keys.changeAll({ ...changedKeys(visitor), groupName: visitor.groupName }, ids, change);
    return new Redirect(backIn(selection), { tone: 'ok', title: `${countOfKeys(ids.length)} ${done}`, text });
  }

  private async editPage(visitor: Visitor, selection: Selection, form: Form<SharedForm>): Promise<Page | Redirect> {
    const keys = await this.selected(visitor, selection);
    return new Page('keys/selected-edit', {
      title: `Edit ${countOfKeys(keys.length)}`,
      width: 'narrow',
      data: {
        keys,
        back: backIn(selection),
        form,
        groups: [{ value: '', label: 'No change' }, ...this.choices.groups(visitor, undefined)],
        crumbs: crumbsTo('Edit several'),
      },
    });
  }

  private async deletePage(visitor: Visitor, selection: Selection, form: Form<DeletionForm>): Promise<Page> {
    const keys = await this.selected(visitor, selection);
    const inUse = this.inUse(keys);
    return new Page('keys/selected-delete', {
      title: `Delete ${countOfKeys(keys.length)}?`,
      width: 'narrow',
      data: {
        keys,
        number: keys.length,
        back: backIn(selection),
        inUse: inUse.map(({ name }) => name).join(', '),
        form,
        crumbs: crumbsTo('Delete several'),
      },
    });
  }

  private selected(visitor: Visitor, selection: Selection): Promise<readonly OwnKey[]> {
    const ids = idsIn(selection);
    if (ids.length === 0) throw new AppError('invalid_request', 'Select at least one key.');
    return this.keys.getAll(changedKeys(visitor), ids);
  }

  /** Those with a call within a day. */
  private inUse(keys: readonly OwnKey[]): readonly OwnKey[] {
    const since = this.clock.now() - DAY_MS;
    return keys.filter(({ lastUsedAt }) => lastUsedAt !== undefined && lastUsedAt.getTime() > since);
  }
}

const DAY_MS = 86_400_000;

const countOfKeys = (number: number): string => (number === 1 ? '1 key' : `${number} keys`);

/** @throws AppError for more than a page of the list has */
function idsIn({ id }: Selection): readonly string[] {
  const ids = new Set([id ?? []].flat().filter((one) => typeof one === 'string'));
  if (ids.size > PAGE_KEYS) throw new AppError('invalid_request', `Select at most ${PAGE_KEYS} keys.`);
  return [...ids];
}

/** The list that the keys were selected on. */
const backIn = ({ _back }: Selection): string => localPath(_back, '/keys');

const addressOf = (page: 'edit' | 'delete', ids: readonly string[], back: string): string =>
  `/keys/selected/${page}?${new URLSearchParams([...ids.map((id): [string, string] => ['id', id]), ['_back', back]]).toString()}`;

function notChanged(error: unknown, back: string): Redirect {
  if (!(error instanceof AppError)) throw error;
  return new Redirect(back, { tone: 'bad', title: 'No keys were changed', text: error.message });
}

const NONE = /^\s*none\s*$/i;

/** A setting as typed: empty to keep each key's own, `none` to remove it. */
const SharedSetting = (message: string, isValid: (text: string) => boolean): PropertyDecorator =>
  ValidateBy(
    {
      name: 'isSharedSetting',
      validator: {
        validate: (value) => typeof value === 'string' && (value.trim() === '' || NONE.test(value) || isValid(value)),
      },
    },
    { message },
  );

const SharedAmount = (): PropertyDecorator =>
  SharedSetting(
    'Enter an amount in dollars, such as 25 or 1,000.50, or “none”.',
    (text) => typedAmount(text) !== undefined,
  );

const SharedRate = (): PropertyDecorator =>
  SharedSetting('Enter an integer of at least 1, or “none”.', (text) => {
    const count = typedCount(text) ?? 0;
    return count >= 1 && count <= LARGEST_LIMIT;
  });

const IdList = (): PropertyDecorator => Transform(({ value }: { value: unknown }) => [value ?? []].flat());

class SharedForm {
  @IdList()
  @IsString({ each: true })
  readonly id: readonly string[] = [];

  @IsString({ message: 'Choose a group.' })
  readonly group: string = '';

  @SharedAmount()
  readonly quota: string = '';

  @SharedAmount()
  readonly daily: string = '';

  @SharedAmount()
  readonly weekly: string = '';

  @SharedAmount()
  readonly monthly: string = '';

  @SharedRate()
  readonly callsPerMinute: string = '';

  @SharedRate()
  readonly tokensPerMinute: string = '';

  @SharedRate()
  readonly concurrency: string = '';
}

class DeletionForm {
  @IdList()
  @IsString({ each: true })
  readonly id: readonly string[] = [];

  @IsString()
  readonly confirm: string = '';
}

const isEmpty = (form: SharedForm): boolean => Object.values({ ...form, id: '' }).every((text) => text.trim() === '');

/** The account's own group is not named, so that the keys move with the account. */
function changeOf(form: SharedForm, visitor: Visitor): SharedKeyChange {
  const { group } = form;
  const quota = settingOf(form.quota, amountOf);
  return {
    ...(group !== '' && { groupName: group === groupOfViewer(visitor) ? null : group }),
    ...(quota !== undefined && { quota }),
    budgets: {
      daily: settingOf(form.daily, amountOf),
      weekly: settingOf(form.weekly, amountOf),
      monthly: settingOf(form.monthly, amountOf),
    },
    limits: {
      requestsPerMinute: settingOf(form.callsPerMinute, countOf),
      tokensPerMinute: settingOf(form.tokensPerMinute, countOf),
      concurrency: settingOf(form.concurrency, countOf),
    },
  };
}

const settingOf = <T>(text: string, read: (text: string) => T | undefined): T | null | undefined =>
  NONE.test(text) ? null : read(text);
