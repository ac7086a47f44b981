import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { changedLimits, describeLimits, limitColumns, type LimitsChange, limitsIn } from '../platform/limits/index.js';
import { formatUsd, MAX_AMOUNT, type Nanos, nanos } from '../platform/shared/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import {
  BudgetNotPossible,
  KeyChangedMeanwhile,
  KeyIsDeleted,
  KeyNotFound,
  QuotaNotPossible,
  SecretAlreadyKnown,
} from './api-key.errors.js';
import {
  type KeyLimits,
  type KeyReference,
  type KeySettings,
  possibleBudget,
  possibleNetworks,
  rowOf,
} from './api-key.js';
import { ApiKeyRepository, type NewApiKeyRow } from './api-key.repository.js';
import type { KeyState } from './caller.js';
import { BUDGET_NAMES, type BudgetChange, type BudgetName } from './key-budgets.js';
import { KeyBudgetsRepository } from './key-budgets.repository.js';

/**
 * Creates and changes keys. Each change is a transaction on the locked row, increments the key's version and notifies
 * all processes on commit. Throws KeyNotFound (also for keys of other accounts) and KeyIsDeleted.
 */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly budgets: KeyBudgetsRepository,
    private readonly notifications: Notifications,
    private readonly audit: AuditLog,
  ) {}

  /**
   * @param manager transaction; its own if absent
   * @throws SecretAlreadyKnown
   */
  async insert(row: NewApiKeyRow, manager?: EntityManager): Promise<void> {
    const insert = async (within: EntityManager): Promise<void> => {
      if (!(await this.keys.insert(row, within))) throw new SecretAlreadyKnown();
      await this.notifications.publish(TOPICS.key, { id: row.id }, within);
      await this.audit.record({ action: 'created', object: objectOf(row) }, within);
    };
    await (manager ? insert(manager) : this.keys.transaction(insert));
  }

  setState(key: KeyReference, state: KeyState): Promise<void> {
    return this.run(key, ({ id }, manager) => this.keys.setState(id, state, manager));
  }

  /** Also a deleted key of a token's subject, which no one can create again. */
  enable(id: string): Promise<void> {
    const isRevived = ({ tokenIssuerId }: ApiKeyEntity): boolean => tokenIssuerId !== null;
    return this.run(id, (_, manager) => this.keys.setState(id, 'enabled', manager), isRevived);
  }

  /** Deletes all keys of an account in the transaction that deletes the account. Returns their number. */
  async deleteAllOf(accountId: string, manager: EntityManager): Promise<number> {
    const ids = await this.keys.deleteAllOf(accountId, manager);
    for (const id of ids) await this.notifications.publish(TOPICS.key, { id }, manager);
    return ids.length;
  }

  /** @throws QuotaNotPossible naming the figures */
  addQuota(key: KeyReference, amount: Nanos): Promise<Nanos> {
    return this.run(key, async ({ id, quota: before, used, held }, manager) => {
      if (before === null) throw QuotaNotPossible.unlimited(id);
      const quota = nanos(before + amount);
      if (quota > MAX_AMOUNT) throw QuotaNotPossible.outOfRange();
      if (quota < used + held) throw QuotaNotPossible.changedBelowUse(before, amount, used, held);
      await this.keys.update(id, { quota }, manager);
      return quota;
    });
  }

  /** All or none. @throws BudgetNotPossible naming the figures */
  setBudgets(key: KeyReference, change: BudgetChange): Promise<void> {
    return this.run(key, (row, manager) => this.writeBudgets(row, change, manager));
  }

  /**
   * Changes limits, all or none, and networks if given.
   * @throws InvalidLimit, NetworksNotPossible
   */
  setLimits(key: KeyReference, change: LimitsChange, networks: readonly string[] | undefined): Promise<KeyLimits> {
    return this.run(key, async (row, manager) => {
      const limits = changedLimits(limitsIn(row.limits), change);
      const places = networks === undefined ? row.networks : possibleNetworks(networks);
      await this.keys.update(row.id, { limits: limitColumns(limits), networks: places }, manager);
      return { limits, networks: places ?? undefined };
    });
  }

  /**
   * Replaces all settings; absent ones are removed.
   * @param version version of the key that the change is based on
   * @throws KeyChangedMeanwhile when the key has another version; nothing is changed
   * @throws InvalidKeyName, QuotaNotPossible, BudgetNotPossible, InvalidLimit, NetworksNotPossible
   */
  setAll(key: KeyReference, version: number, settings: KeySettings): Promise<void> {
    return this.run(key, async (row, manager) => {
      if (row.version !== version) throw new KeyChangedMeanwhile(row.name);
      const { dailyBudget: daily, weeklyBudget: weekly, monthlyBudget: monthly, ...columns } = rowOf(settings);
      const { quota } = columns;
      if (quota !== null && quota !== row.quota && quota < row.used + row.held)
        throw QuotaNotPossible.belowUse(quota, row.used, row.held);
      await this.keys.update(row.id, columns, manager);
      await this.writeBudgets(row, { daily, weekly, monthly }, manager);
    });
  }

  private async writeBudgets(row: ApiKeyEntity, change: BudgetChange, manager: EntityManager): Promise<void> {
    const before = { daily: row.dailyBudget, weekly: row.weeklyBudget, monthly: row.monthlyBudget };
    for (const name of BUDGET_NAMES) {
      const limit = change[name];
      if (limit !== undefined && limit !== before[name]) await this.writeBudget(row.id, name, limit, manager);
    }
  }

  private async writeBudget(id: string, name: BudgetName, limit: Nanos | null, manager: EntityManager): Promise<void> {
    possibleBudget(name, limit);
    for (const { used, held } of await this.budgets.lock(id, name, manager))
      if (limit !== null && limit < used + held) throw BudgetNotPossible.belowUse(name, limit, used, held);
    await this.budgets.set(id, name, limit, manager);
  }

  private run<T>(
    key: KeyReference,
    work: (row: ApiKeyEntity, manager: EntityManager) => Promise<T>,
    isRevived: (row: ApiKeyEntity) => boolean = () => false,
  ): Promise<T> {
    return this.keys.transaction(async (manager) => {
      const row = await this.keys.lock(key, manager);
      if (!row) throw new KeyNotFound(typeof key === 'string' ? key : key.id);
      if (row.state === 'deleted' && !isRevived(row)) throw new KeyIsDeleted(row.id);
      const result = await work(row, manager);
      await this.record(row, manager);
      await this.notifications.publish(TOPICS.key, { id: row.id }, manager);
      return result;
    });
  }

  /** Writes the audit entry of a change. */
  private async record(before: ApiKeyEntity, manager: EntityManager): Promise<void> {
    const after = await this.keys.lock(before.id, manager);
    if (after === null) return;
    const lines = keyDifferences(before, after);
    if (after.state === before.state && lines.length === 0) return;
    const action = after.state === before.state ? 'changed' : after.state;
    await this.audit.record({ action, object: objectOf(after), lines }, manager);
  }
}

