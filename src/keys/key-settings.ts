import { limitColumns, NO_LIMITS } from '../platform/limits/index.js';
import { MAX_AMOUNT, type Nanos } from '../platform/shared/index.js';
import { BudgetNotPossible, InvalidKeyName, QuotaNotPossible } from './api-key.errors.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { KeySettings } from './api-key.js';
import type { BudgetName } from './key-budgets.js';
import { networksOf } from './networks.js';

/** The columns of settings. */
export type SettingsRow = Pick<
  ApiKeyEntity,
  | 'name'
  | 'groupName'
  | 'models'
  | 'expiresAt'
  | 'quota'
  | 'dailyBudget'
  | 'weeklyBudget'
  | 'monthlyBudget'
  | 'limits'
  | 'networks'
  | 'strict'
  | 'neverStores'
>;

/**
 * Validates settings and converts them to columns.
 * @throws InvalidKeyName, QuotaNotPossible, BudgetNotPossible, LimitNotPossible, NetworksNotPossible
 */
export function rowOf(settings: KeySettings): SettingsRow {
  const { name, groupName, models, expiresAt, quota, budgets, limits, networks, strict, neverStores } = settings;
  const trimmed = name.trim();
  if (!/^[^\p{Cc}]{1,100}$/u.test(trimmed)) throw new InvalidKeyName();
  return {
    name: trimmed,
    groupName: groupName ?? null,
    models: models ?? null,
    expiresAt: expiresAt ?? null,
    quota: possibleQuota(quota ?? null),
    dailyBudget: possibleBudget('daily', budgets?.daily ?? null),
    weeklyBudget: possibleBudget('weekly', budgets?.weekly ?? null),
    monthlyBudget: possibleBudget('monthly', budgets?.monthly ?? null),
    limits: limitColumns(limits ?? NO_LIMITS),
    networks: possibleNetworks(networks ?? []),
    strict: strict ?? false,
    neverStores: neverStores ?? false,
  };
}

/** Null: any. @throws NetworksNotPossible */
export function possibleNetworks(networks: readonly string[]): readonly string[] | null {
  const found = networksOf(networks);
  return found.length === 0 ? null : found;
}

/** @throws QuotaNotPossible */
export function possibleQuota(quota: Nanos | null): Nanos | null {
  if (quota !== null && (quota < 0n || quota > MAX_AMOUNT)) throw QuotaNotPossible.outOfRange();
  return quota;
}

/** @throws BudgetNotPossible */
export function possibleBudget(name: BudgetName, limit: Nanos | null): Nanos | null {
  if (limit !== null && (limit < 0n || limit > MAX_AMOUNT)) throw BudgetNotPossible.outOfRange(name);
  return limit;
}
