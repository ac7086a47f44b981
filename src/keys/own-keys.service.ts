import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { type Owner, Throttle, TooManyAttempts } from '../auth/index.js';
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
import { KeyHolders, type KeyTeam, TeamNotOffered } from './key-holders.js';
import type { KeyFilter, KeyPage, KeyPosition, OwnKey } from './own-key.js';
import { OwnKeysRepository } from './own-keys.repository.js';

/** Whose keys are changed, with the default group of their calls. */
interface KeyOwner extends Owner {
  readonly groupName: string | undefined;
}

export const PAGE_KEYS = 50;
/** Per account or member, not counting deleted keys. Concurrent creation may exceed it slightly. */
const MAX_KEYS = 1000;

/**
 * The keys of one account, or of one member of an organization, as pages manage them. Keys of others are not found.
 */
@Injectable()
export class OwnKeys {
  constructor(
    private readonly rows: OwnKeysRepository,
    private readonly changes: KeyChanges,
    private readonly keys: ApiKeyService,
    private readonly offer: Offer,
    private readonly throttle: Throttle,
    private readonly holders: KeyHolders,
    private readonly dataSource: DataSource,
  ) {}

  async page(owner: Owner, filter: KeyFilter, position: KeyPosition = {}): Promise<KeyPage> {
    const found = await this.rows.page(owner, filter, position, PAGE_KEYS + 1);
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
  async get({ id, ...owner }: OwnedKey): Promise<OwnKey> {
    const [found] = await this.getAll(owner, [id]);
    if (!found) throw new KeyNotFound(id);
    return found;
  }

  /** Newest first. @throws KeyNotFound */
  async getAll(owner: Owner, ids: readonly string[]): Promise<readonly OwnKey[]> {
    // The database rejects some characters that URLs can contain.
    const possible = ids.filter((id) => /^key_\w+$/.test(id));
    const found = await this.rows.byIds(owner, possible);
    const missing = ids.find((wanted) => !found.some(({ id }) => id === wanted));
    if (missing !== undefined) throw new KeyNotFound(missing);
    return found;
  }

  /** The key with this secret; undefined if it is not the owner's. */
  async bySecret(owner: Owner, secret: string): Promise<OwnKey | undefined> {
    const id = await this.rows.idBySecret(owner, hashSecret(secret));
    return id === undefined ? undefined : this.get({ ...owner, id });
  }

  /** Names of the groups that the owner's keys are billed under. */
  groupsInUse(owner: Owner): Promise<readonly string[]> {
    return this.rows.groups(owner);
  }

  /**
   * @param teamId the team of the member, or that of a service key
   * @throws GroupNotOffered, ModelNotOffered when the key's group or models are not available to the owner or team
   * @throws TeamNotOffered, MaxKeysReached, TooManyKeys, KeysMadeTooFast, InvalidKeyName, QuotaNotPossible
   * @throws BudgetNotPossible, InvalidLimit, NetworksNotPossible
   */
  async create(owner: KeyOwner, settings: KeySettings, teamId?: string): Promise<CreatedApiKey> {
    const { accountId, memberId } = owner;
    const team = await this.holders.team(accountId, teamId);
    if (teamId !== undefined && team === undefined) throw new TeamNotOffered();
    this.checkOffered(owner, team, settings, undefined);
    await this.checkRoom(owner);
    return this.dataSource.transaction(async (manager) => {
      const holder = { memberId, teamId: memberId ? await this.holders.admit(owner, memberId, manager) : teamId };
      return this.keys.create({ ...settings, accountId, ...holder }, manager);
    });
  }

  /**
   * Creates a key with the same holder and settings and nothing used, even if its group is no longer available. A past
   * expiry is dropped.
   * @throws MaxKeysReached, TooManyKeys, KeysMadeTooFast, InvalidKeyName
   */
  async createLike(accountId: string, like: OwnKey, name: string, now: Date): Promise<CreatedApiKey> {
    const { memberId } = like;
    await this.checkRoom({ accountId, memberId });
    return this.dataSource.transaction(async (manager) => {
      const admitted = memberId && (await this.holders.admit({ accountId }, memberId, manager, like.id));
      const teamId = memberId === undefined ? like.teamId : admitted;
      return this.keys.create({ ...copyOf(like, now), accountId, memberId, teamId, name }, manager);
    });
  }

  /**
   * Replaces the settings. The key keeps its group and models even if they are no longer available.
   * @param version version that the change is based on
   * @throws KeyChangedMeanwhile, and the errors of `create`
   */
  async change(owner: KeyOwner, id: string, version: number, settings: KeySettings): Promise<void> {
    const key = { accountId: owner.accountId, memberId: owner.memberId, id };
    const before = await this.get(key);
    this.checkOffered(owner, await this.holders.team(owner.accountId, before.teamId), settings, before);
    await this.changes.setAll(key, version, settings);
  }

  /**
   * Changes several keys, all or none.
   * @throws KeyNotFound
   * @throws GroupNotOffered; ModelPreventsMove and KeysNotChanged, which name the key that prevents the change
   */
  async changeAll(owner: KeyOwner, ids: readonly string[], change: SharedKeyChange): Promise<void> {
    const { groupName } = change;
    const keys = groupName === undefined ? [] : await this.getAll(owner, ids);
    for (const key of keys) await this.checkMove(owner, key, groupName ?? undefined);
    await this.changes.changeAll(owner, ids, change);
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
  private async checkRoom(holder: Owner): Promise<void> {
    if (await this.rows.hasAsMany(holder, MAX_KEYS)) throw new TooManyKeys(MAX_KEYS);
    try {
      await this.throttle.spend('key-of-account', holder.memberId ?? holder.accountId);
    } catch (error) {
      throw error instanceof TooManyAttempts ? new KeysMadeTooFast(error.retryAfterSeconds) : error;
    }
  }

  private checkOffered(
    owner: KeyOwner,
    team: KeyTeam | undefined,
    { groupName, models = [] }: KeySettings,
    before: OwnKey | undefined,
  ): void {
    this.checkGroup(owner, team, groupName, before);
    const group = groupName ?? groupOfViewer(owner);
    const missing = this.missingModel(team, group, models, before);
    if (missing !== undefined) throw new ModelNotOffered(missing, group);
  }

  private async checkMove(owner: KeyOwner, key: OwnKey, groupName: string | undefined): Promise<void> {
    const team = await this.holders.team(owner.accountId, key.teamId);
    this.checkGroup(owner, team, groupName, key);
    const group = groupName ?? groupOfViewer(owner);
    const missing = this.missingModel(team, group, key.models ?? [], key);
    if (missing !== undefined) throw new ModelPreventsMove(key.name, missing, group);
  }

  private checkGroup(
    owner: KeyOwner,
    team: KeyTeam | undefined,
    groupName: string | undefined,
    before: OwnKey | undefined,
  ): void {
    const group = groupName ?? groupOfViewer(owner);
    if (group === before?.group) return;
    const isOffered = groupName === undefined || this.offer.groupsFor(owner).some(({ name }) => name === groupName);
    if (!isOffered || team?.groups?.includes(group) === false) throw new GroupNotOffered(group);
  }

  private missingModel(
    team: KeyTeam | undefined,
    group: string,
    models: readonly string[],
    before: OwnKey | undefined,
  ): string | undefined {
    const offered = new Set(this.offer.modelsOf(group).map(({ model }) => model.name));
    const kept = new Set(group === before?.group ? before.models : []);
    const isUsable = (model: string): boolean => offered.has(model) && (team?.models?.includes(model) ?? true);
    return models.find((model) => !isUsable(model) && !kept.has(model));
  }
}

/** The settings of a key for another one. */
function copyOf(key: OwnKey, now: Date): Omit<KeySettings, 'name'> {
  const { groupName, models, quota, budgets, expiresAt, limits, networks, strict, neverStores } = key;
  const { daily, weekly, monthly } = budgets;
  return {
    groupName,
    models,
    quota,
    budgets: { daily: daily?.limit, weekly: weekly?.limit, monthly: monthly?.limit },
    expiresAt: expiresAt !== undefined && expiresAt > now ? expiresAt : undefined,
    limits,
    networks,
    strict,
    neverStores,
  };
}
