import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { AccountState } from '../../auth/index.js';
import { AppError, type Nanos, nanos } from '../../platform/shared/index.js';
import { type Query, TimeLimitedReads } from '../../usage/index.js';

/** An organization with what administrators want to know about it. */
export interface ListedOrganization {
  readonly id: string;
  /** Empty once deleted. */
  readonly name: string;
  readonly state: AccountState;
  readonly group: string;
  readonly createdAt: Date;
  /** Undefined once deleted. */
  readonly owner: { readonly id: string; readonly email: string } | undefined;
  readonly members: number;
  readonly teams: number;
  readonly keys: number;
  readonly balance: Nanos;
  readonly held: Nanos;
  readonly owed: Nanos;
  /** Monthly allowance; 0 if none. */
  readonly allowance: Nanos;
  /** Finished calls and their charges since the month began, in UTC. */
  readonly calls: number;
  readonly charged: Nanos;
}

export interface OrganizationFilter {
  /** Part of the name or ID, or of the owner's email address. */
  readonly text?: string | undefined;
  /** Absent: any but deleted. */
  readonly state?: AccountState | undefined;
}

/** Position in the list, newest first: IDs sort by creation time. */
interface OrganizationPosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

class UnknownOrganization extends AppError {
  constructor(reference: string) {
    super('not_found', `No organization has the ID or name ${reference}.`, { param: 'organization' });
  }
}

class AmbiguousName extends AppError {
  constructor(name: string, ids: readonly string[]) {
    super('invalid_request', `Several organizations are named ${name}. Use an ID: ${ids.join(', ')}.`, {
      param: 'organization',
    });
  }
}

type OrganizationRow = Omit<ListedOrganization, 'owner' | 'calls' | Money> &
  Readonly<Record<'calls' | Money, string>> & { readonly ownerId: string | null; readonly ownerEmail: string | null };
type Money = 'balance' | 'held' | 'owed' | 'allowance' | 'charged';

/**
 * Selects the rows first, so that figures are computed only for them. Calls come from the 15-minute rollups up to the
 * watermark, and from the calls themselves after it.
 */
const SELECT = (filter: string, order: string): string => `
  SELECT a.*, p.id AS "ownerId", p.email AS "ownerEmail",
         (SELECT count(*)::int FROM members m WHERE m.organization_id = a.id AND m.state = 'active') AS members,
         (SELECT count(*)::int FROM teams t WHERE t.organization_id = a.id AND t.state = 'enabled') AS teams,
         (SELECT count(*)::int FROM api_keys k WHERE k.account_id = a.id AND k.state <> 'deleted') AS keys,
         coalesce(w.balance, 0) AS balance, coalesce(w.held, 0) AS held, coalesce(w.owed, 0) AS owed,
         coalesce(e.amount, 0) AS allowance, u.calls, u.charged
    FROM (
      SELECT a.id, a.name, a.state, coalesce(a.group_name, 'default') AS "group", a.created_at AS "createdAt"
        FROM accounts a WHERE a.kind = 'organization' AND ${filter} ${order}) a
    LEFT JOIN members o ON o.organization_id = a.id AND o.role = 'owner' AND o.state = 'active'
    LEFT JOIN accounts p ON p.id = o.account_id
    LEFT JOIN wallets w ON w.account_id = a.id
    LEFT JOIN allowances e ON e.account_id = a.id
   CROSS JOIN usage_watermark m
   CROSS JOIN LATERAL (SELECT date_trunc('month', now(), 'UTC') AS since) f
   CROSS JOIN LATERAL (
     SELECT coalesce(sum(r.calls), 0) AS calls, coalesce(sum(r.cost), 0) AS charged
       FROM (SELECT calls, cost FROM usage_slots
              WHERE account_id = a.id AND level IN ('all', 'few') AND slot >= f.since
             UNION ALL
             SELECT count(*), coalesce(sum(cost), 0) FROM calls
              WHERE account_id = a.id AND created_at >= greatest(f.since, m.summed_until)) r) u`;

const ONE = SELECT('a.id = $1', '');
const ALL = `${SELECT('TRUE', '')} ORDER BY a.id`;

function pageSql(isBack: boolean): string {
  const [side, order] = isBack ? ['>', 'ASC'] : ['<', 'DESC'];
  const filter = `
    ($1::text IS NULL OR a.name ILIKE $1 OR a.id ILIKE $1 OR EXISTS (
       SELECT FROM members m JOIN accounts p ON p.id = m.account_id
        WHERE m.organization_id = a.id AND m.role = 'owner' AND m.state = 'active' AND p.email ILIKE $1))
    AND CASE WHEN $2::text IS NULL THEN a.state <> 'deleted' ELSE a.state = $2 END
    AND ($3::text IS NULL OR a.id ${side} $3)`;
  return `${SELECT(filter, `ORDER BY a.id ${order} LIMIT $4`)} ORDER BY a.id DESC`;
}

const NAMED = `
  SELECT id FROM accounts
   WHERE kind = 'organization' AND state <> 'deleted' AND (id = $1 OR lower(name) = lower($1)) ORDER BY id`;

/** Read-only view of organizations with data of other modules, for administrators. */
@Injectable()
export class OrganizationDirectory {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly dataSource: DataSource,
  ) {}

  /** One page. `before` continues the list, `after` goes back. @throws RangeTooLarge after 5 s */
  page(
    { text, state }: OrganizationFilter,
    { before, after }: OrganizationPosition,
    size: number,
  ): Promise<readonly ListedOrganization[]> {
    const pattern = text === undefined ? null : `%${text.replaceAll(/[\\%_]/g, String.raw`\$&`)}%`;
    return this.reads.read((query) =>
      read(query, pageSql(after !== undefined), [pattern, state ?? null, after ?? before ?? null, size]),
    );
  }

  /** Oldest first, including deleted ones. */
  async all(): Promise<readonly ListedOrganization[]> {
    return read((sql, values = []) => this.dataSource.query(sql, [...values]), ALL, []);
  }

  async find(id: string): Promise<ListedOrganization | undefined> {
    const [organization] = await this.reads.read((query) => read(query, ONE, [id]));
    return organization;
  }

  /**
   * ID of the organization with this ID or name, ignoring case.
   * @throws UnknownOrganization, AmbiguousName
   */
  async named(reference: string, manager?: EntityManager): Promise<string> {
    const id = await this.idOf(reference, manager);
    if (id === undefined) throw new UnknownOrganization(reference);
    return id;
  }

  /** The same; undefined if there is none. @throws AmbiguousName */
  async idOf(reference: string, manager: EntityManager = this.dataSource.manager): Promise<string | undefined> {
    const ids = (await manager.query<{ id: string }[]>(NAMED, [reference.trim()])).map(({ id }) => id);
    if (ids.length > 1) throw new AmbiguousName(reference, ids);
    return ids[0];
  }
}

async function read(query: Query, sql: string, values: readonly unknown[]): Promise<readonly ListedOrganization[]> {
  return (await query<OrganizationRow>(sql, values)).map(organizationOf);
}

const money = (text: string): Nanos => nanos(BigInt(text));

const organizationOf = ({ ownerId, ownerEmail, ...row }: OrganizationRow): ListedOrganization => ({
  ...row,
  owner: ownerId === null || ownerEmail === null ? undefined : { id: ownerId, email: ownerEmail },
  calls: Number(row.calls),
  balance: money(row.balance),
  held: money(row.held),
  owed: money(row.owed),
  allowance: money(row.allowance),
  charged: money(row.charged),
});
