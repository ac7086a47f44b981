import { Injectable } from '@nestjs/common';
import type { KnownModel, ModelDefinition } from '../../../catalog/index.js';
import {
  CatalogChanges,
  CatalogInventory,
  ChangedMeanwhile,
  modelEntry,
  RefusedEntries,
} from '../../../catalog/channels/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { type FormBody, type Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { differencesOf, refuseBy, textOf, typedForm, type TypedForm } from '../catalog-form.js';
import { modelAddress } from './model-address.js';
import { entryOf, pricesOnly } from './model-entry.js';
import { fieldOf, labelsOf, withoutTier, withTier } from './model-fields.js';
import { ModelPage } from './model.page.js';
import { newValues, valuesOf } from './model-values.js';

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
    private readonly desk: CatalogChanges,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
    private readonly page: ModelPage,
    private readonly clock: Clock,
  ) {}

  /** @param name prefills the form with a name that a channel already uses */
  async newModel(visitor: Visitor, name = ''): Promise<Page> {
    return this.page.show(visitor, undefined, { form: typedForm({ ...newValues(), name }) });
  }

  async edit(visitor: Visitor, name: string): Promise<Page> {
    const { thing, revision } = await this.inventory.model(name);
    return this.page.show(visitor, thing, { form: formOf(thing, revision, visitor.timeZone) });
  }

  /** Handles all buttons of the form. @param name undefined for a new model */
  async submit(visitor: Visitor, name: string | undefined, body: FormBody): Promise<Page | Redirect> {
    const act = textOf(body, '_act');
    const stored = name === undefined ? undefined : (await this.inventory.model(name)).thing;
    const form = typedForm(name === undefined ? body : { ...body, name });
    const removed = /^remove-tier-(\d+)$/.exec(act)?.[1];
    if (removed !== undefined)
      return this.page.show(visitor, stored, { form: typedForm(withoutTier(form.values, Number(removed))) });
    if (act === 'add-tier') return this.page.show(visitor, stored, { form: typedForm(withTier(form.values)) });
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

  private recalculated(visitor: Visitor, stored: KnownModel | undefined, form: TypedForm): Promise<Page> {
    const after = this.meaningOf(pricesOnly(form.values), form);
    return this.page.show(visitor, stored, { form, after: after?.pricing });
  }

  private async save(visitor: Visitor, stored: KnownModel | undefined, form: TypedForm): Promise<Page | Redirect> {
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
      return new Redirect(modelAddress(name), told(name, changes));
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return this.changedMeanwhile(visitor, stored, form);
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.faults, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'Date and time' });
      return this.page.show(visitor, stored, { form, after });
    }
  }

  /** Shows conflicting changes next to the typed values, for another attempt. */
  private async changedMeanwhile(visitor: Visitor, stored: KnownModel | undefined, form: TypedForm): Promise<Page> {
    if (stored === undefined) {
      form.refuse('name', 'Enter another name. A model with this name already exists.');
      return this.page.show(visitor, stored, { form });
    }
    const { thing, revision } = await this.inventory.model(stored.name);
    const now = formOf(thing, revision, visitor.timeZone).values;
    const differences = differencesOf(now, form.values, { ...labelsOf(now), ...labelsOf(form.values) });
    return this.page.show(visitor, thing, { form: typedForm({ ...form.values, revision }), differences });
  }

  /** The parsed entry; undefined if invalid, with errors added to the fields. */
  private meaningOf(entry: object, form: TypedForm): ModelDefinition | undefined {
    try {
      return this.desk.meaningOf({ models: [entry] }).models[0];
    } catch (error) {
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.faults, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'Date and time' });
      return undefined;
    }
  }

  private put(
    entry: object,
    options: Omit<Parameters<CatalogChanges['put']>[1], 'protocols'> = {},
  ): Promise<readonly string[]> {
    return this.desk.put({ models: [entry] }, { protocols: this.adapters.usualAuth, ...options });
  }
}

/** The revision that a change is based on; a newer one is not overwritten. */
const seenAs = (name: string, revision: string | undefined) => ({
  seen: { subject: { kind: 'model' as const, name }, revision },
});

const formOf = ({ name, definition }: KnownModel, revision: string, timeZone: string): TypedForm =>
  typedForm(definition ? valuesOf(definition, revision, timeZone) : { ...newValues(), name, revision });

function told(name: string, changes: readonly string[]) {
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
