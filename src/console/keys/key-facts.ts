import type { CatalogGroup } from '../../catalog/index.js';
import type { ApiKey, KeyCondition, OwnKey } from '../../keys/index.js';
import { count, price, times } from '../../platform/format/index.js';
import { describeLimits, type Limits } from '../../platform/limits/index.js';
import { addDays, dayOf, type Nanos, startOfDay } from '../../platform/shared/index.js';
import { quotaMeter } from '../web/index.js';
import { lastDay } from './key-settings.view.js';

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

const WEEK_DAYS = 7;
const NEAR = ['today', 'tomorrow'];

/** When a key expires, as lists show it. */
interface ExpiryView {
  /** A moment of its last day. */
  readonly at: Date;
  /** Whether it ends with that day, so that the time need not be told. */
  readonly wholeDay: boolean;
  /** How soon, when it is: `in 3 days`. */
  readonly soon: string;
}

/** Undefined: never. */
export function expiryView(expiresAt: Date | undefined, timeZone: string, now: Date): ExpiryView | undefined {
  if (expiresAt === undefined) return undefined;
  const last = lastDay(expiresAt, timeZone);
  const today = dayOf(now, timeZone);
  const wholeDay = startOfDay(addDays(last, 1), timeZone).getTime() === expiresAt.getTime();
  const inDays = Math.round((Date.parse(last) - Date.parse(today)) / 86_400_000);
  return {
    at: wholeDay ? new Date(expiresAt.getTime() - 1) : expiresAt,
    wholeDay,
    soon: inDays >= 0 && inDays <= WEEK_DAYS ? (NEAR[inDays] ?? `in ${inDays} days`) : '',
  };
}

/** One limit of a key with what is used of it, as `quota-meter` draws it. */
interface LimitView {
  readonly name: string;
  readonly used: Nanos;
  readonly quota: Nanos;
  readonly held: Nanos;
  readonly period: string;
  readonly meter: ReturnType<typeof quotaMeter>;
  /** When a budget begins anew. */
  readonly resetsAt: Date | undefined;
}

const BUDGETS = [
  ['daily', 'Daily budget', 'today'],
  ['weekly', 'Weekly budget', 'this week'],
  ['monthly', 'Monthly budget', 'this month'],
] as const;

/** Every limit that the key has, the quota first. */
export const limitsOf = ({ quota, used, held, budgets }: ApiKey): readonly LimitView[] => [
  ...(quota === undefined ? [] : [shownLimit('Quota', { limit: quota, used, held }, 'in all')]),
  ...BUDGETS.flatMap(([name, label, period]) => {
    const budget = budgets[name];
    return budget === undefined ? [] : [shownLimit(label, budget, period)];
  }),
];

interface Limit {
  readonly limit: Nanos;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly resetsAt?: Date;
}

const shownLimit = (name: string, { limit, used, held, resetsAt }: Limit, period: string): LimitView => ({
  name,
  used,
  held,
  quota: limit,
  period,
  meter: quotaMeter(used, limit),
  resetsAt,
});

/** The limit that will be met first, as far as can be told: the fullest one. */
export const fullestOf = (limits: readonly LimitView[]): LimitView | undefined =>
  limits.toSorted((one, other) => Number(other.meter.width) - Number(one.meter.width))[0];
