import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Document, isCollection, isPair, isScalar, type ScalarTag, visit } from 'yaml';
import type { DefaultLimits, Limits } from '../../../platform/limits/index.js';
import { AppError } from '../../../platform/shared/index.js';
import { CatalogEditor, type GroupDefinition, type KnownModel, type Subject } from '../../index.js';
import { ChannelEditor } from '../channel.editor.js';
import type { ChannelEntity, StoredCredential } from '../channel.entity.js';
import { CredentialVault } from '../credential-store.js';
import { channelEntry, defaultLimitsEntry, groupEntry, modelEntry } from './entries-from-definitions.js';
import { Numeral } from './fields.js';

interface ExportedCatalog {
  /** The catalog file with `***` for every stored secret. */
  readonly text: string;
  /** The same file with secrets. @throws AppError naming the channel whose secret cannot be decrypted */
  readonly withSecrets: () => string;
}

/** Exports the catalog as a file that reproduces it. Disabled objects are included only if referenced. */
@Injectable()
export class CatalogExport {
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
    private readonly vault: CredentialVault,
  ) {}

  async export(): Promise<ExportedCatalog> {
    const [definitions, channels] = await this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const stored = await this.channels.stored(manager);
      return [await this.catalog.definitions(manager, stored), stored] as const;
    });
    const limits = defaultLimitsEntry(definitions.defaultLimits);
    const defaultLimits = Object.keys(limits).length > 0 ? { limits } : {};
    const render = (credential: (stored: StoredCredential, channel: ChannelEntity) => string): string =>
      renderCatalog({
        groups: byName(definitions.groups).map(groupEntry),
        models: byName(definitions.models).map(modelEntry),
        channels: byName(channels).map((channel) =>
          channelEntry(
            channel,
            channel.credentials.map((stored) => credential(stored, channel)),
          ),
        ),
        ...defaultLimits,
      });
    return {
      text: render((stored) => ('env' in stored ? `env:${stored.env}` : '***')),
      withSecrets: () =>
        render((stored, channel) => ('env' in stored ? `env:${stored.env}` : this.open(stored.sealed, channel))),
    };
  }

  private open(sealed: string, { id, name }: ChannelEntity): string {
    try {
      return this.vault.open(sealed, id).reveal();
    } catch (error) {
      throw new AppError('internal', `Channel ${name}: ${AppError.from(error).message}.`, {}, { cause: error });
    }
  }
}

/** Code point order, so that the file does not depend on the database's collation. */
const byName = <Named extends { readonly name: string }>(things: readonly Named[]): readonly Named[] =>
  things.toSorted((one, other) => (one.name < other.name ? -1 : 1));

const HEADING = 'The stored catalog. Applying this file changes nothing.';
const WIDTH = 120;
/** Depth of an entry's fields: document, mapping, pair, list, entry. */
const ENTRY_LEVEL = 4;
const UPCOMING = 'upcoming';
/** Fields whose items have a line each. */
const LISTS: ReadonlySet<unknown> = new Set(['prices', 'costs', UPCOMING]);

/** Decimals are written as text, which JavaScript numbers could not represent exactly. */
const NUMERAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof Numeral,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Numeral ? value.source : String(value)),
};

/** YAML text with one line per field, price tier and cost. */
export function renderCatalog(
  catalog: Readonly<Record<string, readonly unknown[] | Readonly<Record<string, unknown>>>>,
): string {
  const document = new Document(catalog, { schema: 'core', customTags: (tags) => [NUMERAL, ...tags] });
  document.commentBefore = HEADING;
  visit(document, {
    Collection: (_, node, path) => {
      const isOpen = LISTS.has(fieldOf(path.at(-1))) || fieldOf(path.at(-2)) === UPCOMING;
      node.flow = path.length > ENTRY_LEVEL && !isOpen;
    },
    Pair: (_, { value }) => {
      if (isCollection(value) && value.items.length === 0) value.flow = true;
    },
  });
  return document.toString({ lineWidth: WIDTH });
}

/** The field's name if the node is a field. */
const fieldOf = (node: unknown): unknown => (isPair(node) && isScalar(node.key) ? node.key.value : undefined);

/** The catalog at one moment, including disabled objects, and enabled channels. */
export interface Inventory {
  readonly groups: readonly GroupDefinition[];
  readonly models: readonly KnownModel[];
  readonly channels: readonly ListedChannel[];
}

interface ListedChannel {
  readonly name: string;
  /** Public model names. */
  readonly models: readonly string[];
  readonly groups: readonly string[];
}

/** An object and its revision. */
export interface WithRevision<Thing> {
  readonly thing: Thing;
  readonly revision: string;
  readonly inventory: Inventory;
}

/** The stored catalog, for editing. */
@Injectable()
export class CatalogInventory {
  constructor(
    private readonly dataSource: DataSource,
    private readonly catalog: CatalogEditor,
    private readonly channels: ChannelEditor,
  ) {}

  async all(): Promise<Inventory> {
    return (await this.read()).inventory;
  }

  /** @throws AppError not_found */
  async model(name: string): Promise<WithRevision<KnownModel>> {
    const { inventory, revision } = await this.read({ kind: 'model', name });
    return { thing: found(inventory.models, name, 'model'), revision, inventory };
  }

  /** @throws AppError not_found */
  async group(name: string): Promise<WithRevision<GroupDefinition>> {
    const { inventory, revision } = await this.read({ kind: 'group', name });
    return { thing: found(inventory.groups, name, 'group'), revision, inventory };
  }

  /** Default limits of a kind. */
  defaultLimits(kind: keyof DefaultLimits): Promise<{ readonly limits: Limits; readonly revision: string }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const limits = (await this.catalog.defaultLimits(manager))[kind];
      const revision = await this.catalog.revisionOf({ kind: 'limits', name: kind, id: kind }, manager);
      return { limits, revision: revision ?? '' };
    });
  }

  private read(subject?: Subject): Promise<{ readonly inventory: Inventory; readonly revision: string }> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const content = await this.catalog.everything(manager);
      const channels = (await this.channels.stored(manager)).map(({ name, models, groups }) => ({
        name,
        models: Object.keys(models),
        groups,
      }));
      const revision = subject && (await this.catalog.revisionOf(subject, manager));
      return { inventory: { ...content, channels }, revision: revision ?? '' };
    });
  }
}

function found<Thing extends { readonly name: string }>(things: readonly Thing[], name: string, kind: string): Thing {
  const thing = things.find((one) => one.name === name);
  if (thing === undefined) throw new AppError('not_found', `${kind} “${name}” not found.`);
  return thing;
}
