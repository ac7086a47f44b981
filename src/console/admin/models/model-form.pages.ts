import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import {
  CatalogChanges,
  type CatalogEntry,
  CatalogInventory,
  ChangedMeanwhile,
  modelEntry,
  Numeral,
  RefusedEntries,
} from '../../../catalog/channels/index.js';
import type { Flags, KnownModel, ModelDefinition } from '../../../catalog/index.js';
import { Clock, momentOf } from '../../../platform/shared/index.js';
import { EFFORTS } from '../../../protocols/contract/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { type FormBody, type Page, Redirect } from '../../web/index.js';
import {
  differencesOf,
  optionalDecimal,
  pairsIn,
  refuseBy,
  textOf,
  textsOf,
  catalogForm,
  type CatalogForm,
  wholeIn,
} from '../catalog-form.js';
import {
  capabilityLine,
  fieldOf,
  labelsOf,
  newValues,
  tierCount,
  tierField,
  TOKEN_FIELDS,
  valuesOf,
  withoutTier,
  withTier,
} from './model-fields.js';
import { modelAddress } from './model-list.view.js';
import { ModelPage } from './model.page.js';

/** Values of a stored model that the form does not show. */
const keptOf = (stored: ModelDefinition | undefined) => ({
  capabilities: stored?.capabilities ?? {},
  enabled: stored?.enabled ?? true,
});

/** Whether the pressed button saves nothing. */
export const changesNothing = (body: FormBody): boolean =>
  /^(?:add-tier|recalculate|remove-tier-\d+)$/.test(textOf(body, '_act'));

/** The form of a new or existing model. */
@Injectable()
export class ModelFormPages {
  constructor(
    private readonly service: CatalogChanges,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
    private readonly page: ModelPage,
    private readonly clock: Clock,
  ) {}

  /** @param name prefills the form with a name that a channel already uses */
  async newModel(visitor: Visitor, name = ''): Promise<Page> {
    return this.page.show(visitor, undefined, { form: catalogForm({ ...newValues(), name }) });
  }

  async edit(visitor: Visitor, name: string): Promise<Page> {
    const { thing, revision } = await this.inventory.model(name);
    return this.page.show(visitor, thing, { form: formOf(thing, revision, visitor.timeZone), unchanged: true });
  }

  /** Handles all buttons of the form. @param name undefined for a new model */
  async submit(visitor: Visitor, name: string | undefined, body: FormBody): Promise<Page | Redirect> {
    const act = textOf(body, '_act');
    const stored = name === undefined ? undefined : (await this.inventory.model(name)).thing;
    const form = catalogForm(name === undefined ? body : { ...body, name });
    const removed = /^remove-tier-(\d+)$/.exec(act)?.[1];
    if (removed !== undefined)
      return this.page.show(visitor, stored, { form: catalogForm(withoutTier(form.values, Number(removed))) });
    if (act === 'add-tier') return this.page.show(visitor, stored, { form: catalogForm(withTier(form.values)) });
    if (act === 'recalculate') return this.recalculated(visitor, stored, form);
    return this.save(visitor, stored, form);
  }

  /** @throws ChangedMeanwhile */
  async switch(name: string, enabled: boolean): Promise<Redirect> {
    const { thing, revision } = await this.inventory.model(name);
    const { definition } = thing;
    if (definition !== undefined) await this.put({ ...modelEntry(definition), enabled }, seenAs(name, revision));
    return new Redirect(modelAddress(name), {
      tone: 'ok',
      title: enabled ? `${name} enabled` : `${name} disabled`,
      text: enabled
        ? 'Clients can call the model if a channel serves it.'
        : 'New calls are rejected. Prices and usage logs are kept.',
    });
  }

