import { Injectable } from '@nestjs/common';
import {
  CatalogChanges,
  CatalogInventory,
  ChangedMeanwhile,
  type EntryError,
  groupEntry,
  RefusedEntries,
} from '../../../catalog/channels/index.js';
import type { GroupDefinition } from '../../../catalog/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { type FormBody, type Page, Redirect } from '../../web/index.js';
import {
  decimalIn,
  differencesOf,
  linesOf,
  pairsIn,
  refuseBy,
  textOf,
  catalogForm,
  type CatalogForm,
  wholeIn,
} from '../catalog-form.js';
import { checkMoves, contentOf, contentValues, movesIn, withFactors } from './group-content.js';
import { groupAddress, GroupPage } from './group.page.js';

/** The price preview does not depend on the group’s name. */
const ANY_NAME = 'any';

/** Whether the form was submitted for a preview only. */
export const isPreview = (body: FormBody): boolean => textOf(body, '_act') === 'recalculate';

/** The form of a new or existing group. */
@Injectable()
export class GroupFormPages {
  constructor(
    private readonly service: CatalogChanges,
    private readonly inventory: CatalogInventory,
    private readonly adapters: AdapterRegistry,
    private readonly page: GroupPage,
  ) {}

  newGroup(): Promise<Page> {
    return this.page.show(undefined, { form: catalogForm(newValues()) });
  }

  async edit(name: string): Promise<Page> {
    const { thing, revision, inventory } = await this.inventory.group(name);
    const values = { ...valuesOf(thing, revision), ...contentValues(contentOf(name, inventory)) };
    return this.page.show(thing, { form: catalogForm(values) });
  }

  /** Saves or previews. @param name undefined for a new group */
  async submit(name: string | undefined, sent: FormBody): Promise<Page | Redirect> {
    const body = withFactors(sent);
    const stored = name === undefined ? undefined : (await this.inventory.group(name)).thing;
    const form = catalogForm(name === undefined ? body : { ...body, name });
    const isAsked = isPreview(body);
    const after = this.meaningOf(stored, form, isAsked ? { name: ANY_NAME } : {});
    if (form.refused || isAsked) return this.page.show(stored, { form, after });
    return this.save(stored, form, after);
  }

  /** @throws ChangedMeanwhile */
  async switch(name: string, enabled: boolean): Promise<Redirect> {
    const { thing, revision } = await this.inventory.group(name);
    await this.put({ ...groupEntry(thing), enabled }, { expected: { subject: { kind: 'group', name }, revision } });
    return new Redirect(groupAddress(name), {
      tone: 'ok',
      title: enabled ? `Group ${name} enabled` : `Group ${name} disabled`,
      text: enabled
        ? 'Calls billed to it are accepted again.'
        : 'New calls billed to it are rejected. Its settings are kept.',
    });
  }

