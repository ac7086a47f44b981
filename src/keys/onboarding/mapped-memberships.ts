import { Injectable, Logger } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type ClaimRule, type MappedAssignments, type SignInProvider, targetOf } from '../../auth/index.js';
import { actingAs, AuditLog, SYSTEM } from '../../platform/audit/index.js';
import { MemberKeys, Memberships } from '../index.js';

/** An organization that claims can assign, with its teams. */
export interface MappableOrganization {
  readonly id: string;
  readonly name: string;
  readonly teams: readonly { readonly id: string; readonly name: string }[];
}

const LIST = `
  SELECT o.id, a.name, coalesce(t.teams, '[]'::json) AS teams
    FROM organizations o
    JOIN accounts a ON a.id = o.id AND a.state = 'enabled'
    LEFT JOIN LATERAL (
      SELECT json_agg(json_build_object('id', t.id, 'name', t.name) ORDER BY t.name) AS teams
        FROM teams t WHERE t.organization_id = o.id AND t.state = 'enabled') t ON true
   ORDER BY a.name, o.id`;

interface Membership {
  readonly id: string;
  readonly organizationId: string;
  readonly role: string;
  readonly roleSource: 'manual' | 'provider';
  readonly teamId: string | null;
  readonly teamSource: 'manual' | 'provider';
  readonly state: 'active' | 'left';
  readonly provider: string | null;
}

const MEMBERSHIPS = `
  SELECT id, organization_id AS "organizationId", role, role_source AS "roleSource", team_id AS "teamId",
         team_source AS "teamSource", state, provider
    FROM members WHERE account_id = $1 FOR NO KEY UPDATE`;
const CHANGE = 'UPDATE members SET role = $2, provider = $3, version = version + 1 WHERE id = $1';
/** `Memberships.end` makes it manual, so that a person who was removed does not return at the next sign-in. */
const WITHDRAWN = `UPDATE members SET role_source = 'provider' WHERE id = $1`;
const TEAM = `
  UPDATE members SET team_id = $2, version = version + 1 WHERE id = $1
     AND ($2::text IS NULL OR EXISTS (
       SELECT FROM teams t WHERE t.id = $2 AND t.organization_id = members.organization_id AND t.state = 'enabled'))
  RETURNING id`;
/** The user first, then organizations by ID, then their members: in the order of other changes. */
const LOCK_USER = 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE';
const LOCK_ORGANIZATIONS = `
  SELECT FROM accounts
   WHERE id = ANY ($2::text[]) OR id IN (SELECT organization_id FROM members WHERE account_id = $1)
   ORDER BY id FOR NO KEY UPDATE`;

/** A user who signs in with a provider. */
interface MappedUser {
  readonly accountId: string;
  readonly email: string;
  readonly provider: SignInProvider;
}

/**
 * Memberships in organizations and teams by the claims of a provider. Those that a person has assigned or ended stay,
 * and owners stay owners. A provider withdraws only what it has assigned; the member's keys are then disabled.
 */
