import { Body, Controller, Get, Param, Post } from '@nestjs/common';
import { changedKeys, type Visitor } from '../../auth/index.js';
import { KeyChangedMeanwhile, KeyHolders, KeyIsDeleted, type OwnKey, OwnKeys } from '../../keys/index.js';
import { Clock, dayOf, startOfDay, ZERO } from '../../platform/shared/index.js';
import { KeyUse, type RecentUse } from '../../usage/index.js';
import { Allows, SignedIn } from '../access/index.js';
import {
  amountOf,
  CurrentVisitor,
  type Difference,
  differencesBetween,
  type FieldValue,
  Form,
  type FormBody,
  Page,
  Redirect,
} from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { DeleteKeyForm, isRestricted, KeyChangeForm, RaiseForm, settingsOf, valuesOf } from './key-form.js';
import { badgeOf, crumbsTo, defaultHints, expiryView, limitsOf, limitsText, paceText } from './key.view.js';

interface SubmittedForms {
  readonly settings?: Form<KeyChangeForm>;
  readonly raise?: Form<RaiseForm>;
  readonly differences?: readonly Difference[];
}

/** Changes and deletes a key. Keys of others are not found. */
@Controller('keys/:id')
@SignedIn()
@Allows('use keys')
export class KeyController {
  constructor(
    private readonly keys: OwnKeys,
    private readonly holders: KeyHolders,
    private readonly choices: KeyChoices,
    private readonly use: KeyUse,
    private readonly clock: Clock,
  ) {}

  @Get('edit')
  async edit(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.editPage(visitor, await this.keys.get({ ...changedKeys(visitor), id }));
  }

  @Post('edit')
  async save(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const own = { ...changedKeys(visitor), id };
    const settings = Form.read(KeyChangeForm, body);
    const before = await this.keys.get(own);
    try {
      const saved = await settings.attempt(async (value) => {
        const changed = settingsOf(value, visitor, dayOf(this.clock.date(), visitor.timeZone), before);
        await this.keys.change(
          { ...changedKeys(visitor), groupName: visitor.groupName },
          id,
          Number(value.version),
          changed,
        );
        return this.keys.get(own);
      });
      return saved === undefined ? this.editPage(visitor, before, { settings }) : savedRedirect(saved);
    } catch (error) {
      if (!(error instanceof KeyChangedMeanwhile)) throw error;
      // Shows the differences and asks to save again, over the current version.
      const current = await this.keys.get(own);
      const differences = differencesBetween(LABELS, valuesOf(current, visitor.timeZone), settings.values, textOf);
      return this.editPage(visitor, current, { settings, differences });
    }
  }

  @Post('raise')
  async raise(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const own = { ...changedKeys(visitor), id };
    const raise = Form.read(RaiseForm, body);
    const raised = await raise.attempt(async ({ quota }) => this.keys.raiseQuota(own, amountOf(quota) ?? ZERO));
    const key = await this.keys.get(own);
    return raised === undefined ? this.editPage(visitor, key, { raise }) : savedRedirect(key);
  }

  @Post('disable')
  async disable(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const own = { ...changedKeys(visitor), id };
    const { name } = await this.keys.get(own);
    await this.keys.disable(own);
    const text = 'Calls with this key are rejected until you enable it.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” disabled`, text });
  }

  @Post('enable')
  async enable(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const own = { ...changedKeys(visitor), id };
    const { name } = await this.keys.get(own);
    await this.keys.enable(own);
    const text = 'Calls with this key are accepted again.';
    return new Redirect(`/keys/${id}`, { tone: 'ok', title: `Key “${name}” enabled`, text });
  }

  @Get('delete')
  async confirmDeletion(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return deletePage(await this.findToDelete(visitor, id), Form.empty<DeleteKeyForm>());
  }

