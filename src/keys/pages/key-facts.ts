import type { CatalogGroup } from '../../catalog/index.js';
import { price, times } from '../../web/index.js';
import type { KeyCondition, OwnKey } from '../own-key.js';

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

interface Crumb {
  readonly href?: string;
  readonly label: string;
}

/** Where a page of a key stands: below the list, and below the key itself when it is one of several. */
export const crumbsTo = (last: string, key?: { readonly id: string; readonly name: string }): readonly Crumb[] => [
  { href: '/keys', label: 'Keys' },
  ...(key === undefined ? [] : [{ href: `/keys/${key.id}/edit`, label: key.name }]),
  { label: last },
];
