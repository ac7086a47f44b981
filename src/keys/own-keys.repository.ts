import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { Owner } from '../auth/index.js';
import { limitsIn } from '../platform/limits/index.js';
import { type Nanos, nanos } from '../platform/shared/index.js';
import { MEMBER_NAME } from '../usage/index.js';
import type { KeyState } from './caller.js';
import { type KeyBudgets, NO_BUDGETS } from './budgets.js';
import { BudgetStore } from './budget-store.js';
import type { KeyCondition, KeyFilter, KeyPosition, OwnKey } from './own-key.js';

/** A key's row with derived columns, budgets and last use; amounts in nanos as text. */
interface OwnKeyRow {
  readonly id: string;
  readonly name: string;
  readonly state: KeyState;
  readonly hint: string;
  readonly isTokenKey: boolean;
  readonly version: number;
  readonly member: string;
  readonly memberId: string | null;
  readonly teamId: string | null;
  readonly groupName: string | null;
  readonly group: string;
  readonly models: readonly string[] | null;
  readonly expiresAt: Date | null;
  readonly strict: boolean;
  readonly neverStores: boolean;
  readonly requestsPerMinute: number | null;
  readonly tokensPerMinute: number | null;
  readonly concurrency: number | null;
  readonly networks: readonly string[] | null;
  readonly quota: string | null;
  readonly used: string;
  readonly held: string;
  readonly createdAt: Date;
  readonly conditions: readonly KeyCondition[];
  readonly lastUsedAt: Date | null;
}

/** Derived columns come first, so that they can be filtered; last use is read for shown rows only. */
const SELECT = (filter: string, order: string): string => `
  SELECT k.*, greatest(
           (SELECT c.created_at FROM calls c WHERE c.key_id = k.id ORDER BY c.created_at DESC LIMIT 1),
           (SELECT max(d.last_at) FROM dropped_calls d WHERE d.key_id = k.id),
           (SELECT max(o.created_at) FROM open_calls o WHERE o.account_id = $1 AND o.key_id = k.id)) AS "lastUsedAt"
    FROM (
      SELECT k.id, k.name, k.state, k.hint, k.token_issuer_id IS NOT NULL AS "isTokenKey", k.version, k.group_name AS "groupName", g."group", k.models,
             k.expires_at AS "expiresAt", k.strict, k.never_stores AS "neverStores", k.quota, k.used, k.held,
             k.requests_per_minute AS "requestsPerMinute", k.tokens_per_minute AS "tokensPerMinute", k.concurrency, k.networks,
             k.created_at AS "createdAt", s.conditions, k.member_id AS "memberId", k.team_id AS "teamId",
             coalesce(${MEMBER_NAME}, '') AS member
        FROM api_keys k
        JOIN accounts a ON a.id = k.account_id
        LEFT JOIN members m ON m.id = k.member_id
        LEFT JOIN accounts p ON p.id = m.account_id
       CROSS JOIN LATERAL (SELECT coalesce(k.group_name, a.group_name, 'default') AS "group") g
       -- How full the fullest of its limits is: 1 is used up. A budget's period without a row has seen no use yet.
       CROSS JOIN LATERAL (
         SELECT max(CASE WHEN l.used >= l.top THEN 1 ELSE l.used::numeric / l.top END) AS share
           FROM (SELECT k.quota AS top, k.used
                 UNION ALL
                 SELECT p.budget, coalesce(b.used, 0)
                   FROM (VALUES ('day', k.daily_budget), ('week', k.weekly_budget), ('month', k.monthly_budget))
                     AS p (period, budget)
                   LEFT JOIN budgets b ON b.holder_id = k.id AND b.period = p.period
                    AND b.period_start = budget_period_start(p.period, now())) l
          WHERE l.top IS NOT NULL) f
       CROSS JOIN LATERAL (
         SELECT CASE
           WHEN k.state <> 'enabled' THEN ARRAY[k.state]
           WHEN k.expires_at <= now() THEN ARRAY['expired']
           ELSE array_remove(ARRAY[
             CASE WHEN f.share >= 1 THEN 'used-up' END,
             CASE WHEN f.share >= 0.8 AND f.share < 1 THEN 'near-quota' END,
             CASE WHEN k.expires_at <= now() + interval '7 days' THEN 'expires-soon' END,
             CASE WHEN coalesce(f.share, 0) < 1 THEN 'enabled' END], NULL)
           END AS conditions) s
       WHERE k.account_id = $1 AND ($2::text IS NULL OR k.member_id = $2) ${filter}
       ${order}) k`;

const BY_ID = SELECT('AND k.id = ANY ($3::text[])', 'ORDER BY k.id DESC');

