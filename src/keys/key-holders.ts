import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import type { OrganizationScope, Owner } from '../auth/index.js';
import { AppError, type Nanos, nanos } from '../platform/shared/index.js';
import { MEMBER_NAME } from '../usage/index.js';

/** A team, and what it narrows; undefined: no restriction. */
export interface KeyTeam {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[] | undefined;
  readonly groups: readonly string[] | undefined;
}

/** What is left of the budget of a member with the least left. */
export interface MemberAllowance {
  readonly period: 'lifetime' | 'day' | 'week' | 'month';
  readonly left: Nanos;
}

export class TeamNotOffered extends AppError {
  constructor() {
    super('invalid_request', 'Choose a team from the list.', { param: 'team' });
  }
}

class MaxKeysReached extends AppError {
  constructor(max: number) {
    super(
      'invalid_request',
      `You may have ${max} ${max === 1 ? 'key' : 'keys'} in this organization. Delete one, or ask an admin to raise the number.`,
      { param: 'name' },
    );
  }
}

const MEMBER = `
  SELECT team_id AS "teamId", max_keys AS "maxKeys"
    FROM members WHERE id = $1 AND organization_id = $2 AND state = 'active' FOR UPDATE`;
/** After the lock: a statement that waits for one does not see what was committed meanwhile. */
const KEYS = `
  SELECT count(*)::int AS keys FROM api_keys
   WHERE member_id = $1 AND state <> 'deleted' AND id IS DISTINCT FROM $2`;

const TEAMS = `SELECT id, name, models, groups FROM teams WHERE organization_id = $1 AND state = 'enabled'`;

const MEMBERS = `
  SELECT m.id, ${MEMBER_NAME} AS name
    FROM members m JOIN accounts p ON p.id = m.account_id
   WHERE m.organization_id = $1 AND (m.state = 'active' OR EXISTS (SELECT FROM api_keys k WHERE k.member_id = m.id))
   ORDER BY m.state, lower(${MEMBER_NAME}), m.id LIMIT 500`;

const LEFT = `
  SELECT p.period, p.budget - coalesce(b.used + b.held, 0) AS "left"
    FROM members m
   CROSS JOIN LATERAL (VALUES ('lifetime', m.quota), ('day', m.daily_budget), ('week', m.weekly_budget),
                              ('month', m.monthly_budget)) AS p (period, budget)
    LEFT JOIN budgets b ON b.holder_id = m.id AND b.period = p.period
     AND b.period_start = budget_period_start(p.period, now())
   WHERE m.id = $1 AND p.budget IS NOT NULL ORDER BY 2 LIMIT 1`;

interface TeamRow {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[] | null;
  readonly groups: readonly string[] | null;
}

/** Members and teams of organizations as the holders of keys. */
@Injectable()
export class KeyHolders {
  constructor(private readonly dataSource: DataSource) {}

  /** Members who have, or may have, keys; by name, those who left last. */
  members(organizationId: string): Promise<readonly { readonly id: string; readonly name: string }[]> {
    return this.dataSource.query(MEMBERS, [organizationId]);
  }

  /** By name. */
  async teams(organizationId: string): Promise<readonly KeyTeam[]> {
    return (await this.dataSource.query<TeamRow[]>(`${TEAMS} ORDER BY lower(name)`, [organizationId])).map(teamOf);
  }

  /** Undefined if there is no such team, or it was deleted. */
  async team(organizationId: string, id: string | undefined): Promise<KeyTeam | undefined> {
    if (id === undefined) return undefined;
    const [row] = await this.dataSource.query<TeamRow[]>(`${TEAMS} AND id = $2`, [organizationId, id]);
    return row && teamOf(row);
  }

  /** Undefined: the member has no budget. */
  async leftOf({ memberId }: Pick<OrganizationScope, 'memberId'>): Promise<MemberAllowance | undefined> {
    const [row] = await this.dataSource.query<{ period: MemberAllowance['period']; left: string }[]>(LEFT, [memberId]);
    return row && { period: row.period, left: nanos(BigInt(row.left)) };
  }

  /**
   * Locks the member until the key is stored.
   * @param exceptId a key that is being replaced, which does not count
   * @returns their team
   * @throws MaxKeysReached, and NotAMember when they left meanwhile
   */
  async admit(
    { accountId }: Owner,
    memberId: string,
    manager: EntityManager,
    exceptId?: string,
  ): Promise<string | undefined> {
    const [member] = await manager.query<{ teamId: string | null; maxKeys: number | null }[]>(MEMBER, [
      memberId,
      accountId,
    ]);
    if (member === undefined) throw new NotAMember();
    const [counted] = await manager.query<{ keys: number }[]>(KEYS, [memberId, exceptId ?? null]);
    const { teamId, maxKeys } = member;
    if (maxKeys !== null && (counted?.keys ?? 0) >= maxKeys) throw new MaxKeysReached(maxKeys);
    return teamId ?? undefined;
  }
}

class NotAMember extends AppError {
  constructor() {
    super('permission_denied', 'This member left the organization. Keys cannot be created for them.');
  }
}

const teamOf = ({ models, groups, ...team }: TeamRow): KeyTeam => ({
  ...team,
  models: models ?? undefined,
  groups: groups ?? undefined,
});
