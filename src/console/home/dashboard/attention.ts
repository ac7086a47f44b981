import type { KeyNotice, OwnKey } from '../../../keys/index.js';
import { clockTime, count, usd } from '../../../platform/format/index.js';
import type { Nanos } from '../../../platform/shared/index.js';
import type { ModelTrouble } from '../../../usage/index.js';
import { type AllowanceOutlook, lastingBalance } from '../../../wallet/index.js';
import { noticeText } from '../../keys/index.js';

export interface AttentionConditions {
  readonly now: Date;
  readonly timeZone: string;
  /** Undefined if the reader may not see it. */
  readonly wallet: { readonly balance: Nanos; readonly held: Nanos; readonly owed: Nanos } | undefined;
  /** Spending per day; undefined if there is too little data. */
  readonly pace: Nanos | undefined;
  readonly allowance: AllowanceOutlook | undefined;
  /** Keys near or at a limit, or about to expire. */
  readonly keys: readonly OwnKey[];
  readonly notices: readonly KeyNotice[];
  readonly usage: { readonly troubles: readonly ModelTrouble[] } | undefined;
  /** Whether the reader may change keys, and add funds. */
  readonly mayUseKeys: boolean;
  readonly mayPay: boolean;
}

/** An item that needs attention, with its remedy. */
interface AttentionItem {
  readonly tone: 'warn' | 'bad';
  readonly icon: 'warning' | 'clock';
  /** Subject, shown in bold before the text; may be empty. */
  readonly name: string;
  readonly text: string;
  readonly action: { readonly href: string; readonly label: string };
  /** Form that dismisses the item, if it can be dismissed. */
  readonly known?: { readonly action: string; readonly label: string };
}

const LOW_BALANCE_DAYS = 3;
const DAY_MS = 24 * 60 * 60 * 1000;
const MAX_ITEMS = 6;
const MAX_REASON = 90;

/** The most severe first. */
export function attention(conditions: AttentionConditions): readonly AttentionItem[] {
  const ofKeys = conditions.keys.flatMap((key) => [...limitOf(key, conditions), ...expiryOf(key, conditions)]);
  const all = [...moneyOf(conditions), ...noticesOf(conditions), ...ofKeys, ...troublesOf(conditions)];
  const isBad = ({ tone }: AttentionItem): boolean => tone === 'bad';
  return [...all.filter(isBad), ...all.filter((one) => !isBad(one))].slice(0, MAX_ITEMS);
}

function moneyOf({ wallet, pace, allowance, now, mayPay }: AttentionConditions): AttentionItem[] {
  if (wallet === undefined) return [];
  const item = (tone: AttentionItem['tone'], text: string): AttentionItem[] => [
    { tone, icon: 'warning', name: '', text, action: { href: '/wallet', label: mayPay ? 'Add funds' : 'Open wallet' } },
  ];
  if (wallet.owed > 0n)
    return item('bad', `Your account owes ${usd(wallet.owed)}. Calls are rejected until you pay it.`);
  if (wallet.balance <= 0n) return item('bad', 'Your balance is used up');
  const lasting = lastingBalance(wallet.balance, pace, allowance, now);
  const days = daysLeft(lasting, pace);
  if (days === undefined || days >= LOW_BALANCE_DAYS) return [];
  return item('warn', `Your balance lasts ${daysLeftText(lasting, pace) ?? ''} at this pace`);
}

const noticesOf = ({ notices, timeZone, mayUseKeys }: AttentionConditions): AttentionItem[] =>
  notices.map((notice) => {
    const { text, calls, known } = noticeText(notice, timeZone);
    const { id, keyId, keyName } = notice;
    return {
      tone: 'warn',
      icon: 'warning',
      name: keyName,
      text,
      action: { href: calls, label: 'Show calls' },
      ...(mayUseKeys && { known: { action: `/keys/${keyId}/notices/${id}`, label: known } }),
    };
  });