/** Rows that match the filter; `deleted` only on request. */
const PAGE = (side: string, order: string): string =>
  SELECT(
    `AND ($3::text IS NULL OR k.name ILIKE $3 OR k.hint ILIKE $3)
     AND ($4::text IS NULL OR g."group" = $4)
     AND CASE WHEN $5::text IS NULL THEN k.state <> 'deleted' ELSE $5 = ANY (s.conditions) END
     AND ($6::boolean IS FALSE OR k.member_id IS NOT DISTINCT FROM $7)
     AND ($8::text IS NULL OR k.id ${side} $8)`,
    `ORDER BY k.id ${order} LIMIT $9`,
  );
const OLDER = PAGE('<', 'DESC');
const NEWER = PAGE('>', 'ASC');

const BY_SECRET = `
  SELECT id FROM api_keys WHERE account_id = $1 AND ($2::text IS NULL OR member_id = $2) AND secret_hash = $3`;

const GROUPS = `
  SELECT DISTINCT coalesce(k.group_name, a.group_name, 'default') AS "group"
    FROM api_keys k JOIN accounts a ON a.id = k.account_id
   WHERE k.account_id = $1 AND ($2::text IS NULL OR k.member_id = $2) ORDER BY 1`;

/** Stops counting at the given number. Without a member, counts keys without one. */
const COUNT = `
  SELECT count(*)::int AS count
    FROM (SELECT 1 FROM api_keys
           WHERE account_id = $1 AND member_id IS NOT DISTINCT FROM $2 AND state <> 'deleted' LIMIT $3) k`;

/** Reads the keys of one account, or of one member of an organization. */
@Injectable()
export class OwnKeysRepository {
  constructor(
    private readonly dataSource: DataSource,
    private readonly budgets: BudgetStore,
  ) {}

  /** Newest first; without those that are not the owner's. */
  async byIds(owner: Owner, ids: readonly string[]): Promise<readonly OwnKey[]> {
    return this.complete(await this.dataSource.query<OwnKeyRow[]>(BY_ID, [...valuesOf(owner), ids]));
  }

  async idBySecret(owner: Owner, secretHash: Buffer): Promise<string | undefined> {
    const [row] = await this.dataSource.query<{ id: string }[]>(BY_SECRET, [...valuesOf(owner), secretHash]);
    return row?.id;
  }

  /** Newest first; of keys newer than the position, those closest to it. */
  async page(
    owner: Owner,
    { text, group, condition, memberId }: KeyFilter,
    { before, after }: KeyPosition,
    size: number,
  ): Promise<readonly OwnKey[]> {
    const filter = [text === undefined ? null : containing(text), group ?? null, condition ?? null];
    const holder = [memberId !== undefined, memberId ?? null];
    const values = [...valuesOf(owner), ...filter, ...holder, after ?? before ?? null, size];
    const keys = await this.complete(await this.dataSource.query(after === undefined ? OLDER : NEWER, values));
    return keys.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Names of the groups that the owner's keys are billed under, including deleted keys. */
  async groups(owner: Owner): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ group: string }[]>(GROUPS, valuesOf(owner));
    return rows.map(({ group }) => group);
  }

  /** Whether the holder has at least this many keys, not counting deleted ones. */
  async hasAsMany(holder: Owner, number: number, manager?: EntityManager): Promise<boolean> {
    const database = manager ?? this.dataSource;
    const [row] = await database.query<{ count: number }[]>(COUNT, [...valuesOf(holder), number]);
    return row?.count === number;
  }

  private async complete(rows: readonly OwnKeyRow[]): Promise<readonly OwnKey[]> {
    const budgets = await this.budgets.of(rows.map(({ id }) => id));
    return rows.map((row) => ownKeyOf(row, budgets.get(row.id) ?? NO_BUDGETS));
  }
}

const valuesOf = ({ accountId, memberId }: Owner) => [accountId, memberId ?? null];

const containing = (text: string): string => `%${text.replace(/[\\%_]/g, '\\$&')}%`;

const money = (text: string): Nanos => nanos(BigInt(text));

const ownKeyOf = (row: OwnKeyRow, budgets: KeyBudgets): OwnKey => ({
  ...row,
  quota: row.quota === null ? undefined : money(row.quota),
  used: money(row.used),
  held: money(row.held),
  budgets,
  memberId: row.memberId ?? undefined,
  teamId: row.teamId ?? undefined,
  groupName: row.groupName ?? undefined,
  models: row.models ?? undefined,
  expiresAt: row.expiresAt ?? undefined,
  limits: limitsIn(row),
  networks: row.networks ?? undefined,
  lastUsedAt: row.lastUsedAt ?? undefined,
});
