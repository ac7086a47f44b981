import { Injectable } from '@nestjs/common';
import { Throttle, TooManyTries, type Visitor } from '../auth/index.js';
import { groupOfViewer, Offer } from '../catalog/index.js';
import type { Nanos } from '../platform/shared/index.js';
import { GroupNotOffered, KeyNotFound, KeysMadeTooFast, ModelNotOffered, TooManyKeys } from './api-key.errors.js';
import { type CreatedApiKey, type KeySettings, type OwnedKey } from './api-key.js';
import { hashSecret } from './api-key.secret.js';
import { ApiKeyService } from './api-key.service.js';
import { KeyChanges } from './key-changes.js';
import type { KeyFilter, KeyPage, KeyPosition, OwnKey } from './own-key.js';
import { OwnKeysRepository } from './own-keys.repository.js';

/** Whose keys: all that is read or changed here belongs to this account. */
type Owner = Pick<Visitor, 'accountId' | 'groupName'>;

export const PAGE_KEYS = 50;
/** Of one account, deleted ones left out. Keys that are made at the same moment may go over it by a few. */
const MAX_KEYS = 1000;

/** The keys of one account, as its owner manages them. Another account's key is not found, like one that never was. */
@Injectable()
export class OwnKeys {
  constructor(
    private readonly rows: OwnKeysRepository,
    private readonly changes: KeyChanges,
    private readonly keys: ApiKeyService,
    private readonly offer: Offer,
    private readonly throttle: Throttle,
  ) {}

  async page(accountId: string, filter: KeyFilter, position: KeyPosition = {}): Promise<KeyPage> {
    const found = await this.rows.page(accountId, filter, position, PAGE_KEYS + 1);
    const more = found.length > PAGE_KEYS;
    const forwards = position.after === undefined;
    const shown = forwards ? found.slice(0, PAGE_KEYS) : found.slice(-PAGE_KEYS);
    return {
      keys: shown,
      newer: forwards ? position.before !== undefined : more,
      older: forwards ? more : true,
    };
  }

  /** @throws KeyNotFound */
  async get(key: OwnedKey): Promise<OwnKey> {
    // The database would not even take some of what stands in addresses.
    const found = /^key_\w+$/.test(key.id) ? await this.rows.find(key) : undefined;
    if (!found) throw new KeyNotFound(key.id);
    return found;
  }

  /** The key that this is the secret of; undefined when it is none of the account's. */
  async bySecret(accountId: string, secret: string): Promise<OwnKey | undefined> {
    const id = await this.rows.idBySecret(accountId, hashSecret(secret));
    return id === undefined ? undefined : this.get({ accountId, id });
  }

  /** Names of the groups that the account's keys are billed under. */
  groupsInUse(accountId: string): Promise<readonly string[]> {
    return this.rows.groups(accountId);
  }

  /**
   * @throws GroupNotOffered, ModelNotOffered when the owner could not call what the key is for
   * @throws TooManyKeys, KeysMadeTooFast, InvalidKeyName, QuotaNotPossible, BudgetNotPossible, LimitNotPossible
   * @throws NetworksNotPossible
   */
  async create(owner: Owner, settings: KeySettings): Promise<CreatedApiKey> {
    this.checkOffered(owner, settings, undefined);
    await this.checkRoom(owner.accountId);
    return this.keys.create({ ...settings, accountId: owner.accountId });
  }

  /**
   * A key of the same settings, whatever is offered now; used up is nothing of it. An expiry that has passed is left out.
   * @throws TooManyKeys, KeysMadeTooFast, InvalidKeyName
   */
  async createLike(accountId: string, like: OwnKey, name: string, now: Date): Promise<CreatedApiKey> {
    await this.checkRoom(accountId);
    const { groupName, models, quota, budgets, expiresAt, limits, networks, strict, neverStores } = like;
    const { daily, weekly, monthly } = budgets;
    return this.keys.create({
      accountId,
      name,
      groupName,
      models,
      quota,
      budgets: { daily: daily?.limit, weekly: weekly?.limit, monthly: monthly?.limit },
      expiresAt: expiresAt !== undefined && expiresAt > now ? expiresAt : undefined,
      limits,
      networks,
      strict,
      neverStores,
    });
  }

  /**
   * Makes the settings be these. A group or a model that the key has already may stay though it is offered no more.
   * @param version of the key that they were made from
   * @throws KeyChangedMeanwhile, and what `create` throws
   */
  async change(owner: Owner, id: string, version: number, settings: KeySettings): Promise<void> {
    const key = { accountId: owner.accountId, id };
    this.checkOffered(owner, settings, await this.get(key));
    await this.changes.setAll(key, version, settings);
  }

  /** @throws KeyNotFound, KeyIsDeleted; so do those that follow */
  enable(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'enabled');
  }

  disable(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'disabled');
  }

  /** For good: whoever still sends it is told that it was deleted. */
  delete(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'deleted');
  }

  /** @throws QuotaNotPossible when the key has none, or it would be too much */
  raiseQuota(key: OwnedKey, amount: Nanos): Promise<Nanos> {
    return this.changes.addQuota(key, amount);
  }

  /** Counts the key that is to be made. */
  private async checkRoom(accountId: string): Promise<void> {
    if (await this.rows.hasAsMany(accountId, MAX_KEYS)) throw new TooManyKeys(MAX_KEYS);
    try {
      await this.throttle.spend('key-of-account', accountId);
    } catch (error) {
      throw error instanceof TooManyTries ? new KeysMadeTooFast(error.retryAfterSeconds) : error;
    }
  }

  private checkOffered(owner: Owner, { groupName, models = [] }: KeySettings, before: OwnKey | undefined): void {
    const group = groupName ?? groupOfViewer(owner);
    const sameGroup = group === before?.group;
    if (groupName !== undefined && !sameGroup && !this.offer.groupsFor(owner).some(({ name }) => name === groupName))
      throw new GroupNotOffered(groupName);
    const offered = new Set(this.offer.modelsOf(group).map(({ model }) => model.name));
    const kept = new Set(sameGroup ? before.models : []);
    const missing = models.find((model) => !offered.has(model) && !kept.has(model));
    if (missing !== undefined) throw new ModelNotOffered(missing, group);
  }
}
