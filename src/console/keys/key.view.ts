import type { ApiKey, KeyCondition, KeyNotice, OwnKey } from '../../keys/index.js';
import { count, dateTime, price, usd } from '../../platform/format/index.js';
import { describeLimits, type Limits } from '../../platform/limits/index.js';
import { addDays, dayOf, type Nanos, type Secret, startOfDay } from '../../platform/shared/index.js';
import { logAddress, usageQuery } from '../usage/index.js';
import { Page, quotaMeter, Redirect, STORE_KEY } from '../web/index.js';
import type { KeyChoices } from './key-choices.js';
import { lastDay } from './key-form.js';

interface Badge {
  readonly tone: 'ok' | 'warn' | 'bad' | '';
  readonly label: string;
}

/** In the order of the state filter. */
export const CONDITION_BADGES: Readonly<Record<KeyCondition, Badge>> = {
  enabled: { tone: 'ok', label: 'Enabled' },
  'near-quota': { tone: 'warn', label: 'Near a limit' },
  'expires-soon': { tone: 'warn', label: 'Expires soon' },
  'used-up': { tone: 'bad', label: 'Limit used up' },
  expired: { tone: 'bad', label: 'Expired' },
  disabled: { tone: '', label: 'Disabled' },
  deleted: { tone: '', label: 'Deleted' },
};

/** Names the limit that is used up, or nearly: `Daily budget used up`. */
export function badgeOf(key: OwnKey): Badge {
  const [condition = 'enabled'] = key.conditions;
  const badge = CONDITION_BADGES[condition];
  const limit = condition === 'used-up' || condition === 'near-quota' ? fullestOf(limitsOf(key)) : undefined;
  if (limit === undefined) return badge;
  const { name } = limit;
  return { ...badge, label: condition === 'used-up' ? `${name} used up` : `Near ${name.toLowerCase()}` };
}

const PERIODS = [
  ['daily', 'per day'],
  ['weekly', 'per week'],
  ['monthly', 'per month'],
] as const;

/** `$25.00 total, $5.00 per day`. */
export function limitsText({ quota, budgets }: OwnKey): string {
  const total = quota === undefined ? [] : [`${price(quota)} total`];
  const each = PERIODS.flatMap(([name, period]) => {
    const limit = budgets[name]?.limit;
    return limit === undefined ? [] : [`${price(limit)} ${period}`];
  });
  return [...total, ...each].join(', ') || 'No limit';
}

const MAX_NAMED_NETWORKS = 2;

/** Empty: usable from anywhere. */
function networksText(networks: readonly string[] = []): string {
  if (networks.length > MAX_NAMED_NETWORKS) return `${networks.length} networks`;
  return networks.join(', ');
}

/** Rate limits and networks: `60 calls/min, 4 at a time · only from 203.0.113.0/24`; empty if there are none. */
export function paceText({ limits, networks }: Pick<OwnKey, 'limits' | 'networks'>): string {
  const places = networksText(networks);
  return [describeLimits(limits), places && `only from ${places}`].filter(Boolean).join(' · ');
}

/** Hints with the default limit of each form field; empty where there is none. */
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

/** @param key the page's parent, if it is one of several pages of a key */
export const crumbsTo = (last: string, key?: { readonly id: string; readonly name: string }): readonly Crumb[] => [
  { href: '/keys', label: 'API keys' },
  ...(key === undefined ? [] : [{ href: `/keys/${key.id}`, label: key.name }]),
  { label: last },
];

const WEEK_DAYS = 7;
const NEAR = ['today', 'tomorrow'];

interface ExpiryView {
  /** A moment of its last day. */
  readonly at: Date;
  /** Whether it ends with that day, so that the time is omitted. */
  readonly wholeDay: boolean;
  /** `in 3 days`; empty if it is not soon. */
  readonly soon: string;
}

/** Undefined if it never expires. */
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

