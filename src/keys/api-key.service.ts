import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import type { LimitsChange } from '../platform/limits/index.js';
import { Clock, type Nanos, newId, Secret } from '../platform/shared/index.js';
import { WalletService } from '../wallet/index.js';
import { KeyNotFound, SecretNotImportable } from './api-key.errors.js';
import {
  type ApiKey,
  apiKeyOf,
  type CreatedApiKey,
  type KeyDescription,
  type KeyLimits,
  type NewApiKey,
  rowOf,
} from './api-key.js';
import { ApiKeyRepository } from './api-key.repository.js';
import { generateSecret, hashSecret, hintOf, isImportable } from './credentials.js';
import { type BudgetChange, NO_BUDGETS } from './budgets.js';
import { BudgetStore } from './budget-store.js';
import { KeyChanges } from './key-changes.js';

/** Creates and manages API keys for administrators; owners use `OwnKeys`. */
@Injectable()
export class ApiKeyService {
  constructor(
    private readonly keys: ApiKeyRepository,
    private readonly budgets: BudgetStore,
    private readonly changes: KeyChanges,
    private readonly wallets: WalletService,
    private readonly clock: Clock,
  ) {}

  /**
   * Creates a key. The secret is returned once and not stored.
   * @param manager transaction; its own if absent
   * @throws InvalidKeyName, QuotaNotPossible, BudgetNotPossible, InvalidLimit, NetworksNotPossible
   */
  create(key: NewApiKey, manager?: EntityManager): Promise<CreatedApiKey> {
    return this.store(key, generateSecret(), manager);
  }

  /**
   * Imports a secret issued by another system.
   * @throws SecretNotImportable
   * @throws SecretAlreadyKnown when any key has it, including deleted ones
   */
  async import(key: NewApiKey, secret: Secret): Promise<CreatedApiKey> {
    if (!isImportable(secret.reveal())) throw new SecretNotImportable();
    return this.store(key, secret.reveal());
  }

  /** Oldest first, including deleted keys. */
  async list(accountId: string): Promise<readonly ApiKey[]> {
    const rows = await this.keys.listOf(accountId);
    const budgets = await this.budgets.of(rows.map(({ id }) => id));
    return rows.map((row) => apiKeyOf(row, budgets.get(row.id) ?? NO_BUDGETS));
  }

  /** Also a deleted key of a token's subject. @throws KeyNotFound, KeyIsDeleted, as the following methods do */
  enable(id: string): Promise<void> {
    return this.changes.enable(id);
  }

  disable(id: string): Promise<void> {
    return this.changes.setState(id, 'disabled');
  }

  /** Permanent. The row stays, so that requests with the secret get an error that the key was deleted. */
  delete(id: string): Promise<void> {
    return this.changes.setState(id, 'deleted');
  }

  /** Deletes all keys of an account in the transaction that deletes the account. Returns their number. */
  deleteAllOf(accountId: string, manager: EntityManager): Promise<number> {
    return this.changes.deleteAllOf(accountId, manager);
  }

  /**
   * Raises a key's quota, or lowers it down to what is used and held. Returns the new quota.
   * @throws QuotaNotPossible naming the figures
   */
  addQuota(id: string, amount: Nanos): Promise<Nanos> {
    return this.changes.addQuota(id, amount);
  }

  /**
   * Sets or removes budgets, all or none. Usage of the current period is kept. A budget cannot be below what is used
   * and held.
   * @throws BudgetNotPossible naming the figures
   */
  setBudgets(id: string, change: BudgetChange): Promise<void> {
    return this.changes.setBudgets(id, change);
  }

  /**
   * Sets or removes limits, all or none; undefined keeps one. Networks are replaced as a whole; an empty list allows
   * any.
   * @throws InvalidLimit, NetworksNotPossible
   */
  setLimits(id: string, change: LimitsChange, networks?: readonly string[]): Promise<KeyLimits> {
    return this.changes.setLimits(id, change, networks);
  }

  /** @throws KeyNotFound */
  async describe(id: string): Promise<KeyDescription> {
    const key = await this.keys.describe(id);
    if (!key) throw new KeyNotFound(id);
    const { accountId, seesWallet, ...description } = key;
    const budgets = await this.budgets.of([id]);
    const wallet = seesWallet ? await this.wallets.balanceOf(accountId) : undefined;
    return { ...description, budgets: budgets.get(id) ?? NO_BUDGETS, wallet };
  }

  private async store(key: NewApiKey, secret: string, manager?: EntityManager): Promise<CreatedApiKey> {
    const id = newId('key', this.clock.now());
    const { accountId, memberId = null, teamId = null } = key;
    const holder = { accountId, memberId, teamId };
    const row = { ...rowOf(key), id, ...holder, secretHash: hashSecret(secret), hint: hintOf(secret) };
    await this.changes.insert(row, manager);
    return { id, secret: new Secret(secret), hint: row.hint };
  }
}
