import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { Owner } from '../auth/index.js';
import { AuditLog } from '../platform/audit/index.js';
import { Notifications, TOPICS } from '../platform/database/index.js';
import { changedLimits, describeLimits, limitColumns, type LimitsChange, limitsIn } from '../platform/limits/index.js';
import { AppError, formatUsd, MAX_AMOUNT, type Nanos, nanos } from '../platform/shared/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import {
  KeyChangedMeanwhile,
  KeyIsDeleted,
  KeyNotFound,
  KeysNotChanged,
  QuotaNotPossible,
  SecretAlreadyKnown,
} from './api-key.errors.js';
import {
  type KeyLimits,
  type KeyReference,
  type KeySettings,
  possibleNetworks,
  possibleQuota,
  rowOf,
  type SharedKeyChange,
} from './api-key.js';
import { ApiKeyRepository, type KeyColumns, type NewApiKeyRow } from './api-key.repository.js';
import type { BudgetChange } from './budgets.js';
import { BudgetStore } from './budget-store.js';
import type { KeyState } from './caller.js';

/**
 * Creates and changes keys. Each change is a transaction on the locked row, increments the key's version and notifies
 * all processes on commit. Throws KeyNotFound (also for keys of other accounts) and KeyIsDeleted.
 */
@Injectable()
export class KeyChanges {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly budgets: BudgetStore,
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
      checkQuota(row, columns.quota);
      await this.keys.update(row.id, columns, manager);
      await this.writeBudgets(row, { daily, weekly, monthly }, manager);
    });
  }

  /**
   * Changes several keys of an owner in one transaction: all or none.
   * @throws KeysNotChanged naming the key that prevents it
   */
  changeAll(owner: Owner, ids: readonly string[], change: SharedKeyChange): Promise<void> {
    return this.keys.transaction(async (manager) => {
      // Sorted, as admission locks keys.
      for (const id of [...new Set(ids)].toSorted())
        await this.within(manager, { ...owner, id }, async (row) => {
          try {
            await this.writeShared(row, change, manager);
          } catch (error) {
            throw error instanceof AppError ? new KeysNotChanged(row.name, error) : error;
          }
        });
    });
  }

  private async writeShared(row: ApiKeyEntity, change: SharedKeyChange, manager: EntityManager): Promise<void> {
    const { state, groupName, quota, limits, budgets } = change;
    if (row.state === 'deleted') throw new KeyIsDeleted(row.id);
    if (quota !== undefined) checkQuota(row, possibleQuota(quota));
    const columns: KeyColumns = {
      ...(groupName !== undefined && { groupName }),
      ...(quota !== undefined && { quota }),
      ...(limits && { limits: limitColumns(changedLimits(limitsIn(row.limits), limits)) }),
    };
    if (Object.keys(columns).length > 0) await this.keys.update(row.id, columns, manager);
    if (budgets) await this.writeBudgets(row, budgets, manager);
    if (state !== undefined) await this.keys.setState(row.id, state, manager);
  }

  private writeBudgets(row: ApiKeyEntity, change: BudgetChange, manager: EntityManager): Promise<void> {
    const before = { daily: row.dailyBudget, weekly: row.weeklyBudget, monthly: row.monthlyBudget };
    return this.budgets.change({ kind: 'key', id: row.id }, before, change, manager);
  }

  private run<T>(
    key: KeyReference,
    work: (row: ApiKeyEntity, manager: EntityManager) => Promise<T>,
    isRevived: (row: ApiKeyEntity) => boolean = () => false,
  ): Promise<T> {
    return this.keys.transaction((manager) =>
      this.within(manager, key, (row) => {
        if (row.state === 'deleted' && !isRevived(row)) throw new KeyIsDeleted(row.id);
        return work(row, manager);
      }),
    );
  }

  private async within<T>(
    manager: EntityManager,
    key: KeyReference,
    work: (row: ApiKeyEntity) => Promise<T>,
  ): Promise<T> {
    const row = await this.keys.lock(key, manager);
    if (!row) throw new KeyNotFound(typeof key === 'string' ? key : key.id);
    const result = await work(row);
    await this.record(row, manager);
    await this.notifications.publish(TOPICS.key, { id: row.id }, manager);
    return result;
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

/** @throws QuotaNotPossible for a new quota below what is used and held */
function checkQuota({ quota: before, used, held }: ApiKeyEntity, quota: Nanos | null): void {
  if (quota !== null && quota !== before && quota < used + held) throw QuotaNotPossible.belowUse(quota, used, held);
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
