import { Injectable } from '@nestjs/common';
import { Throttle, TooManyAttempts, type Visitor } from '../auth/index.js';
import { groupOfViewer, Offer } from '../catalog/index.js';
import type { Nanos } from '../platform/shared/index.js';
import {
  GroupNotOffered,
  KeyNotFound,
  KeysMadeTooFast,
  ModelNotOffered,
  ModelPreventsMove,
  TooManyKeys,
} from './api-key.errors.js';
import type { CreatedApiKey, KeySettings, OwnedKey, SharedKeyChange } from './api-key.js';
import { ApiKeyService } from './api-key.service.js';
import { hashSecret } from './credentials.js';
import { KeyChanges } from './key-changes.js';
import type { KeyFilter, KeyPage, KeyPosition, OwnKey } from './own-key.js';
import { OwnKeysRepository } from './own-keys.repository.js';

/** Everything read or changed here belongs to this account. */
type KeyOwner = Pick<Visitor, 'accountId' | 'groupName'>;

export const PAGE_KEYS = 50;
/** Per account, not counting deleted keys. Concurrent creation may exceed it slightly. */
const MAX_KEYS = 1000;

/** The keys of one account, as its owner manages them. Keys of other accounts are not found. */
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
    const page = forwards ? found.slice(0, PAGE_KEYS) : found.slice(-PAGE_KEYS);
    return {
      keys: page,
      newer: forwards ? position.before !== undefined : more,
      older: forwards ? more : true,
    };
  }

  /** @throws KeyNotFound */
  async get({ accountId, id }: OwnedKey): Promise<OwnKey> {
    const [found] = await this.getAll(accountId, [id]);
    if (!found) throw new KeyNotFound(id);
    return found;
  }

  /** Newest first. @throws KeyNotFound */
  async getAll(accountId: string, ids: readonly string[]): Promise<readonly OwnKey[]> {
    // The database rejects some characters that URLs can contain.
    const possible = ids.filter((id) => /^key_\w+$/.test(id));
    const found = await this.rows.byIds(accountId, possible);
    const missing = ids.find((wanted) => !found.some(({ id }) => id === wanted));
    if (missing !== undefined) throw new KeyNotFound(missing);
    return found;
  }

  /** The key with this secret; undefined if it is not the account's. */
  async bySecret(accountId: string, secret: string): Promise<OwnKey | undefined> {
    const id = await this.rows.idBySecret(accountId, hashSecret(secret));
    return id === undefined ? undefined : this.get({ accountId, id });
  }

  /** Names of the groups that the account's keys are billed under. */
  groupsInUse(accountId: string): Promise<readonly string[]> {
    return this.rows.groups(accountId);
  }

  /**
   * @throws GroupNotOffered, ModelNotOffered when the key's group or models are not available to the owner
   * @throws TooManyKeys, KeysMadeTooFast, InvalidKeyName, QuotaNotPossible, BudgetNotPossible, InvalidLimit
   * @throws NetworksNotPossible
   */
  async create(owner: KeyOwner, settings: KeySettings): Promise<CreatedApiKey> {
    this.checkOffered(owner, settings, undefined);
    await this.checkRoom(owner.accountId);
    return this.keys.create({ ...settings, accountId: owner.accountId });
  }

  /**
   * Creates a key with the same settings and nothing used, even if its group is no longer available. A past expiry is
   * dropped.
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
   * Replaces the settings. The key keeps its group and models even if they are no longer available.
   * @param version version that the change is based on
   * @throws KeyChangedMeanwhile, and the errors of `create`
   */
  async change(owner: KeyOwner, id: string, version: number, settings: KeySettings): Promise<void> {
    const key = { accountId: owner.accountId, id };
    this.checkOffered(owner, settings, await this.get(key));
    await this.changes.setAll(key, version, settings);
  }

  /**
   * Changes several keys, all or none.
   * @throws KeyNotFound
   * @throws GroupNotOffered; ModelPreventsMove and KeysNotChanged, which name the key that prevents the change
   */
  async changeAll(owner: KeyOwner, ids: readonly string[], change: SharedKeyChange): Promise<void> {
    const { groupName } = change;
    const keys = groupName === undefined ? [] : await this.getAll(owner.accountId, ids);
    for (const key of keys) this.checkMove(owner, key, groupName ?? undefined);
    await this.changes.changeAll(owner.accountId, ids, change);
  }

  /** @throws KeyNotFound, KeyIsDeleted, as the following methods do */
  enable(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'enabled');
  }

  disable(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'disabled');
  }

  /** Permanent: requests with the secret get an error that the key was deleted. */
  delete(key: OwnedKey): Promise<void> {
    return this.changes.setState(key, 'deleted');
  }

  /** @throws QuotaNotPossible when the key has no quota, or it would become too large */
  raiseQuota(key: OwnedKey, amount: Nanos): Promise<Nanos> {
    return this.changes.addQuota(key, amount);
  }

  /** Includes the key to be created. */
  private async checkRoom(accountId: string): Promise<void> {
    if (await this.rows.hasAsMany(accountId, MAX_KEYS)) throw new TooManyKeys(MAX_KEYS);
    try {
      await this.throttle.spend('key-of-account', accountId);
    } catch (error) {
      throw error instanceof TooManyAttempts ? new KeysMadeTooFast(error.retryAfterSeconds) : error;
    }
  }

  private checkOffered(owner: KeyOwner, { groupName, models = [] }: KeySettings, before: OwnKey | undefined): void {
    this.checkGroup(owner, groupName, before);
    const group = groupName ?? groupOfViewer(owner);
    const missing = this.missingModel(group, models, before);
    if (missing !== undefined) throw new ModelNotOffered(missing, group);
  }

  private checkMove(owner: KeyOwner, key: OwnKey, groupName: string | undefined): void {
    this.checkGroup(owner, groupName, key);
    const group = groupName ?? groupOfViewer(owner);
    const missing = this.missingModel(group, key.models ?? [], key);
    if (missing !== undefined) throw new ModelPreventsMove(key.name, missing, group);
  }

  private checkGroup(owner: KeyOwner, groupName: string | undefined, before: OwnKey | undefined): void {
    if (groupName === undefined || groupName === before?.group) return;
    if (!this.offer.groupsFor(owner).some(({ name }) => name === groupName)) throw new GroupNotOffered(groupName);
  }

  private missingModel(group: string, models: readonly string[], before: OwnKey | undefined): string | undefined {
    const offered = new Set(this.offer.modelsOf(group).map(({ model }) => model.name));
    const kept = new Set(group === before?.group ? before.models : []);
    return models.find((model) => !offered.has(model) && !kept.has(model));
  }
}
