import { Injectable } from '@nestjs/common';
import { ChannelChanges, type EditedChannel, RefusedEntries } from '../../../catalog/channels/index.js';
import { bookModels, CatalogService, PROVIDERS } from '../../../catalog/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { type Form, type FormBody } from '../../web/index.js';
import { textOf, textsOf } from '../catalog-form.js';
import { newEntries, type NewModel, newModel, newModelRows } from '../models/new-models.js';
import { refuse } from './channel-errors.js';
import type { ChannelForm } from './channel-form.js';
import { modelsIn } from './form-rows.js';

/** Saves channels, together with models that they name and the catalog lacks. */
@Injectable()
export class ChannelWriter {
  constructor(
    private readonly service: ChannelChanges,
    private readonly adapters: AdapterRegistry,
    private readonly catalog: CatalogService,
    private readonly clock: Clock,
  ) {}

  /** The view of models that the form names and the catalog lacks. @param body undefined: nothing was submitted yet */
  async newRows(values: FormBody, body: FormBody | undefined) {
    return body === undefined ? [] : newModelRows(await this.missing(values), body);
  }

  /** Undefined if the form was rejected. @throws ChangedMeanwhile */
  async save(form: Form<ChannelForm>, edited: EditedChannel, body: FormBody) {
    const missing = await this.missing(form.values);
    const unseen = missing.find(({ name }) => !textsOf(body, '_newModel').includes(name));
    if (unseen !== undefined) {
      form.refuse('public', unknownModel(unseen.name));
      return undefined;
    }
    const groups = textsOf(form.values, 'groups');
    const wanted = new Set(missing.map(({ name }) => name));
    const { models, costs, errors } = newEntries(missing, body, { wanted, groups });
    Object.assign(form.errors, errors);
    if (form.refused) return undefined;
    const entry = { ...edited.entry, costs: { ...costs, ...(edited.entry['costs'] as object | undefined) } };
    try {
      const saved = await this.service.save({ ...edited, entry, newModels: models }, this.adapters.defaultAuth);
      // The next page shows the state of the channel in this process.
      await this.catalog.reload();
      return saved;
    } catch (error) {
      if (!(error instanceof RefusedEntries)) throw error;
      refuse(form, error.errors);
      return undefined;
    }
  }

  private async missing(values: FormBody): Promise<readonly NewModel[]> {
    const known = this.catalog.current().models;
    const names = { public: textsOf(values, 'public'), upstream: textsOf(values, 'upstream') };
    const missing = Object.entries(modelsIn(names)).filter(([name]) => !known.has(name));
    if (missing.length === 0) return [];
    const baseUrl = textOf(values, 'baseUrl').replace(/\/+$/, '');
    const preset = PROVIDERS.find((provider) => provider.baseUrl === baseUrl);
    const upstream = missing.map(([name, [first = name]]) => ({ name, first }));
    const seller = { book: preset?.book, baseUrl };
    const book = await bookModels(
      upstream.map(({ first }) => first),
      seller,
      this.clock.date(),
    );
    return upstream.map(({ name, first }) => ({
      ...newModel({ listed: { name: first, capabilities: [] }, book: book.get(first), preset }),
      name,
    }));
  }
}

const unknownModel = (name: string): string =>
  `The model “${name}” does not exist. Save again to create it as shown below, or remove it.`;