  /** If the key is in use, the form must repeat its name. */
  @Post('delete')
  async delete(
    @CurrentVisitor() visitor: Visitor,
    @Param('id') id: string,
    @Body() body: FormBody,
  ): Promise<Page | Redirect> {
    const found = await this.findToDelete(visitor, id);
    const form = Form.read(DeleteKeyForm, body);
    const { name } = found.key;
    if (found.inUse && form.value?.confirm.trim() !== name)
      form.refuse('confirm', `Enter the key’s name, ${name}, to delete it.`);
    if (form.refused) return deletePage(found, form);
    await this.keys.delete({ ...changedKeys(visitor), id });
    const text = 'Calls with this key are rejected.';
    return new Redirect('/keys', { tone: 'ok', title: `Key “${name}” deleted`, text });
  }

  private async editPage(visitor: Visitor, key: OwnKey, submitted: SubmittedForms = {}): Promise<Page> {
    const { settings, raise, differences } = submitted;
    const team = await this.holders.team(visitor.scopeId, key.teamId);
    const form = settings ?? Form.empty<KeyChangeForm>(valuesOf(key, visitor.timeZone));
    return new Page(key.state === 'deleted' ? 'keys/deleted' : 'keys/edit', {
      title: `Key “${key.name}”`,
      width: 'narrow',
      ...(differences && { status: 409 }),
      data: {
        key: { id: key.id, name: key.name, hint: key.hint, used: key.used, createdAt: key.createdAt },
        badge: badgeOf(key),
        enabled: key.state === 'enabled',
        limits: limitsOf(key),
        hasQuota: key.quota !== undefined,
        lastUsedAt: key.lastUsedAt,
        expiry: expiryView(key.expiresAt, visitor.timeZone, this.clock.date()),
        groupText: this.choices.groupOf(key),
        groups: this.choices.groups(visitor, team, key),
        groupsHint: this.choices.groupsHint(visitor, team),
        models: this.choices.models(visitor, team, key),
        defaults: defaultHints(this.choices.defaultLimits()),
        restricted: isRestricted(form),
        crumbs: crumbsTo('Edit', key),
        // The submitted form, for the error summary.
        form: raise ?? form,
        settings: form,
        raise,
        ids: raise && { quota: 'raise' },
        differences,
        // The version to save over: the one shown, or the current one if its differences are shown.
        version: differences ? key.version : form.values['version'],
      },
    });
  }

  private async findToDelete(visitor: Visitor, id: string): Promise<KeyToDelete> {
    const { scopeId, timeZone } = visitor;
    const key = await this.keys.get({ ...changedKeys(visitor), id });
    if (key.state === 'deleted') throw new KeyIsDeleted(id);
    const today = startOfDay(dayOf(this.clock.date(), timeZone), timeZone);
    const use = await this.use.recent({ accountId: scopeId, id }, today);
    return { key, use, inUse: use.callsInDay > 0 };
  }
}

/** Confirms the saved limits, so that misread amounts are noticed. */
function savedRedirect(key: OwnKey): Redirect {
  const pace = paceText(key);
  return new Redirect('/keys', {
    tone: 'ok',
    title: `Key “${key.name}” saved`,
    text: `Spending limits: ${limitsText(key).toLowerCase()}.${pace && ` Rate limits: ${pace}.`} Changes apply immediately.`,
  });
}

const LABELS: Readonly<Record<string, string>> = {
  name: 'Name',
  group: 'Group',
  quota: 'Quota',
  daily: 'Daily budget',
  weekly: 'Weekly budget',
  monthly: 'Monthly budget',
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
  expires: 'Expires',
  models: 'Models',
  networks: 'Allowed networks',
  strict: 'Strict',
  neverStores: 'Never store responses',
};

/** Normalizes line endings, and shows multi-line text as a list. */
const textOf = (value: FieldValue): string =>
  typeof value === 'string' ? value.trim().replaceAll(/\s*\n\s*/g, ', ') : [...(value ?? [])].toSorted().join(', ');

interface KeyToDelete {
  readonly key: OwnKey;
  readonly use: RecentUse;
  /** Whether it had a call within a day. */
  readonly inUse: boolean;
}

const deletePage = ({ key: { id, name, hint }, use, inUse }: KeyToDelete, form: Form<DeleteKeyForm>): Page =>
  new Page('keys/delete', {
    title: `Delete “${name}”?`,
    width: 'narrow',
    data: { key: { id, name, hint }, use, inUse, form, crumbs: crumbsTo('Delete', { id, name }) },
  });
