import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { ChannelChanges, RefusedEntries } from '../../../catalog/channels/index.js';
import { CatalogService, DEFAULT_GROUP, type ProviderPreset } from '../../../catalog/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { AdapterRegistry } from '../../../relay/index.js';
import { type FormBody, keepsSecret, Page, Redirect } from '../../web/index.js';
import { type CatalogForm, errorSentence, textOf, textsOf } from '../catalog-form.js';
import { newEntries, newModelRows } from './new-models.js';
import {
  baseUrlIn,
  carriedFields,
  checkConnection,
  draftOf,
  FIRST_PROVIDER,
  formOf,
  presetIn,
  providerRows,
  secretData,
  secretIn,
  tickedIn,
  typedModelsIn,
} from './provider-form.js';
import { type OfferedModels, ProviderModels } from './provider-models.js';

const TITLE = 'Add models';
const CRUMBS = [{ href: '/admin/models', label: 'Models & prices' }, { label: TITLE }];

/** Adds a channel and its models in two steps: connect to a provider, and choose from its list. */
@Injectable()
export class AddModelsPages {
  constructor(
    private readonly provider: ProviderModels,
    private readonly service: ChannelChanges,
    private readonly adapters: AdapterRegistry,
    private readonly recent: RecentSignIn,
    private readonly catalog: CatalogService,
  ) {}

  /** The first step. */
  connect(
    visitor: Visitor,
    body: FormBody = {},
    form: CatalogForm = formOf({ provider: FIRST_PROVIDER, ...body }),
  ): Page {
    return new Page('admin/add-models', {
      title: TITLE,
      data: {
        form,
        crumbs: CRUMBS,
        providers: providerRows(presetIn(form.values)),
        ...secretData(body),
        needsPassword: this.recent.needed(visitor),
      },
    });
  }

  /** The second step; the first one again if the provider's list cannot be read. */
  async choose(visitor: Visitor, body: FormBody): Promise<Page> {
    const form = formOf(body);
    const offered = await this.offered(visitor, form, body);
    return offered === undefined ? this.connect(visitor, body, form) : this.list(visitor, body, form, offered);
  }

  /** The channel that was added, or the page with errors. */
  async add(visitor: Visitor, body: FormBody): Promise<AddedModels | Page> {
    const form = formOf(body);
    const offered = await this.offered(visitor, form, body);
    if (offered === undefined) return this.connect(visitor, body, form);
    const again = (checkError?: string): Page => this.list(visitor, body, form, offered, checkError);
    const names = textsOf(body, 'model').filter((name) => offered.names.has(name));
    const [first] = names;
    if (first === undefined) form.refuse('model', 'Choose at least one model.');
    const { models, costs, errors } = newEntries(offered.models, form.values, {
      wanted: new Set(names),
      groups: [DEFAULT_GROUP],
    });
    Object.assign(form.errors, errors);
    if (form.refused || first === undefined) return again();
    if (textOf(body, '_unchecked') === '') {
      const { answered, message } = await this.provider.check(draftOf(form.values, body), first);
      if (!answered) return again(`${first}: ${message.replace(/[.\s]+$/, '')}.`);
    }
    const preset = presetIn(form.values);
    const name = await this.freeName(preset);
    const draft = draftOf(form.values, body);
    const entry = {
      ...draft.entry,
      name,
      models: Object.fromEntries(names.map((model) => [model, [model]])),
      costs,
      groups: [DEFAULT_GROUP],
      ...(preset.flags && { flags: preset.flags }),
    };
    const saved = await this.caught(form, async () => {
      await this.recent.confirm(visitor, textOf(body, 'password'));
      return this.service.save({ ...draft, entry, newModels: models }, this.adapters.defaultAuth);
    });
    if (saved === undefined) return again();
    await this.catalog.reload();
    return { channel: name, models: names };
  }

  private async offered(visitor: Visitor, form: CatalogForm, body: FormBody): Promise<OfferedModels | undefined> {
    const preset = presetIn(form.values);
    checkConnection(form, secretIn(body));
    if (form.refused) return undefined;
    return this.caught(form, async () => {
      const password = textOf(body, 'password');
      // Secrets that were typed before, or are in the server's environment, may be sent to a new address.
      if (password !== '' || keepsSecret(body) || secretIn(body).startsWith('env:'))
        await this.recent.confirm(visitor, password);
      return this.provider.offered(draftOf(form.values, body), preset, typedModelsIn(form.values));
    });
  }

