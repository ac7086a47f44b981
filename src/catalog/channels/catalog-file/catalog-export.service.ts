import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { Document, isCollection, isPair, isScalar, type ScalarTag, visit } from 'yaml';
import { AppError } from '../../../platform/shared/index.js';
import { CatalogEditor } from '../../index.js';
import { ChannelEditor } from '../channel.editor.js';
import type { ChannelEntity, StoredCredential } from '../channel.entity.js';
import { CredentialVault } from '../credential-store.js';
import { channelEntry, defaultLimitsEntry, groupEntry, modelEntry } from './entries-from-definitions.js';
import { Numeral } from './fields.js';

interface ExportedCatalog {
  /** The catalog file, with `***` in the place of every stored secret. */
  readonly text: string;
  /** The same file with the secrets themselves. @throws AppError naming the channel whose secret cannot be opened */
  readonly withSecrets: () => string;
}

/** Writes the catalog file that would make the catalog what it is. What is switched off is in it only where something names it. */
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
    const limits = defaultLimitsEntry(definitions.usualLimits);
    const usualLimits = Object.keys(limits).length > 0 ? { limits } : {};
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
        ...usualLimits,
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

/** Not as the database sorts, which may go by the rules of a language: the same catalog is the same file everywhere. */
const byName = <Named extends { readonly name: string }>(things: readonly Named[]): readonly Named[] =>
  things.toSorted((one, other) => (one.name < other.name ? -1 : 1));

const HEADING = 'The stored catalog. Applying this file changes nothing.';
const WIDTH = 120;
/** How many nodes stand above the fields of an entry: document, mapping, pair, list, entry. */
const ENTRY_LEVEL = 4;
const UPCOMING = 'upcoming';
/** Fields of which each item has a line of its own. */
const LISTS: ReadonlySet<unknown> = new Set(['prices', 'costs', UPCOMING]);

/** Decimals are written as their text: a JavaScript number could not say all of them. */
const NUMERAL: ScalarTag = {
  tag: 'tag:yaml.org,2002:float',
  default: true,
  identify: (value) => value instanceof Numeral,
  test: /(?!)/,
  resolve: (text) => text,
  stringify: ({ value }) => (value instanceof Numeral ? value.source : String(value)),
};

/** The YAML text of a catalog: an entry has a line for each field, each price tier and each cost. */
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

/** The name of a field, when it is one. */
const fieldOf = (node: unknown): unknown => (isPair(node) && isScalar(node.key) ? node.key.value : undefined);