  /** Withdraws upcoming prices. @param time their start, ISO 8601. @throws ChangedMeanwhile */
  async withdraw(name: string, time: string): Promise<Redirect> {
    const { thing, revision } = await this.inventory.model(name);
    const { definition } = thing;
    const entry =
      definition &&
      modelEntry({
        ...definition,
        upcoming: definition.upcoming?.filter((later) => later.validFrom.toISOString() !== time),
      });
    const changes =
      entry === undefined
        ? []
        : await this.put({ ...entry, upcoming: entry['upcoming'] ?? [] }, seenAs(name, revision));
    return new Redirect(
      modelAddress(name),
      changes.length > 0
        ? { tone: 'ok', title: 'Prices withdrawn', text: 'The current prices stay in effect.' }
        : { tone: 'warn', title: 'Nothing to withdraw', text: 'These prices already took effect or were withdrawn.' },
    );
  }

  private recalculated(visitor: Visitor, stored: KnownModel | undefined, form: CatalogForm): Promise<Page> {
    const after = this.meaningOf(pricesOnly(form.values), form);
    return this.page.show(visitor, stored, { form, after: after?.pricing });
  }

  private async save(visitor: Visitor, stored: KnownModel | undefined, form: CatalogForm): Promise<Page | Redirect> {
    const name = textOf(form.values, 'name');
    const entry = entryOf(form.values, keptOf(stored?.definition), visitor.timeZone);
    const meaning = this.meaningOf(entry, form);
    if (meaning?.validFrom !== undefined && meaning.validFrom <= this.clock.date())
      form.refuse('from', 'Enter a time in the future, or choose “Immediately”.');
    const after = meaning?.pricing;
    if (form.refused) return this.page.show(visitor, stored, { form, after });
    try {
      const revision = stored === undefined ? undefined : textOf(form.values, 'revision');
      const changes = await this.put(entry, {
        reason: textOf(form.values, 'reason').slice(0, 2000),
        ...seenAs(name, revision),
      });
      return new Redirect(modelAddress(name), reported(name, changes));
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return this.changedMeanwhile(visitor, stored, form);
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.errors, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'Date and time' });
      return this.page.show(visitor, stored, { form, after });
    }
  }

  /** Shows conflicting changes next to the typed values, for another attempt. */
  private async changedMeanwhile(visitor: Visitor, stored: KnownModel | undefined, form: CatalogForm): Promise<Page> {
    if (stored === undefined) {
      form.refuse('name', 'Enter another name. A model with this name already exists.');
      return this.page.show(visitor, stored, { form });
    }
    const { thing, revision } = await this.inventory.model(stored.name);
    const now = formOf(thing, revision, visitor.timeZone).values;
    const differences = differencesOf(now, form.values, { ...labelsOf(now), ...labelsOf(form.values) });
    return this.page.show(visitor, thing, { form: catalogForm({ ...form.values, revision }), differences });
  }

  /** The parsed entry; undefined if invalid, with errors added to the fields. */
  private meaningOf(entry: object, form: CatalogForm): ModelDefinition | undefined {
    try {
      return this.service.meaningOf({ models: [entry] }).models[0];
    } catch (error) {
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.errors, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'Date and time' });
      return undefined;
    }
  }

  private put(
    entry: object,
    options: Omit<Parameters<CatalogChanges['put']>[1], 'protocols'> = {},
  ): Promise<readonly string[]> {
    return this.service.put({ models: [entry] }, { protocols: this.adapters.defaultAuth, ...options });
  }
}

/** The revision that a change is based on; a newer one is not overwritten. */
const seenAs = (name: string, revision: string | undefined) => ({
  expected: { subject: { kind: 'model' as const, name }, revision },
});

const formOf = ({ name, definition }: KnownModel, revision: string, timeZone: string): CatalogForm =>
  catalogForm(definition ? valuesOf(definition, revision, timeZone) : { ...newValues(), name, revision });

function reported(name: string, changes: readonly string[]) {
  const about = changes.map((line) => line.replace(`model ${name}: `, ''));
  if (about.length === 0) return { tone: 'ok' as const, title: 'No changes to save', text: 'The model is unchanged.' };
  if (about[0] === 'added')
    return { tone: 'ok' as const, title: `${name} added`, text: 'The model is available once a channel serves it.' };
  return {
    tone: 'ok' as const,
    title: `${name} saved`,
    text: `${about.join('; ')}. In-flight calls keep their prices.`,
  };
}

