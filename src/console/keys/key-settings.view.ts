import { groupOfViewer } from '../../catalog/index.js';
import { limitsIn } from '../../platform/limits/index.js';
import { addDays, AppError, dayOf, formatUsd, type Nanos, startOfDay } from '../../platform/shared/index.js';
import { amountOf, countOf, type FormBody } from '../web/index.js';
import { type Visitor } from '../../auth/index.js';
import type { KeySettings, OwnKey } from '../../keys/index.js';
import { type KeyForm, TICKED, typedNetworks } from './key-form.js';

class ExpiryPassed extends AppError {
  constructor() {
    super('invalid_request', 'Enter today or a later date, or leave empty for no expiry.', {
      param: 'expires',
    });
  }
}

/** The settings of a key as a form shows them. */
export const valuesOf = (key: OwnKey, timeZone: string): FormBody => ({
  name: key.name,
  group: key.group,
  quota: amount(key.quota),
  daily: amount(key.budgets.daily?.limit),
  weekly: amount(key.budgets.weekly?.limit),
  monthly: amount(key.budgets.monthly?.limit),
  callsPerMinute: String(key.limits.requestsPerMinute ?? ''),
  tokensPerMinute: String(key.limits.tokensPerMinute ?? ''),
  concurrency: String(key.limits.concurrency ?? ''),
  networks: (key.networks ?? []).join('\n'),
  expires: key.expiresAt === undefined ? '' : lastDay(key.expiresAt, timeZone),
  models: key.models ?? [],
  strict: key.strict ? TICKED : '',
  neverStores: key.neverStores ? TICKED : '',
  version: String(key.version),
});

/**
 * What a form asks for.
 * @param before the key that it is to change, if there is one
 * @throws ExpiryPassed
 */
export function settingsOf(form: KeyForm, visitor: Visitor, today: string, before?: OwnKey): KeySettings {
  return {
    name: form.name,
    groupName: groupNameOf(form.group, visitor, before),
    models: form.models.length === 0 ? undefined : form.models,
    expiresAt: expiryOf(form.expires, visitor.timeZone, today, before?.expiresAt),
    quota: amountOf(form.quota),
    budgets: { daily: amountOf(form.daily), weekly: amountOf(form.weekly), monthly: amountOf(form.monthly) },
    limits: limitsIn({
      requestsPerMinute: countOf(form.callsPerMinute) ?? null,
      tokensPerMinute: countOf(form.tokensPerMinute) ?? null,
      concurrency: countOf(form.concurrency) ?? null,
    }),
    networks: typedNetworks(form.networks),
    strict: form.strict === TICKED,
    neverStores: form.neverStores === TICKED,
  };
}

/** A key in its account's group names none, so that it moves with the account; one that names it goes on doing so. */
function groupNameOf(group: string, visitor: Visitor, before: OwnKey | undefined): string | undefined {
  if (before !== undefined && before.group === group) return before.groupName;
  return group === groupOfViewer(visitor) ? undefined : group;
}

/** The end of the day. A time of the day that was set elsewhere stays as long as its day does. */
function expiryOf(day: string, timeZone: string, today: string, before: Date | undefined): Date | undefined {
  if (day === '') return undefined;
  if (before !== undefined && lastDay(before, timeZone) === day) return before;
  if (day < today) throw new ExpiryPassed();
  return startOfDay(addDays(day, 1), timeZone);
}

/** The last day on which a key is accepted: what expires at midnight is accepted until the day before. */
export const lastDay = (expiresAt: Date, timeZone: string): string =>
  dayOf(new Date(expiresAt.getTime() - 1), timeZone);

/** Plain, as it can be typed again: `1000`, `0.5`. */
const amount = (limit: Nanos | undefined): string => (limit === undefined ? '' : formatUsd(limit));
