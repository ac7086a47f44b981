import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { Notifications, TOPICS } from '../database/index.js';
import { Clock, MAX_AMOUNT, type Nanos, nanos, newId, Secret } from '../shared/index.js';
import { WalletService } from '../wallet/index.js';
import type { ApiKeyEntity } from './api-key.entity.js';
import {
  BudgetNotPossible,
  InvalidKeyName,
  KeyIsDeleted,
  KeyNotFound,
  QuotaNotPossible,
  SecretAlreadyKnown,
  SecretNotImportable,
} from './api-key.errors.js';
import { ApiKeyRepository, type NewApiKeyRow } from './api-key.repository.js';
import { generateSecret, hashSecret, hintOf, isImportable } from './api-key.secret.js';
import { type ApiKey, apiKeyOf, type CreatedApiKey, type KeyDescription, type NewApiKey } from './api-key.js';
import type { KeyState } from './caller.js';
import { BUDGET_NAMES, type BudgetChange, type BudgetName, NO_BUDGETS } from './key-budgets.js';
import { KeyBudgetsRepository } from './key-budgets.repository.js';

/** API keys: every change raises the key's version and reaches all processes with its commit. */
@Injectable()
export class ApiKeyService {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly budgets: KeyBudgetsRepository,
    private readonly wallets: WalletService,
    private readonly notifications: Notifications,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a key. The secret is returned once and kept nowhere.
   * @param manager the transaction to do it in; one of its own when absent
   * @throws InvalidKeyName, QuotaNotPossible, BudgetNotPossible
   */
  create(key: NewApiKey, manager?: EntityManager): Promise<CreatedApiKey> {
    return this.store(key, generateSecret(), manager);
  }

  /**
   * Takes over a secret that was issued by another system.
   * @throws SecretNotImportable
   * @throws SecretAlreadyKnown when any key has it, a deleted one included
   */
  async import(key: NewApiKey, secret: Secret): Promise<CreatedApiKey> {
    if (!isImportable(secret.reveal())) throw new SecretNotImportable();
    return this.store(key, secret.reveal());
  }

  /** Oldest first, deleted ones included. */
  async list(accountId: string): Promise<readonly ApiKey[]> {
    const rows = await this.keys.listOf(accountId);
    const budgets = await this.budgets.of(rows.map(({ id }) => id));
    return rows.map((row) => apiKeyOf(row, budgets.get(row.id) ?? NO_BUDGETS));
  }

  /** @throws KeyNotFound, KeyIsDeleted; so do all that follow */
  enable(id: string): Promise<void> {
    return this.setState(id, 'enabled');
  }

  disable(id: string): Promise<void> {
    return this.setState(id, 'disabled');
  }

  /** For good. The row stays: whoever still sends the secret is told that its key was deleted. */
  delete(id: string): Promise<void> {
    return this.setState(id, 'deleted');
  }

  /**
   * Raises a key's quota, or lowers it no further than to what is used and held. Returns the new one.
   * @throws QuotaNotPossible naming the figures
   */
  addQuota(id: string, amount: Nanos): Promise<Nanos> {
    return this.change(id, async (key, manager) => {
      if (key.quota === null) throw QuotaNotPossible.unlimited(id);
      const quota = nanos(key.quota + amount);
      if (quota > MAX_AMOUNT) throw QuotaNotPossible.outOfRange();
      if (quota < key.used + key.held) throw QuotaNotPossible.belowUse(key.quota, amount, key.used, key.held);
      await this.keys.setQuota(id, quota, manager);
      return quota;
    });
  }

  /**
   * Sets or lifts budgets, all of them or none; what was used in the period that runs stays used. None can be lower than
   * what is used and held in that period.
   * @throws BudgetNotPossible naming the figures
   */
  setBudgets(id: string, change: BudgetChange): Promise<void> {
    return this.change(id, async (_key, manager) => {
      for (const name of BUDGET_NAMES) {
        const limit = change[name];
        if (limit !== undefined) await this.setBudget(id, name, limit, manager);
      }
    });
  }

  /** @throws KeyNotFound */
  async describe(id: string): Promise<KeyDescription> {
    const key = await this.keys.describe(id);
    if (!key) throw new KeyNotFound(id);
    const { accountId, ...description } = key;
    const budgets = await this.budgets.of([id]);
    return { ...description, budgets: budgets.get(id) ?? NO_BUDGETS, wallet: await this.wallets.balanceOf(accountId) };
  }

  private async store(key: NewApiKey, secret: string, manager?: EntityManager): Promise<CreatedApiKey> {
    const id = newId('key', this.clock.now());
    const row = { ...rowOf(key), id, secretHash: hashSecret(secret), hint: hintOf(secret) };
    const insert = async (within: EntityManager): Promise<void> => {
      if (!(await this.keys.insert(row, within))) throw new SecretAlreadyKnown();
      await this.notifications.publish(TOPICS.key, { id }, within);
    };
    await (manager ? insert(manager) : this.keys.transaction(insert));
    return { id, secret: new Secret(secret), hint: row.hint };
  }

  private async setBudget(id: string, name: BudgetName, limit: Nanos | null, manager: EntityManager): Promise<void> {
    possible(name, limit);
    for (const { used, held } of await this.budgets.lock(id, name, manager))
      if (limit !== null && limit < used + held) throw BudgetNotPossible.belowUse(name, limit, used, held);
    await this.budgets.set(id, name, limit, manager);
  }

  private setState(id: string, state: KeyState): Promise<void> {
    return this.change(id, (_key, manager) => this.keys.setState(id, state, manager));
  }

  private change<T>(id: string, work: (key: ApiKeyEntity, manager: EntityManager) => Promise<T>): Promise<T> {
    return this.keys.transaction(async (manager) => {
      const key = await this.keys.lock(id, manager);
      if (!key) throw new KeyNotFound(id);
      if (key.state === 'deleted') throw new KeyIsDeleted(id);
      const result = await work(key, manager);
      await this.notifications.publish(TOPICS.key, { id }, manager);
      return result;
    });
  }
}

function rowOf(key: NewApiKey): Omit<NewApiKeyRow, 'id' | 'secretHash' | 'hint'> {
  const name = key.name.trim();
  if (!/^[^\p{Cc}]{1,100}$/u.test(name)) throw new InvalidKeyName();
  if (key.quota !== undefined && (key.quota < 0n || key.quota > MAX_AMOUNT)) throw QuotaNotPossible.outOfRange();
  return {
    accountId: key.accountId,
    name,
    groupName: key.groupName ?? null,
    models: key.models ?? null,
    expiresAt: key.expiresAt ?? null,
    quota: key.quota ?? null,
    dailyBudget: possible('daily', key.budgets?.daily ?? null),
    weeklyBudget: possible('weekly', key.budgets?.weekly ?? null),
    monthlyBudget: possible('monthly', key.budgets?.monthly ?? null),
  };
}

/** @throws BudgetNotPossible when no budget can be that */
function possible(name: BudgetName, limit: Nanos | null): Nanos | null {
  if (limit !== null && (limit < 0n || limit > MAX_AMOUNT)) throw BudgetNotPossible.outOfRange(name);
  return limit;
}