/** Values that the form does not show. */
interface Kept {
  readonly capabilities: Flags;
  readonly enabled: boolean;
}

/**
 * The form as a catalog file entry, to be validated by the catalog file's checks. Stored upcoming prices are omitted, which
 * keeps them.
 */
const entryOf = (values: FormBody, kept: Kept, timeZone: string): CatalogEntry => ({
  name: textOf(values, 'name'),
  display_name: textOf(values, 'displayName') || undefined,
  owned_by: textOf(values, 'ownedBy'),
  context_window: wholeIn(textOf(values, 'contextWindow')),
  max_output_tokens: wholeIn(textOf(values, 'maxOutputTokens')),
  groups: textsOf(values, 'groups'),
  capabilities: capabilitiesIn(textOf(values, 'capabilities'), kept.capabilities),
  hidden_tokens_per_second: wholeIn(textOf(values, 'hiddenTokens')),
  enabled: kept.enabled,
  ...pricesIn(values),
  valid_from: textOf(values, 'when') === 'later' ? laterIn(values, timeZone) : undefined,
});

/** An entry with prices only, so that the rest of the form is not validated. */
const pricesOnly = (values: FormBody): CatalogEntry => ({
  name: 'any',
  context_window: new Numeral('1'),
  max_output_tokens: new Numeral('1'),
  ...pricesIn(values),
});

function pricesIn(values: FormBody): CatalogEntry {
  const efforts = EFFORTS.map((effort) => [effort, optionalDecimal(textOf(values, `effort-${effort}`))] as const);
  return {
    request_fee: optionalDecimal(textOf(values, 'requestFee')),
    effort_multipliers: Object.fromEntries(efforts.filter(([, multiplier]) => multiplier !== undefined)),
    service_tiers: given(pairsIn(textOf(values, 'serviceTiers'))),
    speeds: given(pairsIn(textOf(values, 'speeds'))),
    geos: given(pairsIn(textOf(values, 'geos'))),
    tool_fees: given(pairsIn(textOf(values, 'toolFees'))),
    tool_max_uses: given(numeralsIn(textOf(values, 'toolMaxUses'))),
    image_generation: given(pairsIn(textOf(values, 'imageGeneration'))),
    prices:
      textOf(values, 'free') === 'yes'
        ? 'free'
        : Array.from({ length: tierCount(values) }, (_, index) => tierIn(values, index)),
  };
}

/** Invalid numbers are kept as typed, to be rejected. */
const numeralsIn = (text: string): CatalogEntry =>
  Object.fromEntries(Object.entries(pairsIn(text)).map(([name, value]) => [name, wholeIn(value)]));

const given = (pairs: CatalogEntry) => (Object.keys(pairs).length > 0 ? pairs : undefined);

const tierIn = (values: FormBody, index: number): CatalogEntry => ({
  from_prompt_tokens: index === 0 ? new Numeral('0') : (wholeIn(textOf(values, tierField(index, 'from'))) ?? ''),
  ...Object.fromEntries(
    TOKEN_FIELDS.map(({ name }) => [name, optionalDecimal(textOf(values, tierField(index, name)))]),
  ),
});

/** Returns an invalid time as typed, so that it is rejected. */
function laterIn(values: FormBody, timeZone: string): string {
  const typed = textOf(values, 'from');
  return momentOf(typed, timeZone)?.toISOString() ?? (typed || 'nothing');
}

/** One capability per line. An unchanged line keeps its stored value and type. */
function capabilitiesIn(text: string, stored: Flags): unknown[] {
  const known = new Map(Object.entries(stored).map(([name, value]) => [capabilityLine(name, value), { name, value }]));
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .map((line) => {
      const kept = known.get(line);
      if (kept !== undefined) return { [kept.name]: kept.value };
      const [, name = line, value] = /^([^\s:]+)\s*:\s*(.*)$/.exec(line) ?? [];
      return value === undefined ? name : { [name]: capabilityIn(value) };
    });
}

function capabilityIn(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  if (/^-?\d+$/.test(text)) return new Numeral(text);
  if (!text.includes(',')) return text;
  return text
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');
}
