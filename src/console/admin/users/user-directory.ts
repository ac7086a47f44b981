import { Injectable } from '@nestjs/common';
import type { AccountRole, AccountState } from '../../../auth/index.js';
import { type Nanos, nanos } from '../../../platform/shared/index.js';
import { type Query, TimeLimitedReads } from '../../../usage/index.js';
import { containing } from '../../usage/index.js';

/** A row of the user list, or an organization as the holder of a wallet and keys. */
export interface ListedUser {
  readonly id: string;
  readonly kind: 'person' | 'organization';
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
  readonly state: AccountState;
  readonly group: string;
  readonly verified: boolean;
  /** Whether an invitation waits for the user to choose a password. */
  readonly invited: boolean;
  readonly createdAt: Date;
  /** Whether a code is asked for beside the password. */
  readonly hasSecondFactor: boolean;
  readonly balance: Nanos;
  readonly owed: Nanos;
  /** Monthly allowance; 0 if none. */
  readonly allowance: Nanos;
  /** Finished calls and their charges in the last 30 days. */
  readonly calls: number;
  readonly charged: Nanos;
  /** Last page view or call; null if none is recorded. */
  readonly lastSeenAt: Date | null;
}

export interface UserFilter {
  /** Part of the email address, name or id. */
  readonly text?: string | undefined;
  readonly role?: AccountRole | undefined;
  readonly group?: string | undefined;
  /** Absent: any but deleted. */
  readonly state?: AccountState | undefined;
  readonly sort?: UserSort | undefined;
}

/** Absent: newest first. */
export type UserSort = 'highest-balance' | 'lowest-balance';

/** A position in the list: ids sort by creation time. */
interface UserPosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
  /** Balance in that row, if the list is sorted by it. */
  readonly value?: string | undefined;
}

type UserRow = Omit<ListedUser, 'calls' | Money> & Readonly<Record<'calls' | Money, string>>;
type Money = 'balance' | 'owed' | 'allowance' | 'charged';

/**
 * Selects the rows first, so that figures are computed only for them. Calls come from the 15-minute rollups up to the
 * watermark, and from the calls themselves after it.
 */
const SELECT = (filter: string, order: string): string => `
  SELECT a.*, (EXISTS (SELECT FROM second_factors f WHERE f.account_id = a.id)
               OR EXISTS (SELECT FROM passkeys p WHERE p.account_id = a.id)) AS "hasSecondFactor",
         EXISTS (SELECT FROM verifications v
                  WHERE v.purpose = 'invite' AND v.subject = a.id AND v.used_at IS NULL) AS invited,
         coalesce(w.balance, 0) AS balance, coalesce(w.owed, 0) AS owed, coalesce(e.amount, 0) AS allowance,
         u.calls, u.charged,
         greatest((SELECT max(s.last_seen_at) FROM sessions s WHERE s.account_id = a.id),
                  (SELECT max(o.created_at) FROM open_calls o WHERE o.account_id = a.id),
                  (SELECT c.created_at FROM calls c WHERE c.account_id = a.id ORDER BY c.created_at DESC LIMIT 1)
         ) AS "lastSeenAt"
    FROM (
      SELECT id, kind, email, name, role, state, coalesce(group_name, 'default') AS "group", verified_at IS NOT NULL AS verified,
             created_at AS "createdAt"
        FROM accounts WHERE ${filter} ${order}) a
    LEFT JOIN wallets w ON w.account_id = a.id
    LEFT JOIN allowances e ON e.account_id = a.id
   CROSS JOIN usage_watermark m
   CROSS JOIN LATERAL (SELECT date_bin('15 minutes', now() - interval '30 days', '2000-01-01 00:00:00+00') AS since) f
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(r.calls), 0) AS calls, coalesce(sum(r.cost), 0) AS charged
       FROM (SELECT calls, cost FROM usage_slots
              WHERE account_id = a.id AND level IN ('all', 'few') AND slot >= f.since
             UNION ALL
             SELECT count(*), coalesce(sum(cost), 0) FROM calls
              WHERE account_id = a.id AND created_at >= greatest(f.since, m.summed_until)) r) u`;

const ONE = SELECT('id = $1', '');

/** Without an index, which every call would have to update; the time limit of reads protects large services. */
const BALANCE = 'coalesce((SELECT balance FROM wallets WHERE account_id = id), 0)';

/** @param isBack selects the page that precedes the position, in the order of the list */
function pageSql(sort: UserSort | undefined, isBack: boolean): string {
  const order = sort === 'lowest-balance' ? 'ASC' : 'DESC';
  const [side, inner] = (order === 'DESC') === isBack ? ['>', 'ASC'] : ['<', 'DESC'];
  const place = sort === undefined ? `id ${side} $5` : `(${BALANCE}, id) ${side} ($7::bigint, $5)`;
  const select = SELECT(
    `kind = 'person' AND ($1::text IS NULL OR email ILIKE $1 OR name ILIKE $1 OR id ILIKE $1)
     AND ($2::text IS NULL OR role = $2)
     AND ($3::text IS NULL OR coalesce(group_name, 'default') = $3)
     AND CASE WHEN $4::text IS NULL THEN state <> 'deleted' ELSE state = $4 END
     AND ($5::text IS NULL OR ${place})`,
    `ORDER BY ${sort === undefined ? '' : `${BALANCE} ${inner}, `}id ${inner} LIMIT $6`,
  );
  return `${select} ORDER BY ${sort === undefined ? '' : `coalesce(w.balance, 0) ${order}, `}a.id ${order}`;
}

/** Read-only view of users with data of other modules. */
@Injectable()
export class UserDirectory {
  constructor(private readonly reads: TimeLimitedReads) {}

  /** One page. `before` continues the list, `after` goes back. @throws RangeTooLarge after 5 s */
  page(
    { text, role, group, state, sort }: UserFilter,
    { before, after, value }: UserPosition,
    size: number,
  ): Promise<readonly ListedUser[]> {
    const filters = [text === undefined ? null : containing(text), role, group, state];
    const values = [...filters, after ?? before, size, ...(sort === undefined ? [] : [value])];
    return this.read(
      pageSql(sort, after !== undefined),
      values.map((one) => one ?? null),
    );
  }

  async find(id: string): Promise<ListedUser | undefined> {
    const [user] = await this.read(ONE, [id]);
    return user;
  }

  private read(sql: string, values: readonly unknown[]): Promise<readonly ListedUser[]> {
    return this.reads.read(async (query: Query) => (await query<UserRow>(sql, values)).map(userOf));
  }
}

const money = (text: string): Nanos => nanos(BigInt(text));

const userOf = (row: UserRow): ListedUser => ({
  ...row,
  calls: Number(row.calls),
  balance: money(row.balance),
  owed: money(row.owed),
  allowance: money(row.allowance),
  charged: money(row.charged),
});