  private list(visitor: Visitor, body: FormBody, form: CatalogForm, offered: OfferedModels, checkError?: string): Page {
    const filter = textOf(body, '_filter');
    const isShown = (name: string): boolean => name.toLowerCase().includes(filter.toLowerCase());
    const rows = newModelRows(offered.models, form.values).map((row) => ({ ...row, hidden: !isShown(row.name) }));
    const [priced, unpriced] = [
      rows.filter(({ missingFields }) => missingFields.length === 0),
      rows.filter(({ missingFields }) => missingFields.length > 0),
    ];
    const stored = offered.stored.map((name) => ({ name, hidden: !isShown(name) }));
    const ticked = tickedIn(body, { priced: shownIn(priced), unpriced: shownIn(unpriced), stored: shownIn(stored) });
    const withTicks = <Row extends { readonly name: string }>(list: readonly Row[]) =>
      list.map((row) => ({ ...row, ticked: ticked.has(row.name) }));
    return new Page('admin/add-models-choose', {
      title: TITLE,
      data: {
        form,
        crumbs: CRUMBS,
        provider: presetIn(form.values),
        baseUrl: baseUrlIn(form.values),
        carried: carriedFields(form.values),
        filter,
        shown: shownIn(rows).length + shownIn(stored).length,
        stored: withTicks(stored),
        priced: withTicks(priced),
        unpriced: withTicks(unpriced),
        unpricedOpen: priced.length === 0 || filter !== '' || unpriced.some(({ name }) => ticked.has(name)),
        total: offered.names.size,
        checkError,
        ...secretData(body),
        needsPassword: this.recent.needed(visitor),
      },
    });
  }

  /** `OpenAI`, or `OpenAI 2` if there is a channel with this name. */
  private async freeName({ label }: ProviderPreset): Promise<string> {
    const taken = new Set((await this.service.all()).map(({ name }) => name));
    for (let number = 1; ; number++) {
      const name = number === 1 ? label : `${label} ${number}`;
      if (!taken.has(name)) return name;
    }
  }

  /** Undefined if the work was refused for a reason that the form shows. */
  private async caught<T>(form: CatalogForm, work: () => Promise<T>): Promise<T | undefined> {
    try {
      return await work();
    } catch (error) {
      if (error instanceof RefusedEntries) for (const refused of error.errors) refuse(form, refused);
      else if (error instanceof AppError && error.details.param === 'password') form.refuse('password', error.message);
      else if (error instanceof AppError && error.kind === 'upstream_error')
        form.refuse('secret', `Could not list the models. ${error.message.replace(/[.\s]+$/, '')}.`);
      else throw error;
      return undefined;
    }
  }
}

const shownIn = (rows: readonly { readonly name: string; readonly hidden: boolean }[]): readonly string[] =>
  rows.filter(({ hidden }) => !hidden).map(({ name }) => name);

/** Of a channel and its models. */
export interface AddedModels {
  readonly channel: string;
  readonly models: readonly string[];
}

export const addedFlash = ({ channel, models }: AddedModels): Redirect => {
  const [first = ''] = models;
  const them = models.length === 1 ? 'it' : 'them';
  return new Redirect('/admin/models', {
    tone: 'ok',
    title: models.length === 1 ? `${first} added` : `${models.length} models added`,
    text: `The channel “${channel}” serves ${them}, and the group ${DEFAULT_GROUP} may call ${them}.`,
    action: { href: '/playground', label: 'Try in the playground' },
  });
};

/** Fields by the path of a catalog file error. */
function refuse(form: CatalogForm, { path, message }: { readonly path: string; readonly message: string }): void {
  if (path.endsWith('.base_url')) form.refuse('baseUrl', errorSentence('The base URL', message));
  else if (path.endsWith('.credentials')) form.refuse('secret', errorSentence('The API key', message));
  else form.refuse('model', errorSentence(path.startsWith('models') ? 'A model' : 'The channel', message));
}
