import type { Owner } from '../auth/index.js';
import { limitColumns, type Limits, type LimitsChange, limitsIn, NO_LIMITS } from '../platform/limits/index.js';
import { MAX_AMOUNT, type Nanos, type Secret } from '../platform/shared/index.js';
import type { WalletBalance } from '../wallet/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import { BudgetNotPossible, InvalidKeyName, QuotaNotPossible } from './api-key.errors.js';
import type { KeyState } from './caller.js';
import type { BudgetChange, BudgetLimits, BudgetName, KeyBudgets, MemberBudgetName } from './budgets.js';
import { networksOf } from './networks.js';

/**
 * A key by ID, for administrators; or by ID and owner: keys of other accounts, and of other members, do not exist for
 * them. Pages use the second form only.
 */
export type KeyReference = string | OwnedKey;

export interface OwnedKey extends Owner {
  readonly id: string;
}

/** Changeable settings of a key. Absent limits are unlimited, absent flags are off. */
export interface KeySettings {
  readonly name: string;
  readonly quota?: Nanos | undefined;
  readonly budgets?: Readonly<Partial<Record<BudgetName, Nanos | undefined>>>;
  readonly groupName?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
  /** The key's own limits; defaults apply to missing ones. */
  readonly limits?: Limits;
  /** Allowed addresses and networks (`203.0.113.0/24`, `2001:db8::1`); absent or empty: any. */
  readonly networks?: readonly string[] | undefined;
  /** Rejects calls whose translation would lose content, instead of warning. */
  readonly strict?: boolean;
  /** Responses are not stored: calls that require storage or refer to stored responses are rejected. */
  readonly neverStores?: boolean;
}

/** A change of several keys alike. Absent settings keep each key's own; null removes them. */
export interface SharedKeyChange {
  readonly state?: KeyState;
  /** Null: the account's group. */
  readonly groupName?: string | null;
  readonly quota?: Nanos | null;
  readonly budgets?: BudgetChange;
  readonly limits?: LimitsChange;
}

/** Properties of a new key. */
export interface NewApiKey extends KeySettings {
  readonly accountId: string;
  /** The member of the organization; absent: a service key, or a key of a person. */
  readonly memberId?: string | undefined;
  readonly teamId?: string | undefined;
}

/** The only time the secret is visible. */
export interface CreatedApiKey {
  readonly id: string;
  readonly secret: Secret;
  readonly hint: string;
}

/** A key as its owner sees it. Money in nano-dollars; an undefined quota is unlimited. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  /** The first and last characters of its secret, or the name of its token issuer. */
  readonly hint: string;
  /** Its calls have a JWT instead of a secret. */
  readonly isTokenKey: boolean;
  readonly quota: Nanos | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly budgets: KeyBudgets;
  readonly groupName: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly expiresAt: Date | undefined;
  /** As in `KeySettings`. */
  readonly limits: Limits;
  /** Not empty if defined. */
  readonly networks: readonly string[] | undefined;
  readonly strict: boolean;
  readonly neverStores: boolean;
  readonly createdAt: Date;
}

/** Rate limits and allowed networks of a key. */
export type KeyLimits = Pick<ApiKey, 'limits' | 'networks'>;

/** A key as its holder may see it: `GET /v1/key`. */
export interface KeyDescription {
  readonly name: string;
  /** Name of the issuer; undefined: a key with a secret. */
  readonly tokenIssuer: string | undefined;
  readonly group: string;
  readonly quota: Nanos | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly budgets: KeyBudgets;
  /** The key's own limits. */
  readonly limits: Limits;
  /** Undefined for service keys of an organization, and for members who may not see its balance. */
  readonly wallet: WalletBalance | undefined;
}

export const apiKeyOf = (row: ApiKeyEntity, budgets: KeyBudgets): ApiKey => ({
  id: row.id,
  name: row.name,
  state: row.state,
  hint: row.hint,
  isTokenKey: row.tokenIssuerId !== null,
  quota: row.quota ?? undefined,
  used: row.used,
  held: row.held,
  budgets,
  groupName: row.groupName ?? undefined,
  models: row.models ?? undefined,
  expiresAt: row.expiresAt ?? undefined,
  limits: limitsIn(row.limits),
  networks: row.networks ?? undefined,
  strict: row.strict,
  neverStores: row.neverStores,
  createdAt: row.createdAt,
});

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

/** In characters. */
export const MAX_KEY_NAME = 100;
/** White space around a name is removed. */
export const KEY_NAME = /^\s*[^\p{Cc}]{0,99}[^\p{Cc}\s]\s*$/u;

/**
 * Validates settings and converts them to columns.
 * @throws InvalidKeyName, QuotaNotPossible, BudgetNotPossible, InvalidLimit, NetworksNotPossible
 */
export function rowOf(settings: KeySettings): SettingsRow {
  const { name, groupName, models, expiresAt, quota, budgets, limits, networks, strict, neverStores } = settings;
  const trimmed = name.trim();
  if (!KEY_NAME.test(name)) throw new InvalidKeyName();
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
export function possibleBudget(name: MemberBudgetName, limit: Nanos | null): Nanos | null {
  if (limit !== null && (limit < 0n || limit > MAX_AMOUNT)) throw BudgetNotPossible.outOfRange(name);
  return limit;
}

/** Null: unlimited. @throws BudgetNotPossible */
export const possibleBudgets = (limits: BudgetLimits): Readonly<Record<MemberBudgetName, Nanos | null>> => ({
  lifetime: possibleBudget('lifetime', limits.lifetime ?? null),
  daily: possibleBudget('daily', limits.daily ?? null),
  weekly: possibleBudget('weekly', limits.weekly ?? null),
  monthly: possibleBudget('monthly', limits.monthly ?? null),
});
