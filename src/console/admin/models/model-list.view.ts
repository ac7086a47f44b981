import type { Inventory } from '../../../catalog/channels/index.js';
import { type KnownModel, parsePricing } from '../../../catalog/index.js';
import { price, usd } from '../../../platform/format/index.js';
import { addressPart, filterOptions, listAddress, type ListQuery, nameInPart, textIn } from '../list-address.js';
import type { KnownMargin } from './model-margins.js';

/** States of a model; the badge shows the first that applies. */
const STATES = {
  off: { tone: '', label: 'Disabled' },
  'no-price': { tone: 'bad', label: 'No price' },
  later: { tone: 'warn', label: 'Upcoming' },
  'no-channel': { tone: 'warn', label: 'No channel' },
  offered: { tone: 'ok', label: 'Available' },
} as const;
type State = keyof typeof STATES;

const LIST = '/admin/models';

/** Query parameters; undefined: not filtered. */
type ModelListFilter = Readonly<Record<'q' | 'group' | 'state', string | undefined>>;

/** @param margins by model name; undefined: the aggregation timed out */
export function modelListView(
  inventory: Inventory,
  margins: ReadonlyMap<string, KnownMargin> | undefined,
  query: ListQuery,
) {
  const filter = { q: textIn(query, 'q'), group: textIn(query, 'group'), state: textIn(query, 'state') };
  const words = filter.q?.toLowerCase() ?? '';
  const rows = inventory.models
    .map((model) => rowOf(model, inventory, margins?.get(model.name)))
    .filter(({ state }) => filter.state === undefined || state === filter.state)
    .filter(({ groups }) => filter.group === undefined || groups.includes(filter.group))
    .filter((row) => [row.name, row.title, row.owner].some((text) => text.toLowerCase().includes(words)));
  return {
    rows,
    nothing: inventory.models.length === 0,
    unpriced: unpriced(inventory),
    tooSlow: margins === undefined,
    text: filter.q ?? '',
    groups: filterOptions(
      [['', 'All groups'], ...inventory.groups.map(({ name }) => [name, name] as const)],
      filter.group,
    ),
    states: filterOptions(
      [['', 'All states'], ...Object.entries(STATES).map(([id, { label }]) => [id, label] as const)],
      filter.state,
    ),
    chips: chipsOf(filter),
    addModels: { href: `${LIST}/add`, label: 'Add models', icon: 'plus' },
    newModel: { href: `${LIST}/new`, label: 'Add manually', icon: 'box' },
    all: { href: LIST, label: 'Clear filters' },
  };
}

/** Models that channels reference but the catalog does not contain. */
function unpriced({ models, channels }: Inventory) {
  const known = new Set(models.map(({ name }) => name));
  const missing = new Set(channels.flatMap((channel) => channel.models).filter((name) => !known.has(name)));
  return [...missing].map((name) => ({
    name,
    channels: channels.filter((channel) => channel.models.includes(name)).map((channel) => channel.name),
    href: `${LIST}/new?name=${encodeURIComponent(name)}`,
  }));
}

function rowOf(model: KnownModel, { channels }: Inventory, margin: KnownMargin | undefined) {
  const { definition } = model;
  const serving = channels.filter((channel) => channel.models.includes(model.name)).map(({ name }) => name);
  const state = stateOf(model, serving);
  return {
    name: model.name,
    href: modelAddress(model.name),
    title: definition?.displayName ?? model.name,
    owner: model.ownedBy,
    prices: definition && pricesOf(definition.pricing),
    upcoming: definition?.validFrom ?? definition?.upcoming?.[0]?.validFrom,
    channels: serving,
    groups: definition?.groups ?? [],
    margin: margin && marginView(margin),
    state,
    badge: STATES[state],
  };
}

function stateOf({ enabled, definition, price: current }: KnownModel, serving: readonly string[]): State {
  if (!enabled) return 'off';
  if (definition === undefined) return 'no-price';
  if (current === undefined) return 'later';
  return serving.length === 0 ? 'no-channel' : 'offered';
}

/** Prices of the first tier, and the number of further tiers. */
function pricesOf(definition: Parameters<typeof parsePricing>[0]) {
  const { costsNothing, tiers, requestFee } = parsePricing(definition);
  const prices = tiers[0]?.prices;
  return {
    free: costsNothing,
    input: price(prices?.input ?? 0n),
    cached: price(prices?.cache_read ?? 0n),
    output: price(prices?.output ?? 0n),
    fee: requestFee > 0n ? price(requestFee) : undefined,
    moreTiers: tiers.length - 1,
  };
}

/** `partly`: some calls have an unknown cost. */
export const marginView = ({ margin, calls, known }: KnownMargin) => ({
  amount: margin && usd(margin.amount),
  /** Undefined if nothing was charged. */
  share: margin?.share === '–' ? undefined : margin?.share,
  isLoss: margin?.isLoss ?? false,
  partly: known > 0 && known < calls,
  known,
  calls,
});

function chipsOf(filter: ModelListFilter) {
  const labels = { q: 'Search', group: 'Group', state: 'State' };
  return (['q', 'group', 'state'] as const).flatMap((name) => {
    const chosen = filter[name];
    if (chosen === undefined) return [];
    const value = name === 'state' ? (STATES[chosen as State]?.label ?? chosen) : chosen;
    return [{ label: labels[name], value, href: listAddress(LIST, { ...filter, [name]: undefined }) }];
  });
}

const encoded = (name: string): string => name.split('/').map(addressPart).join('/');

/** The URL of a model's page. Names may contain slashes, but no blanks or commas. */
export const modelAddress = (name: string): string => `/admin/models/${encoded(name)}`;

/** Inverse of `modelAddress`. @param rest decoded path after `/admin/models/` */
export const modelNameIn = (rest: string): string => rest.split('/').map(nameInPart).join('/');

/** URLs for enabling or disabling a model, and for withdrawing upcoming prices. */
export const switchAddress = (name: string): string => `/admin/switch-model/${encoded(name)}`;
export const withdrawAddress = (name: string): string => `/admin/withdraw-prices/${encoded(name)}`;