  private async save(
    stored: GroupDefinition | undefined,
    form: CatalogForm,
    after: GroupDefinition | undefined,
  ): Promise<Page | Redirect> {
    const name = textOf(form.values, 'name');
    const moves = movesIn(form.values, name);
    try {
      checkMoves(moves, await this.inventory.all());
      const changes = await this.put(entryOf(form.values, stored?.enabled ?? true), {
        reason: textOf(form.values, 'reason').slice(0, 2000),
        expected: { subject: { kind: 'group', name }, revision: stored && textOf(form.values, 'revision') },
        moves,
      });
      const reported = changes.map((line) => line.replace(`group ${name}: `, '')).join('; ');
      return new Redirect(groupAddress(name), {
        tone: 'ok',
        title: changes.length > 0 ? `Group ${name} saved` : 'No changes to save',
        ...(stored && reported && { text: `${reported}. In-flight calls keep their prices.` }),
      });
    } catch (error) {
      if (error instanceof ChangedMeanwhile) return this.changedMeanwhile(stored, form);
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.errors, fieldOf, { ...LABELS, name: 'Name', content: 'The group' });
      return this.page.show(stored, { form, after });
    }
  }

  /** Shows conflicting changes next to the typed values, for another attempt. */
  private async changedMeanwhile(stored: GroupDefinition | undefined, form: CatalogForm): Promise<Page> {
    if (stored === undefined) {
      form.refuse('name', 'Enter another name. A group with this name already exists.');
      return this.page.show(stored, { form });
    }
    const { thing, revision } = await this.inventory.group(stored.name);
    const differences = differencesOf(valuesOf(thing, revision), form.values, LABELS);
    return this.page.show(thing, { form: catalogForm({ ...form.values, revision }), differences });
  }

  /** The group that the form describes; undefined if invalid, with errors added to the fields. */
  private meaningOf(
    stored: GroupDefinition | undefined,
    form: CatalogForm,
    instead: object,
  ): GroupDefinition | undefined {
    try {
      return this.service.meaningOf({ groups: [{ ...entryOf(form.values, stored?.enabled ?? true), ...instead }] })
        .groups[0];
    } catch (error) {
      if (!(error instanceof RefusedEntries)) throw error;
      refuseBy(form, error.errors, fieldOf, { ...LABELS, name: 'Name' });
      return undefined;
    }
  }

  private put(
    entry: object,
    options: Omit<Parameters<CatalogChanges['put']>[1], 'protocols'> = {},
  ): Promise<readonly string[]> {
    return this.service.put({ groups: [entry] }, { protocols: this.adapters.defaultAuth, ...options });
  }
}

/** Initial form values of a new group. */
const newValues = (): FormBody => ({ multiplier: '1', choice: 'everyone' });

/** Form values of a stored group. */
const valuesOf = (group: GroupDefinition, revision: string): FormBody => ({
  name: group.name,
  multiplier: group.multiplier.replace(/(\.\d*?)0+$/, '$1').replace(/\.$/, ''),
  models: linesOf(group.models),
  description: group.description,
  choice: group.choice,
  callsPerMinute: String(group.limits.requestsPerMinute ?? ''),
  tokensPerMinute: String(group.limits.tokensPerMinute ?? ''),
  concurrency: String(group.limits.concurrency ?? ''),
  reason: '',
  revision,
});

/** The form as a catalog file entry, to be validated by the catalog file's checks. */
const entryOf = (values: FormBody, enabled: boolean): Readonly<Record<string, unknown>> => ({
  name: textOf(values, 'name'),
  multiplier: decimalIn(textOf(values, 'multiplier')),
  models: pairsIn(textOf(values, 'models')),
  description: textOf(values, 'description'),
  choice: textOf(values, 'choice'),
  enabled,
  limits: {
    requests_per_minute: wholeIn(textOf(values, 'callsPerMinute')),
    tokens_per_minute: wholeIn(textOf(values, 'tokensPerMinute')),
    concurrency: wholeIn(textOf(values, 'concurrency')),
  },
});

const FIELDS: Readonly<Record<string, string>> = {
  content: 'content',
  multiplier: 'multiplier',
  models: 'models',
  description: 'description',
  choice: 'choice',
  'limits.requests_per_minute': 'callsPerMinute',
  'limits.tokens_per_minute': 'tokensPerMinute',
  'limits.concurrency': 'concurrency',
};

/** The field of an error path: `groups[0].limits.concurrency` is `concurrency`. */
const fieldOf = ({ path }: EntryError): string => FIELDS[path.replace(/^groups\[0\]\./, '')] ?? 'name';

/** Labels of fields with conflicting changes. */
const LABELS: Readonly<Record<string, string>> = {
  multiplier: 'Multiplier',
  models: 'Multipliers of models',
  description: 'Description',
  choice: 'Available to',
  callsPerMinute: 'Calls per minute',
  tokensPerMinute: 'Tokens per minute',
  concurrency: 'Concurrent calls',
};
