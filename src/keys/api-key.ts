import { type Limits, limitsIn } from '../platform/limits/index.js';
import type { Nanos, Secret } from '../platform/shared/index.js';
import type { WalletBalance } from '../wallet/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import type { KeyState } from './caller.js';
import type { BudgetName, KeyBudgets } from './key-budgets.js';

/**
 * A key by its id, as the operator names it; or as one of an account, for its owner, to whom no other account's keys
 * exist. Pages use the second form alone.
 */
export type KeyReference = string | OwnedKey;

export interface OwnedKey {
  readonly accountId: string;
  readonly id: string;
}

/** What can be said of a key and changed later; what is left out is unlimited, a switch off. */
export interface KeySettings {
  readonly name: string;
  readonly quota?: Nanos | undefined;
  readonly budgets?: Readonly<Partial<Record<BudgetName, Nanos | undefined>>>;
  readonly groupName?: string | undefined;
  readonly models?: readonly string[] | undefined;
  readonly expiresAt?: Date | undefined;
  /** Its own; what it lacks is as usual. */
  readonly limits?: Limits;
  /** Addresses and ranges that it may be used from (`203.0.113.0/24`, `2001:db8::1`); anywhere when left out or empty. */
  readonly networks?: readonly string[] | undefined;
  /** A call that would lose something on its way into another dialect is refused, instead of warned about. */
  readonly strict?: boolean;
  /** No answer is kept: a call that asks for that, or leans on one that was kept, is refused. */
  readonly neverStores?: boolean;
}

/** What is asked for when a key is made. */
export interface NewApiKey extends KeySettings {
  readonly accountId: string;
}

/** The only time that a secret is seen. */
export interface CreatedApiKey {
  readonly id: string;
  readonly secret: Secret;
  readonly hint: string;
}

/** A key as its owner sees it. Money in nano-dollars; a quota that is undefined is unlimited. */
export interface ApiKey {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly hint: string;
  readonly quota: Nanos | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly budgets: KeyBudgets;
  readonly groupName: string | undefined;
  readonly models: readonly string[] | undefined;
  readonly expiresAt: Date | undefined;
  /** As in `KeySettings`. */
  readonly limits: Limits;
  /** At least one, or undefined. */
  readonly networks: readonly string[] | undefined;
  readonly strict: boolean;
  readonly neverStores: boolean;
  readonly createdAt: Date;
}

/** How fast and from where a key may be used. */
export type KeyLimits = Pick<ApiKey, 'limits' | 'networks'>;

/** What a key's holder may know of it: `GET /v1/key`. */
export interface KeyDescription {
  readonly name: string;
  readonly group: string;
  readonly quota: Nanos | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly budgets: KeyBudgets;
  /** Its own. */
  readonly limits: Limits;
  readonly wallet: WalletBalance;
}

export const apiKeyOf = (row: ApiKeyEntity, budgets: KeyBudgets): ApiKey => ({
  id: row.id,
  name: row.name,
  state: row.state,
  hint: row.hint,
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
