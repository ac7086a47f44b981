import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import type { OrganizationRole } from '../../auth/index.js';
import { BudgetStore, type MemberBudgets } from '../index.js';
import type { Member } from './organization.js';

/** Absent members match everything. */
export interface MemberFilter {
  /** Substring of name or email address. */
  readonly text?: string | undefined;
  readonly role?: OrganizationRole | undefined;
  readonly teamId?: string | undefined;
}

/** Position in the list, oldest member first: IDs sort by creation time. */
export interface MemberPosition {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface MemberPage {
  readonly members: readonly Member[];
  readonly previous: boolean;
  readonly next: boolean;
}

/** A member as the target of a choice. */
export interface MemberName {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly role: OrganizationRole;
}

export const PAGE_MEMBERS = 50;
/** Shown without asking for more. */
const MAX_NEAR = 10;
/** Choices of a select. */
const MAX_CHOICES = 500;

const SELECT = (where: string): string => `
  SELECT m.id, m.organization_id AS "organizationId", m.account_id AS "accountId", a.email, a.name,
         a.state <> 'enabled' AS "isSuspended", m.role, m.team_id AS "teamId", t.name AS "teamName",
         m.max_keys AS "maxKeys", m.version, m.joined_at AS "joinedAt",
         (SELECT count(*)::int FROM api_keys k WHERE k.member_id = m.id AND k.state <> 'deleted') AS keys
    FROM members m JOIN accounts a ON a.id = m.account_id LEFT JOIN teams t ON t.id = m.team_id
   WHERE m.organization_id = $1 AND m.state = 'active' AND a.state <> 'deleted' ${where}`;

const ONE = SELECT('AND m.id = $2');
const BY_EMAIL = SELECT('AND a.email = $2');
const ALL = SELECT('ORDER BY m.id');
const PAGE = (side: string, order: string): string =>
  SELECT(`
    AND ($2::text IS NULL OR a.email ILIKE $2 OR a.name ILIKE $2) AND ($3::text IS NULL OR m.role = $3)
    AND ($4::text IS NULL OR m.team_id = $4) AND ($5::text IS NULL OR m.id ${side} $5)
    ORDER BY m.id ${order} LIMIT $6`);
const NEXT = PAGE('>', 'ASC');
const PREVIOUS = PAGE('<', 'DESC');

/** Those who used the largest share of one of their budgets, from four fifths. */
const NEAR = SELECT(`
  AND m.id IN (
    SELECT n.id
      FROM members n
     CROSS JOIN LATERAL (VALUES ('lifetime', n.quota), ('day', n.daily_budget), ('week', n.weekly_budget),
                                ('month', n.monthly_budget)) AS p (period, budget)
      JOIN budgets b ON b.holder_id = n.id AND b.period = p.period
       AND b.period_start = budget_period_start(p.period, now())
     WHERE n.organization_id = $1 AND n.state = 'active' AND b.used >= p.budget * 0.8
     GROUP BY n.id ORDER BY max(b.used / greatest(p.budget, 1)::numeric) DESC LIMIT ${MAX_NEAR})
  ORDER BY m.id`);

const NAMES = `
  SELECT m.id, a.email, a.name, m.role
    FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.organization_id = $1 AND m.state = 'active' AND a.state = 'enabled'
   ORDER BY lower(coalesce(nullif(a.name, ''), a.email)), m.id LIMIT ${MAX_CHOICES}`;

/** Whom a member may ask: the owner first, then admins. */
const CONTACTS = `
  SELECT m.id, a.email, a.name, m.role
    FROM members m JOIN accounts a ON a.id = m.account_id
   WHERE m.organization_id = $1 AND m.state = 'active' AND m.role IN ('owner', 'admin') AND a.state = 'enabled'
   ORDER BY m.role DESC, m.id LIMIT 5`;

const COUNTS = `
  SELECT (SELECT count(*)::int FROM members WHERE organization_id = $1 AND state = 'active') AS members,
         (SELECT count(*)::int FROM teams WHERE organization_id = $1 AND state = 'enabled') AS teams,
         count(*)::int AS keys, count(*) FILTER (WHERE member_id IS NULL)::int AS "serviceKeys"
    FROM api_keys WHERE account_id = $1 AND state <> 'deleted'`;

/** What belongs to an organization; keys include service keys, and neither includes deleted ones. */
type Counts = Readonly<Record<'members' | 'teams' | 'keys' | 'serviceKeys', number>>;

type MemberDetails = Omit<Member, 'team' | 'budgets' | 'maxKeys'> & {
  readonly teamId: string | null;
  readonly teamName: string | null;
  readonly maxKeys: number | null;
};

/** Reads members with their budgets. */
@Injectable()
export class MembersReader {
  constructor(
    private readonly dataSource: DataSource,
    private readonly budgets: BudgetStore,
  ) {}

  async find(organizationId: string, memberId: string): Promise<Member | undefined> {
    const [member] = await this.read(ONE, [organizationId, memberId]);
    return member;
  }

  /** @param email normalized */
  async withEmail(organizationId: string, email: string): Promise<Member | undefined> {
    const [member] = await this.read(BY_EMAIL, [organizationId, email]);
    return member;
  }

  /** Oldest first, without pages. */
  all(organizationId: string): Promise<readonly Member[]> {
    return this.read(ALL, [organizationId]);
  }

  async page(organizationId: string, filter: MemberFilter, { before, after }: MemberPosition): Promise<MemberPage> {
    const text = filter.text === undefined ? null : `%${filter.text.replace(/[\\%_]/g, String.raw`\$&`)}%`;
    const values = [organizationId, text, filter.role ?? null, filter.teamId ?? null, before ?? after ?? null];
    const found = await this.read(before === undefined ? NEXT : PREVIOUS, [...values, PAGE_MEMBERS + 1]);
    const more = found.length > PAGE_MEMBERS;
    const members = found.slice(0, PAGE_MEMBERS);
    return before === undefined
      ? { members, previous: after !== undefined, next: more }
      : { members: members.toReversed(), previous: more, next: true };
  }

  /** Members who have used four fifths of one of their budgets or more. */
  nearLimit(organizationId: string): Promise<readonly Member[]> {
    return this.read(NEAR, [organizationId]);
  }

  /** By name; at most the first 500. */
  names(organizationId: string): Promise<readonly MemberName[]> {
    return this.dataSource.query<MemberName[]>(NAMES, [organizationId]);
  }

  /** Owner and admins. */
  contacts(organizationId: string): Promise<readonly MemberName[]> {
    return this.dataSource.query<MemberName[]>(CONTACTS, [organizationId]);
  }

  async counts(organizationId: string): Promise<Counts> {
    const [counts] = await this.dataSource.query<Counts[]>(COUNTS, [organizationId]);
    return counts ?? { members: 0, teams: 0, keys: 0, serviceKeys: 0 };
  }

  private async read(sql: string, values: unknown[]): Promise<readonly Member[]> {
    const rows = await this.dataSource.query<MemberDetails[]>(sql, values);
    const budgets = await this.budgets.ofHolders(
      'member',
      rows.map(({ id }) => id),
    );
    return rows.flatMap((row) => memberOf(row, budgets.get(row.id)) ?? []);
  }
}

/** Undefined if the member was deleted between both queries. */
function memberOf(row: MemberDetails, budgets: MemberBudgets | undefined): Member | undefined {
  if (budgets === undefined) return undefined;
  const { teamId, teamName, maxKeys, ...member } = row;
  const team = teamId === null || teamName === null ? undefined : { id: teamId, name: teamName };
  return { ...member, team, maxKeys: maxKeys ?? undefined, budgets };
}