function limitOf(key: OwnKey, reader: AttentionConditions): AttentionItem[] {
  const limit = fullestLimit(key);
  if (limit === undefined) return [];
  const about = { name: key.name, icon: 'warning', action: editing(key, `Raise ${limit.name}`, reader) } as const;
  if (key.conditions.includes('used-up')) return [{ ...about, tone: 'bad', text: `has used up its ${limit.name}` }];
  if (!key.conditions.includes('near-quota')) return [];
  return [{ ...about, tone: 'warn', text: `has used ${limit.percent}% of its ${limit.name}` }];
}

function expiryOf(key: OwnKey, reader: AttentionConditions): AttentionItem[] {
  const { name, expiresAt, conditions } = key;
  if (expiresAt === undefined || !conditions.includes('expires-soon')) return [];
  const days = Math.ceil((expiresAt.getTime() - reader.now.getTime()) / DAY_MS);
  const text = `expires ${days <= 1 ? 'within a day' : `in ${days} days`}`;
  return [{ tone: 'warn', icon: 'clock', name, text, action: editing(key, 'Extend', reader) }];
}

const editing = ({ id }: OwnKey, label: string, { mayUseKeys }: AttentionConditions): AttentionItem['action'] =>
  mayUseKeys ? { href: `/keys/${id}/edit`, label } : { href: `/keys/${id}`, label: 'Open key' };

/** The limit with the largest share used or on hold. */
function fullestLimit({ quota, used, held, budgets }: OwnKey): { name: string; percent: number } | undefined {
  const ofBudgets = Object.entries(budgets).flatMap(([period, budget]) =>
    budget === undefined ? [] : [{ name: `${period} budget`, limit: budget.limit, taken: budget.used + budget.held }],
  );
  const ofQuota = quota === undefined ? [] : [{ name: 'quota', limit: quota, taken: used + held }];
  return [...ofQuota, ...ofBudgets]
    .map(({ name, limit, taken }) => ({ name, percent: limit > 0n ? Number((taken * 100n) / limit) : 100 }))
    .toSorted((one, other) => other.percent - one.percent)[0];
}

const troublesOf = ({ usage, timeZone }: AttentionConditions): AttentionItem[] =>
  (usage?.troubles ?? []).map(({ model, calls, since, result, reason, message }) => ({
    tone: 'bad',
    icon: 'warning',
    name: model,
    text: `${count(calls)} calls ${ENDED[result] ?? 'failed'} since ${clockTime(since, timeZone, 'minutes')}: ${why(reason, message)}`,
    action: { href: `/usage-logs/common?range=24h&model=${encodeURIComponent(model)}`, label: 'Show calls' },
  }));

const ENDED: Readonly<Partial<Record<ModelTrouble['result'], string>>> = {
  refused: 'were rejected',
  timeout: 'timed out',
};

/** The error message without its request ID; otherwise the reason. */
function why(reason: string, message: string): string {
  const text = message.replace(/ \(request id: [^)]*\)$/, '').trim() || reason.replaceAll('_', ' ');
  return text.length > MAX_REASON ? `${text.slice(0, MAX_REASON - 1).trimEnd()}…` : text;
}

/** Longer forecasts are not shown. */
const MAX_DAYS = 366;

/** Days that a balance lasts, to a tenth; undefined if unknown or too long. */
function daysLeft(balance: bigint, pace: bigint | undefined): number | undefined {
  if (pace === undefined || pace <= 0n || balance <= 0n) return undefined;
  const days = Number((balance * 10n) / pace) / 10;
  return days > MAX_DAYS ? undefined : days;
}

/** `about 25 days`. */
export function daysLeftText(balance: bigint, pace: bigint | undefined): string | undefined {
  const days = daysLeft(balance, pace);
  if (days === undefined) return undefined;
  if (days < 1) return 'less than a day';
  return days < 2 ? 'about a day' : `about ${Math.floor(days)} days`;
}