@Injectable()
export class MappedMemberships {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly dataSource: DataSource,
    private readonly memberships: Memberships,
    private readonly keys: MemberKeys,
    private readonly audit: AuditLog,
  ) {}

  /** By name. */
  organizations(): Promise<readonly MappableOrganization[]> {
    return this.dataSource.query(LIST);
  }

  /** Takes effect with the next request. */
  async apply(user: MappedUser, mapped: MappedAssignments): Promise<void> {
    await actingAs(SYSTEM, () =>
      this.dataSource.transaction(async (manager) => {
        await manager.query(LOCK_USER, [user.accountId]);
        const named = mapped.assigned.filter(({ target }) => target === 'organization').map(({ id }) => id);
        await manager.query(LOCK_ORGANIZATIONS, [user.accountId, named]);
        await this.memberships.adopt(user.accountId, manager);
        const before = await manager.query<Membership[]>(MEMBERSHIPS, [user.accountId]);
        for (const rule of mapped.assigned)
          if (rule.target === 'organization') await this.assign(user, rule, before, manager);
        await this.withdraw(user, mapped, before, manager);
        await this.assignTeams(user, mapped, manager);
      }),
    );
  }

  private async assign(
    user: MappedUser,
    { id: organizationId, detail: role }: ClaimRule,
    before: readonly Membership[],
    manager: EntityManager,
  ): Promise<void> {
    const member = before.find((one) => one.organizationId === organizationId);
    if (member === undefined) return this.join(user, organizationId, role, manager);
    if (member.roleSource === 'manual' || member.role === 'owner') return;
    if (member.state === 'left') return this.join(user, organizationId, role, manager);
    if (member.role === role && member.provider === user.provider.name) return;
    await manager.query(CHANGE, [member.id, role, user.provider.name]);
    if (member.role === role) return;
    await this.keys.invalidate({ memberId: member.id }, manager);
    await this.record(user, member, 'changed', [`role ${member.role} → ${role}`], manager);
  }

  private async join(user: MappedUser, organizationId: string, role: string, manager: EntityManager): Promise<void> {
    const provider = user.provider.name;
    const membership = { organizationId, accountId: user.accountId, role, teamId: undefined, provider };
    const id = await this.memberships.begin(membership, manager);
    if (id !== undefined) return this.record(user, { id, organizationId }, 'joined', [`role ${role}`], manager);
    this.logger.warn(`A rule of ${user.provider.name} names the organization ${organizationId}, which is gone`);
  }

  private async withdraw(
    user: MappedUser,
    { assigned, unreadable }: MappedAssignments,
    before: readonly Membership[],
    manager: EntityManager,
  ): Promise<void> {
    const kept = new Set([...assigned.map(targetOf), ...unreadable]);
    for (const member of before) {
      const isOfProvider = member.roleSource === 'provider' && member.provider === user.provider.name;
      if (!isOfProvider || member.state !== 'active' || member.role === 'owner') continue;
      if (kept.has(targetOf({ target: 'organization', id: member.organizationId }))) continue;
      await this.memberships.end(member.id, manager);
      await manager.query(WITHDRAWN, [member.id]);
      await this.record(user, member, 'removed', ['keys disabled'], manager);
    }
  }

  private async assignTeams(
    user: MappedUser,
    { assigned, unreadable }: MappedAssignments,
    manager: EntityManager,
  ): Promise<void> {
    const members = await manager.query<Membership[]>(MEMBERSHIPS, [user.accountId]);
    for (const member of members) {
      const target = targetOf({ target: 'team', id: member.organizationId });
      const isManual = member.teamSource === 'manual' || member.provider !== user.provider.name;
      if (member.state !== 'active' || isManual || unreadable.includes(target)) continue;
      const teamId = assigned.find((rule) => targetOf(rule) === target)?.detail ?? null;
      if (teamId === member.teamId) continue;
      const [moved] = await manager.query<[unknown[], number]>(TEAM, [member.id, teamId]);
      if (moved.length === 0) {
        this.logger.warn(`A rule of ${user.provider.name} names the team ${String(teamId)}, which is gone`);
        continue;
      }
      await this.keys.moveToTeam({ memberId: member.id }, teamId, manager);
      await this.record(user, member, 'changed', [`team ${member.teamId ?? 'none'} → ${teamId ?? 'none'}`], manager);
    }
  }

  private record(
    { email, provider }: MappedUser,
    { id, organizationId: owner }: Pick<Membership, 'id' | 'organizationId'>,
    action: string,
    lines: readonly string[],
    manager: EntityManager,
  ): Promise<void> {
    const object = { kind: 'member', id, name: email, owner } as const;
    return this.audit.record({ action, object, lines, reason: `claims of ${provider.label}` }, manager);
  }
}
