import { Injectable } from '@nestjs/common';
import type { KnownModel, ModelDefinition } from '../../../catalog/index.js';
import {
  CatalogDesk,
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

/** What of a stored model its form does not show. */
const keptOf = (stored: ModelDefinition | undefined) => ({
  capabilities: stored?.capabilities ?? {},
  enabled: stored?.enabled ?? true,
});

/** Whether the button of a submitted form only changes or previews the form. */
export const changesNothing = (body: FormBody): boolean =>
  /^(?:add-tier|recalculate|remove-tier-\d+)$/.test(textOf(body, '_act'));

/** The form of a new model and of one that there is. */
@Injectable()
export class ModelFormPages {
  constructor(
    private readonly desk: CatalogDesk,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
    private readonly page: ModelPage,
    private readonly clock: Clock,
  ) {}

  /** @param name of a model that a channel names already */
  async newModel(visitor: Visitor, name = ''): Promise<Page> {
    return this.page.show(visitor, undefined, { form: typedForm({ ...newValues(), name }) });
  }

  async edit(visitor: Visitor, name: string): Promise<Page> {
    const { thing, revision } = await this.inventory.model(name);
    return this.page.show(visitor, thing, { form: formOf(thing, revision, visitor.timeZone) });
  }

  /** Whatever one of the form's buttons asks for. @param name undefined: of the form of a new one */
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

  /** Switches it off, or on again. @throws ChangedMeanwhile */
  async switch(name: string, enabled: boolean): Promise<Redirect> {
    const { thing, revision } = await this.inventory.model(name);
    const { definition } = thing;
    if (definition !== undefined) await this.put({ ...modelEntry(definition), enabled }, seenAs(name, revision));
    return new Redirect(modelAddress(name), {
      tone: 'ok',
      title: enabled ? `${name} is switched on again` : `${name} is switched off`,
      text: enabled
        ? 'It can be called where a channel serves it.'
        : 'New calls of it are refused; its prices and its log stay.',
    });
  }

  /** Takes back prices that have not begun. @param time when they would begin, as an ISO time. @throws ChangedMeanwhile */
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
        ? { tone: 'ok', title: 'The prices are withdrawn', text: 'They never begin; what is in force stays.' }
        : { tone: 'warn', title: 'There is nothing to withdraw', text: 'These prices have begun, or were withdrawn.' },
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
      form.refuse('from', 'Enter a time that is still to come, or choose “As soon as saved”.');
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
      refuseBy(form, error.faults, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'The time' });
      return this.page.show(visitor, stored, { form, after });
    }
  }

  /** Somebody saved it first: shows both and asks again, now about what there is. */
  private async changedMeanwhile(visitor: Visitor, stored: KnownModel | undefined, form: TypedForm): Promise<Page> {
    if (stored === undefined) {
      form.refuse('name', 'Enter another name: there is a model of this name already.');
      return this.page.show(visitor, stored, { form });
    }
    const { thing, revision } = await this.inventory.model(stored.name);
    const now = formOf(thing, revision, visitor.timeZone).values;
    const differences = differencesOf(now, form.values, { ...labelsOf(now), ...labelsOf(form.values) });
    return this.page.show(visitor, thing, { form: typedForm({ ...form.values, revision }), differences });
  }

  /** What an entry made of the form means; undefined where it is refused, with the faults beside the fields. */
  private meaningOf(entry: object, form: TypedForm): ModelDefinition | undefined {
    try {
      return this.desk.meaningOf({ models: [entry] }).models[0];
    } catch (error) {
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.faults, fieldOf, { ...labelsOf(form.values), name: 'Name', from: 'The time' });
      return undefined;
    }
  }

  private put(
    entry: object,
    options: Omit<Parameters<CatalogDesk['put']>[1], 'protocols'> = {},
  ): Promise<readonly string[]> {
    return this.desk.put({ models: [entry] }, { protocols: this.adapters.usualAuth, ...options });
  }
}

/** What a change is made of: where it is something else by then, nothing is overwritten. */
const seenAs = (name: string, revision: string | undefined) => ({
  seen: { subject: { kind: 'model' as const, name }, revision },
});

const formOf = ({ name, definition }: KnownModel, revision: string, timeZone: string): TypedForm =>
  typedForm(definition ? valuesOf(definition, revision, timeZone) : { ...newValues(), name, revision });

function told(name: string, changes: readonly string[]) {
  const about = changes.map((line) => line.replace(`model ${name}: `, ''));
  if (about.length === 0) return { tone: 'ok' as const, title: 'Nothing was changed', text: 'It is stored as it was.' };
  if (about[0] === 'added')
    return { tone: 'ok' as const, title: `${name} is added`, text: 'It can be called once a channel serves it.' };
  return {
    tone: 'ok' as const,
    title: `${name} is saved`,
    text: `${about.join('; ')}. Calls in progress keep their prices.`,
  };
}