/** Data of the `quota-meter` partial. */
interface LimitView {
  readonly name: string;
  readonly used: Nanos;
  readonly quota: Nanos;
  readonly held: Nanos;
  readonly period: string;
  readonly meter: ReturnType<typeof quotaMeter>;
  /** Undefined for a quota. */
  readonly resetsAt: Date | undefined;
}

const BUDGETS = [
  ['daily', 'Daily budget', 'today'],
  ['weekly', 'Weekly budget', 'this week'],
  ['monthly', 'Monthly budget', 'this month'],
] as const;

export const limitsOf = ({ quota, used, held, budgets }: ApiKey): readonly LimitView[] => [
  ...(quota === undefined ? [] : [limitView('Quota', { limit: quota, used, held }, 'total')]),
  ...BUDGETS.flatMap(([name, label, period]) => {
    const budget = budgets[name];
    return budget === undefined ? [] : [limitView(label, budget, period)];
  }),
];

interface UsedLimit {
  readonly limit: Nanos;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly resetsAt?: Date;
}

const limitView = (name: string, { limit, used, held, resetsAt }: UsedLimit, period: string): LimitView => ({
  name,
  used,
  held,
  quota: limit,
  period,
  meter: quotaMeter(used, limit),
  resetsAt,
});

const fullestOf = (limits: readonly LimitView[]): LimitView | undefined =>
  limits.toSorted((one, other) => Number(other.meter.width) - Number(one.meter.width))[0];

/** The only page that shows the secret. @param options.replaced the leaked key that this one replaces */
export function createdPage(
  key: OwnKey,
  secret: Secret,
  choices: KeyChoices,
  { timeZone, now, replaced }: CreatedPageOptions,
): Page {
  return new Page('keys/created', {
    title: `Key “${key.name}” is ready`,
    width: 'narrow',
    hasSecret: true,
    data: {
      key: { id: key.id, name: key.name },
      secret: secret.reveal(),
      groupText: choices.groupOf(key),
      limitsText: limitsText(key),
      pace: describeLimits(choices.effectiveLimits(key)),
      networks: networksText(key.networks),
      models: key.models,
      expiry: expiryView(key.expiresAt, timeZone, now),
      storeKey: STORE_KEY,
      tabs: choices.snippets(key),
      replaced,
      crumbs: crumbsTo(key.name),
    },
  });
}

interface CreatedPageOptions {
  readonly timeZone: string;
  readonly now: Date;
  readonly replaced?: { readonly id: string; readonly name: string };
}

/** Redirects a form that was submitted again to the key, without its secret. */
export const alreadyCreated = (location: string): Redirect =>
  new Redirect(location, {
    tone: 'warn',
    title: 'This key was already created',
    text: 'The key was shown once and cannot be shown again. If you did not store it, create a new key and delete this one.',
  });

interface KeyNoticeText {
  readonly title: string;
  /** Predicate that follows the key's name: `was used from …`. */
  readonly text: string;
  readonly known: string;
  readonly calls: string;
}

/** @param timeZone of the reader */
export function noticeText(notice: KeyNotice, timeZone: string): KeyNoticeText {
  const day = dayOf(notice.at, timeZone);
  const log = usageQuery({ range: 'custom', from: day, to: day, key: notice.keyId }, notice.at, timeZone);
  const calls = logAddress(log);
  const at = dateTime(notice.at, timeZone);
  if (notice.kind === 'new-network') {
    const { address, network } = notice;
    const text = `was used from a new network: ${address} (${network}), on ${at}`;
    return { title: 'Used from a new network', text, known: 'It was me', calls };
  }
  const { spent, usual } = notice;
  const before =
    usual === 0n ? 'nothing in the previous 14 days' : `at most ${usd(usual)} per hour in the previous 14 days`;
  const text = `was charged ${usd(spent)} in the hour before ${at}, compared with ${before}`;
  return { title: 'Unusually high usage', text, known: 'This was expected', calls };
}
