import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { allows, type OrganizationRole, type Owner } from '../auth/index.js';
import { type LimitColumns, type Limits, limitsIn } from '../platform/limits/index.js';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { ApiKeyEntity } from './api-key.entity.js';
import type { KeyReference, SettingsRow } from './api-key.js';
import type { KeyState } from './caller.js';

/** Columns of a new row; others get their defaults. */
export type NewApiKeyRow = Pick<ApiKeyEntity, 'id' | 'accountId' | 'memberId' | 'teamId' | 'secretHash' | 'hint'> &
  SettingsRow;

/** Changed settings other than budgets. */
export type KeyColumns = Partial<
  Pick<
    ApiKeyEntity,
    'name' | 'groupName' | 'models' | 'expiresAt' | 'quota' | 'limits' | 'networks' | 'strict' | 'neverStores'
  >
>;

interface DescribedKey {
  readonly accountId: string;
  readonly name: string;
  readonly tokenIssuer: string | undefined;
  readonly group: string;
  /** Undefined: unlimited. */
  readonly quota: Nanos | undefined;
  readonly used: Nanos;
  readonly held: Nanos;
  readonly limits: Limits;
  readonly seesWallet: boolean;
}

type DescribedRow = Record<'accountId' | 'name' | 'group' | 'used' | 'held', string> & {
  quota: string | null;
  tokenIssuer: string | null;
  kind: 'person' | 'organization';
  role: OrganizationRole | null;
} & LimitColumns;

const DESCRIBE = `
  SELECT k.account_id AS "accountId", k.name, coalesce(k.group_name, a.group_name, 'default') AS "group",
         CASE WHEN k.token_issuer_id IS NOT NULL THEN k.hint END AS "tokenIssuer", k.quota, k.used, k.held, a.kind, m.role,
         k.requests_per_minute AS "requestsPerMinute", k.tokens_per_minute AS "tokensPerMinute", k.concurrency
    FROM api_keys k JOIN accounts a ON a.id = k.account_id LEFT JOIN members m ON m.id = k.member_id
   WHERE k.id = $1`;

const DELETE_ALL = `
  UPDATE api_keys SET state = 'deleted', version = version + 1
   WHERE account_id = $1 AND state <> 'deleted' RETURNING id`;

const money = (text: string): Nanos => nanos(BigInt(text));

/** Keys as owners and administrators manage them. `CallerRepository` reads what calls need. */
@Injectable()
export class ApiKeyRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Returns false without writing if the secret is already known. */
  async insert(key: NewApiKeyRow, manager: EntityManager): Promise<boolean> {
    const insert = manager
      .createQueryBuilder()
      .insert()
      .into(ApiKeyEntity)
      .values({ ...key, models: writable(key.models), networks: writable(key.networks) });
    const { raw } = await insert.orIgnore().returning('id').execute();
    return (raw as unknown[]).length === 1;
  }

  /** Oldest first, including deleted keys. */
  listOf(accountId: string): Promise<readonly ApiKeyEntity[]> {
    return this.dataSource.getRepository(ApiKeyEntity).find({ where: { accountId }, order: { id: 'ASC' } });
  }

  find(id: string): Promise<ApiKeyEntity | null> {
    return this.dataSource.getRepository(ApiKeyEntity).findOneBy({ id });
  }

  /** A key with the group that its calls are billed under. */
  async describe(id: string): Promise<DescribedKey | undefined> {
    const [row] = await this.dataSource.query<DescribedRow[]>(DESCRIBE, [id]);
    if (!row) return undefined;
    const { accountId, name, tokenIssuer, group, quota, used, held } = row;
    const amounts = { quota: quota === null ? undefined : money(quota), used: money(used), held: money(held) };
    const seesWallet = row.kind === 'person' || (row.role !== null && allows({ role: row.role }, 'view wallet'));
    return {
      accountId,
      name,
      tokenIssuer: tokenIssuer ?? undefined,
      group,
      ...amounts,
      limits: limitsIn(row),
      seesWallet,
    };
  }

  /** Locked until the transaction ends; admission of the key's calls waits. */
  lock(key: KeyReference, manager: EntityManager): Promise<ApiKeyEntity | null> {
    const where = typeof key === 'string' ? { id: key } : { ...ownedBy(key), id: key.id };
    return manager.findOne(ApiKeyEntity, { where, lock: { mode: 'pessimistic_write' } });
  }

  async setState(id: string, state: KeyState, manager: EntityManager): Promise<void> {
    await manager.update(ApiKeyEntity, { id }, { state, version: () => 'version + 1' });
  }

  /** Returns the IDs of the keys that were not deleted before. */
  async deleteAllOf(accountId: string, manager: EntityManager): Promise<readonly string[]> {
    const [rows] = await manager.query<[{ id: string }[], number]>(DELETE_ALL, [accountId]);
    return rows.map(({ id }) => id);
  }

  /** Updates settings other than budgets, which are rows. */
  async update(id: string, columns: KeyColumns, manager: EntityManager): Promise<void> {
    const { models, networks, ...others } = columns;
    const changed = {
      ...others,
      ...(models !== undefined && { models: writable(models) }),
      ...(networks !== undefined && { networks: writable(networks) }),
    };
    await manager.update(ApiKeyEntity, { id }, { ...changed, version: () => 'version + 1' });
  }
}

const ownedBy = ({ accountId, memberId }: Owner) => ({ accountId, ...(memberId !== undefined && { memberId }) });

/** TypeORM's types require mutable arrays. */
const writable = (list: readonly string[] | null): string[] | null => list && [...list];
