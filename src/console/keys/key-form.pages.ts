import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../auth/index.js';
import { groupOfViewer } from '../../catalog/index.js';
import { type CreatedApiKey, KeyChangedMeanwhile, type OwnKey, OwnKeys } from '../../keys/index.js';
import { Clock, dayOf, ZERO } from '../../platform/shared/index.js';
import {
  amountOf,
  type Difference,
  differencesBetween,
  type FieldValue,
  Form,
  type FormBody,
  Page,
  Redirect,
} from '../web/index.js';
import { KeyChoices } from './key-choices.js';
import { badgeOf, crumbsTo, defaultHints, expiryView, limitsOf, limitsText, paceText } from './key-facts.js';
import { KeyChangeForm, KeyForm, RaiseForm } from './key-form.js';
import { settingsOf, valuesOf } from './key-settings.view.js';

/** Submitted forms to show again. */
interface Filled {
  readonly settings?: Form<KeyChangeForm>;
  readonly raise?: Form<RaiseForm>;
  readonly differences?: ReturnType<typeof differencesOf>;
}

/** The pages to create and edit a key. */
@Injectable()
export class KeyFormPages {
  constructor(
    private readonly keys: OwnKeys,
    private readonly choices: KeyChoices,
    private readonly clock: Clock,
  ) {}

  newKey(visitor: Visitor, form?: Form<KeyForm>): Page {
    return new Page('keys/new', {
      title: 'New key',
      width: 'narrow',
      data: {
        form: form ?? Form.empty<KeyForm>({ group: groupOfViewer(visitor) }),
        groups: this.choices.groups(visitor),
        groupsHint: this.choices.groupsHint(visitor),
        models: this.choices.models(visitor),
        usual: defaultHints(this.choices.usualLimits()),
        crumbs: crumbsTo('New'),
      },
    });
  }

  /** @returns undefined if the form has errors */
  create(visitor: Visitor, form: Form<KeyForm>): Promise<CreatedApiKey | undefined> {
    return form.attempt(async (value) => this.keys.create(visitor, settingsOf(value, visitor, this.today(visitor))));
  }

  async edit(visitor: Visitor, id: string): Promise<Page> {
    return this.page(visitor, await this.keys.get({ accountId: visitor.accountId, id }));
  }

  async save(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const own = { accountId: visitor.accountId, id };
    const settings = Form.read(KeyChangeForm, body);
    const before = await this.keys.get(own);
    try {
      const saved = await settings.attempt(async (value) => {
        const changed = settingsOf(value, visitor, this.today(visitor), before);
        await this.keys.change(visitor, id, Number(value.version), changed);
        return this.keys.get(own);
      });
      return saved === undefined ? this.page(visitor, before, { settings }) : new Redirect('/keys', told(saved));
    } catch (error) {
      if (!(error instanceof KeyChangedMeanwhile)) throw error;
      return this.conflictPage(visitor, await this.keys.get(own), settings);
    }
  }

  async raise(visitor: Visitor, id: string, body: FormBody): Promise<Page | Redirect> {
    const own = { accountId: visitor.accountId, id };
    const raise = Form.read(RaiseForm, body);
    const raised = await raise.attempt(async ({ quota }) => this.keys.raiseQuota(own, amountOf(quota) ?? ZERO));
    const key = await this.keys.get(own);
    return raised === undefined ? this.page(visitor, key, { raise }) : new Redirect('/keys', told(key));
  }

  /** The key was changed meanwhile: shows the differences and asks to save again, over the current version. */
  private conflictPage(visitor: Visitor, key: OwnKey, settings: Form<KeyChangeForm>): Page {
    const differences = differencesOf(valuesOf(key, visitor.timeZone), settings.values);
    return this.page(visitor, key, { settings, differences });
  }

  private page(visitor: Visitor, key: OwnKey, { settings, raise, differences }: Filled = {}): Page {
    const shown = settings ?? Form.empty<KeyChangeForm>(valuesOf(key, visitor.timeZone));
    return new Page(key.state === 'deleted' ? 'keys/deleted' : 'keys/edit', {
      title: `Key “${key.name}”`,
      width: 'narrow',
      ...(differences && { status: 409 }),
      data: {
        ...this.facts(visitor, key),
        // The submitted form, for the error summary.
        form: raise ?? shown,
        settings: shown,
        raise,
        ids: raise && { quota: 'raise' },
        differences,
        // The version to save over: the one shown, or the current one if its differences are shown.
        version: differences ? key.version : shown.values['version'],
      },
    });
  }

  private facts(visitor: Visitor, key: OwnKey): Readonly<Record<string, unknown>> {
    return {
      key: { id: key.id, name: key.name, hint: key.hint, used: key.used, createdAt: key.createdAt },
      badge: badgeOf(key),
      enabled: key.state === 'enabled',
      limits: limitsOf(key),
      hasQuota: key.quota !== undefined,
      lastUsedAt: key.lastUsedAt,
      expiry: expiryView(key.expiresAt, visitor.timeZone, this.clock.date()),
      groupText: this.choices.groupOf(key),
      groups: this.choices.groups(visitor, key),
      groupsHint: this.choices.groupsHint(visitor),
      models: this.choices.models(visitor, key),
      usual: defaultHints(this.choices.usualLimits()),
      crumbs: crumbsTo('Edit', key),
    };
  }

  private today({ timeZone }: Visitor): string {
    return dayOf(this.clock.date(), timeZone);
  }
}

/** Confirms the saved limits, so that misread amounts are noticed. */
function told(key: OwnKey): { tone: 'ok'; title: string; text: string } {
  const pace = paceText(key);
  return {
    tone: 'ok',
    title: `Key “${key.name}” saved`,
    text: `Spending limits: ${limitsText(key).toLowerCase()}.${pace && ` Rate limits: ${pace}.`} Changes apply immediately.`,
  };
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
  networks: 'Allowed addresses',
  strict: 'Strict',
  neverStores: 'Never store responses',
};

/** Fields whose submitted value differs from the stored one. */
const differencesOf = (now: FormBody, typed: FormBody): readonly Difference[] =>
  differencesBetween(LABELS, now, typed, shown);

/** Normalizes line endings, and shows multi-line text as a list. */
const shown = (value: FieldValue): string =>
  typeof value === 'string' ? value.trim().replaceAll(/\s*\n\s*/g, ', ') : [...(value ?? [])].toSorted().join(', ');