const objectOf = ({ id, name, accountId }: Pick<NewApiKeyRow, 'id' | 'name' | 'accountId'>) =>
  ({ kind: 'key', id, name, owner: accountId }) as const;

const dollars = (amount: Nanos | null): string => (amount === null ? 'none' : `$${formatUsd(amount)}`);
const list = (items: readonly string[] | null, none: string): string => items?.join(', ') ?? none;
const yesOrNo = (value: boolean): string => (value ? 'yes' : 'no');

/** Settings as audit lines name them. The state is reported by the action. */
const FACTS: readonly (readonly [string, (row: ApiKeyEntity) => string])[] = [
  ['name', ({ name }) => name],
  ['group', ({ groupName }) => groupName ?? "the account's"],
  ['quota', ({ quota }) => dollars(quota)],
  ['daily budget', ({ dailyBudget }) => dollars(dailyBudget)],
  ['weekly budget', ({ weeklyBudget }) => dollars(weeklyBudget)],
  ['monthly budget', ({ monthlyBudget }) => dollars(monthlyBudget)],
  ['limits', ({ limits }) => describeLimits(limitsIn(limits)) || 'none'],
  ['networks', ({ networks }) => list(networks, 'any')],
  ['models', ({ models }) => list(models, 'all in the group')],
  ['expires', ({ expiresAt }) => expiresAt?.toISOString() ?? 'never'],
  ['strict', ({ strict }) => yesOrNo(strict)],
  ['never stores responses', ({ neverStores }) => yesOrNo(neverStores)],
];

/** One line per changed setting: `quota $5 → $10`. */
const keyDifferences = (before: ApiKeyEntity, after: ApiKeyEntity): readonly string[] =>
  FACTS.map(([label, describe]) => [label, describe(before), describe(after)] as const)
    .filter(([, was, is]) => was !== is)
    .map(([label, was, is]) => `${label} ${was} → ${is}`);
