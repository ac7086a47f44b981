import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AppError, Clock } from '../../platform/shared/index.js';
import { MemberKeys, Memberships } from '../index.js';
import { type AssignableRole, type MemberLimitChange, MemberLimitChanges } from './members.service.js';
import { type OrganizationChange, OrganizationChanges } from './organization-changes.js';
import { TeamNotFound } from './organization.js';

interface NewMember {
  readonly organizationId: string;
  readonly accountId: string;
  readonly role: AssignableRole;
  /** Undefined: none. */
  readonly teamId: string | undefined;
}

type AddedMember = NewMember & { readonly email: string };

export class AlreadyMember extends AppError {
  constructor(email: string) {
    super('invalid_request', `Enter another address: ${email} is already a member.`, { param: 'email' });
  }
}

const WITHDRAW_INVITATIONS = `
  WITH invitations AS (
    DELETE FROM member_invitations WHERE organization_id = $1 AND ($2::text IS NULL OR email = $2) RETURNING id)
  DELETE FROM verifications v USING invitations i WHERE v.purpose = 'join' AND v.subject = i.id`;

const LEAVE_ALL = `
  UPDATE members SET state = 'left', left_at = $2, role = 'member', team_id = NULL
   WHERE organization_id = $1 AND state = 'active'`;

const TEAM = `SELECT 1 FROM teams WHERE organization_id = $1 AND id = $2 AND state = 'enabled'`;

/** Begins memberships, and ends those of deleted organizations. Given transactions have locked the organization. */
@Injectable()
export class MemberWriter {
  constructor(
    private readonly changes: OrganizationChanges,
    private readonly limits: MemberLimitChanges,
    private readonly keys: MemberKeys,
    private readonly memberships: Memberships,
    private readonly clock: Clock,
  ) {}

  /**
   * Makes a user a member without an invitation, for administrators of the service.
   * @param limits in place of defaults of the organization
   * @returns ID of the member
   * @throws AlreadyMember, TeamNotFound, OrganizationNotFound, BudgetNotPossible
   */
  add(member: AddedMember, limits: MemberLimitChange, manager?: EntityManager): Promise<string> {
    const { organizationId, email, role, teamId } = member;
    const add = async (change: OrganizationChange): Promise<string> => {
      await this.checkTeam(organizationId, teamId, change.manager);
      const id = await this.memberships.begin({ ...member, provider: undefined }, change.manager);
      const joined = id && (await this.changes.member(organizationId, id, change.manager));
      if (!joined) throw new AlreadyMember(email);
      await this.withdrawInvitations(organizationId, email, change.manager);
      const lines = [`role ${role}`, ...(await this.limits.change(joined, limits, change))];
      // After the limits, which lock the wallet: calls lock it before keys.
      await this.keys.moveToTeam({ memberId: joined.id }, teamId ?? null, change.manager);
      await this.changes.record({ kind: 'member', id: joined.id, name: email }, change, 'added', lines);
      return joined.id;
    };
    return this.changes.run({ id: organizationId, memberId: undefined }, 'manage organization', add, manager);
  }

  /** Keys of who returns become those of the team. @returns ID of the member; undefined if they are one already */
  async join(member: NewMember, manager: EntityManager): Promise<string | undefined> {
    const id = await this.memberships.begin({ ...member, provider: undefined }, manager);
    if (id !== undefined) await this.keys.moveToTeam({ memberId: id }, member.teamId ?? null, manager);
    return id;
  }

  /** @param teamId undefined: none @throws TeamNotFound */
  async checkTeam(organizationId: string, teamId: string | undefined, manager: EntityManager): Promise<void> {
    if (teamId === undefined) return;
    if ((await manager.query<unknown[]>(TEAM, [organizationId, teamId])).length === 0) throw new TeamNotFound();
  }

  /** Of a deleted organization; its keys are deleted already. */
  async endAll(organizationId: string, manager: EntityManager): Promise<void> {
    await this.withdrawInvitations(organizationId, undefined, manager);
    await manager.query(LEAVE_ALL, [organizationId, this.clock.date()]);
  }

  /** Their links no longer work. @param email of one invitation; undefined: all of the organization */
  async withdrawInvitations(organizationId: string, email: string | undefined, manager: EntityManager): Promise<void> {
    await manager.query(WITHDRAW_INVITATIONS, [organizationId, email ?? null]);
  }
}
