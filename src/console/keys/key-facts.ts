import type { CatalogGroup } from '../../catalog/index.js';
import { describeLimits, type Limits } from '../../platform/limits/index.js';
import { count, price, times } from '../../platform/format/index.js';
import type { KeyCondition, OwnKey } from '../../keys/index.js';

interface Badge {
  readonly tone: 'ok' | 'warn' | 'bad' | '';
  readonly label: string;
}

/** The words for what can be said of a key; the filter lists them in this order. */
export const CONDITION_BADGES: Readonly<Record<KeyCondition, Badge>> = {
  enabled: { tone: 'ok', label: 'Enabled' },
  'near-quota': { tone: 'warn', label: 'Near quota' },
  'expires-soon': { tone: 'warn', label: 'Expires soon' },
  'used-up': { tone: 'bad', label: 'Quota used up' },
  expired: { tone: 'bad', label: 'Expired' },
  disabled: { tone: '', label: 'Disabled' },
  deleted: { tone: '', label: 'Deleted' },
};

export const badgeOf = ({ conditions: [first] }: OwnKey): Badge => CONDITION_BADGES[first ?? 'enabled'];

/** `saver, × 0.80`. */
export const groupText = ({ name, multiplier }: CatalogGroup): string => `${name}, ${times(multiplier)}`;

const PERIODS = [
  ['daily', 'a day'],
  ['weekly', 'a week'],
  ['monthly', 'a month'],
] as const;

/** What a key may spend, in words. */
export function limitsText({ quota, budgets }: OwnKey): string {
  const total = quota === undefined ? [] : [`${price(quota)} in all`];
  const each = PERIODS.flatMap(([name, period]) => {
    const limit = budgets[name]?.limit;
    return limit === undefined ? [] : [`${price(limit)} ${period}`];
  });
  return [...total, ...each].join(', ') || 'No limit';
}

/** So many networks are named; of more it is told how many they are. */
const NAMED_NETWORKS = 2;

/** From where a key may be used, in words; empty: from anywhere. */
export function networksText(networks: readonly string[] = []): string {
  if (networks.length > NAMED_NETWORKS) return `${networks.length} networks`;
  return networks.join(', ');
}

/** What else limits a key, in words: `60 calls a minute, 4 at a time, from 203.0.113.0/24`; empty when nothing does. */
export function paceText({ limits, networks }: Pick<OwnKey, 'limits' | 'networks'>): string {
  const places = networksText(networks);
  return [describeLimits(limits), places && `from ${places}`].filter(Boolean).join(', ');
}

/** What holds where a limit is left empty, by the fields of the form; empty where nothing does. */
export const defaultHints = ({ requestsPerMinute, tokensPerMinute, concurrency }: Limits) => ({
  callsPerMinute: defaultHint(requestsPerMinute),
  tokensPerMinute: defaultHint(tokensPerMinute),
  concurrency: defaultHint(concurrency),
});

const defaultHint = (limit: number | undefined): string =>
  limit === undefined ? '' : `Leave empty for the default of ${count(limit)}.`;

interface Crumb {
  readonly href?: string;
  readonly label: string;
}

/** Where a page of a key stands: below the list, and below the key itself when it is one of several. */
export const crumbsTo = (last: string, key?: { readonly id: string; readonly name: string }): readonly Crumb[] => [
  { href: '/keys', label: 'API keys' },
  ...(key === undefined ? [] : [{ href: `/keys/${key.id}`, label: key.name }]),
  { label: last },
];
