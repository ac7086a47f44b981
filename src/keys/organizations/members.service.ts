import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { ORGANIZATION_ROLES, type OrganizationRole } from '../../auth/index.js';
import { WalletService } from '../../wallet/index.js';
import {
  type BudgetChange,
  type BudgetLimits,
  BudgetStore,
  type MemberBudgetName,
  MemberKeys,
  Memberships,
} from '../index.js';
import { MembersReader } from './members-reader.js';
import {
  type ActingMember,
  changedBudgets,
  countFact,
  differences,
  limitFacts,
  limitsOf,
  type MemberRow,
  type OrganizationChange,
  OrganizationChanges,
  storedLimits,
} from './organization-changes.js';
import {
  MemberChangedMeanwhile,
  type LimitRow,
  type Member,
  MemberNotFound,
  NotPermitted,
  OwnerStays,
  possibleMaxKeys,
  TeamNotFound,
} from './organization.js';

/** What happens to the keys of a member who leaves. */
export type KeysOfLeaver =
  | { readonly kind: 'disable' }
  /** As service keys. */
  | { readonly kind: 'to-organization' }
  | { readonly kind: 'to-member'; readonly memberId: string };

/** Roles that can be given. There is one owner, whose role moves with the ownership. */
export type AssignableRole = Exclude<OrganizationRole, 'owner'>;
export const ASSIGNABLE_ROLES = ORGANIZATION_ROLES.filter((role): role is AssignableRole => role !== 'owner');

export interface MemberLimits {
  readonly budgets: BudgetLimits;
  /** Undefined: unlimited. */
  readonly maxKeys: number | undefined;
}

/** Absent limits stay. */
export interface MemberLimitChange {
  readonly budgets?: BudgetChange<MemberBudgetName> | undefined;
  /** Null: unlimited. */
  readonly maxKeys?: number | null | undefined;
}

/** Settings of a member that change together; absent ones stay. */
export interface MemberChange extends MemberLimitChange {
  readonly role?: AssignableRole | undefined;
  /** Null: none. */
  readonly teamId?: string | null | undefined;
}

const SET_ROLE = `UPDATE members SET role = $2, role_source = 'manual', version = version + 1 WHERE id = $1`;
const SET_TEAM = `UPDATE members SET team_id = $2, team_source = 'manual', version = version + 1 WHERE id = $1`;
const SET_MAX_KEYS = 'UPDATE members SET max_keys = $2, version = version + 1 WHERE id = $1';
const TEAM = `SELECT name FROM teams WHERE organization_id = $1 AND id = $2 AND state = 'enabled'`;

/** A member or team with its present limits. */
interface LimitedHolder extends LimitRow {
  readonly kind: 'member' | 'team';
  readonly id: string;
}

/** Writes budgets of members and teams, which calls of the organization use at the same time. */
@Injectable()
export class MemberLimitChanges {
  constructor(
    private readonly budgets: BudgetStore,
    private readonly wallets: WalletService,
  ) {}

  /** @returns changed limits @throws BudgetNotPossible, and an error for an impossible number of keys */
  async write(
    member: MemberRow,
    { budgets, maxKeys }: MemberLimits,
    change: OrganizationChange,
  ): Promise<readonly string[]> {
    const keys = possibleMaxKeys(maxKeys);
    if (keys !== member.maxKeys) await change.manager.query(SET_MAX_KEYS, [member.id, keys]);
    const lines = await this.writeBudgets({ kind: 'member', ...member }, budgets, change);
    return [...lines, ...differences([countFact('max keys', member.maxKeys, keys)])];
  }

  /** Absent limits stay. @returns changed limits @throws as `write` */
  async change(
    member: MemberRow,
    { budgets, maxKeys }: MemberLimitChange,
    change: OrganizationChange,
  ): Promise<readonly string[]> {
    if (maxKeys === undefined && Object.values(budgets ?? {}).every((limit) => limit === undefined)) return [];
    const keys = maxKeys === undefined ? member.maxKeys : maxKeys;
    return this.write(member, { budgets: changedBudgets(member, budgets), maxKeys: keys ?? undefined }, change);
  }

  /** Locks the wallet first, as calls do. @returns changed limits @throws BudgetNotPossible */
  async writeBudgets(
    holder: LimitedHolder,
    budgets: BudgetLimits,
    { organization, manager }: OrganizationChange,
  ): Promise<readonly string[]> {
    await this.wallets.lock(organization.id, manager);
    const { lifetime, daily, weekly, monthly } = budgets;
    const change = {
      lifetime: lifetime ?? null,
      daily: daily ?? null,
      weekly: weekly ?? null,
      monthly: monthly ?? null,
    };
    await this.budgets.change(holder, storedLimits(holder), change, manager);
    return differences(limitFacts(limitsOf(holder), budgets));
  }
}

/**
 * Members of organizations, as owner and admins manage them. The owner can be changed by nobody, and nobody can change
 * their own role. Throws OrganizationNotFound, MemberNotFound and NotPermitted.
 */
@Injectable()
export class Members {
  constructor(
    private readonly changes: OrganizationChanges,
    private readonly reader: MembersReader,
    private readonly keys: MemberKeys,
    private readonly memberships: Memberships,
    private readonly limits: MemberLimitChanges,
  ) {}

  /** An active member, with their budgets. */
  async get(organizationId: string, memberId: string): Promise<Member> {
    const member = await this.reader.find(organizationId, memberId);
    if (member === undefined) throw new MemberNotFound();
    return member;
  }

  /** Several settings at once, all or none. @throws OwnerStays, TeamNotFound, BudgetNotPossible, MaxKeysNotPossible */
  set(by: ActingMember, memberId: string, settings: MemberChange, manager?: EntityManager): Promise<void> {
    const set = async (member: MemberRow, change: OrganizationChange): Promise<void> => {
      const { role, teamId } = settings;
      // The wallet before keys, as calls lock them.
      const limits = await this.limits.change(member, settings, change);
      const roles = role === undefined ? [] : await this.writeRole(member, role, change);
      const teams = teamId === undefined ? [] : await this.writeTeam(member, teamId ?? undefined, change);
      await this.record(member, change, [...roles, ...teams, ...limits]);
    };
    return this.change(by, memberId, set, manager);
  }

  /** Keys of roles that may not use any are refused from now on, and accepted again with another role. */
  setRole(by: ActingMember, memberId: string, role: AssignableRole): Promise<void> {
    return this.set(by, memberId, { role });
  }

  /** Also of their keys. @param teamId undefined: none @throws TeamNotFound */
  setTeam(by: ActingMember, memberId: string, teamId: string | undefined): Promise<void> {
    return this.set(by, memberId, { teamId: teamId ?? null });
  }

  /**
   * Replaces budgets and the number of keys, all or none.
   * @param version of the member that the change is based on
   * @throws MemberChangedMeanwhile, BudgetNotPossible naming the figures, and an error for an impossible number of keys
   */
  setLimits(by: ActingMember, memberId: string, version: number, limits: MemberLimits): Promise<void> {
    return this.change(by, memberId, async (member, change) => {
      if (member.version !== version) throw new MemberChangedMeanwhile('member');
      await this.record(member, change, await this.limits.write(member, limits, change));
    });
  }

  /** Effective within a second, also for running calls. @throws OwnerStays */
  remove(by: ActingMember, memberId: string, keys: KeysOfLeaver): Promise<void> {
    return this.change(by, memberId, (member, change) => this.end(member, keys, change, 'removed'));
  }

  /** The acting member leaves; only who manages all keys may choose what happens to theirs. @throws OwnerStays */
  leave(by: ActingMember): Promise<void> {
    return this.changes.run(by, undefined, async (change) => {
      if (change.actor === undefined) throw new MemberNotFound();
      await this.end(change.actor, { kind: 'disable' }, change, 'left');
    });
  }

  private async end(member: MemberRow, keys: KeysOfLeaver, change: OrganizationChange, action: string): Promise<void> {
    if (member.role === 'owner') throw new OwnerStays();
    const lines = [await this.handOver(member, keys, change)];
    await this.memberships.end(member.id, change.manager);
    await this.changes.record(objectOf(member), change, action, lines);
  }

  /** @returns line of the audit entry */
  private async handOver(member: MemberRow, keys: KeysOfLeaver, change: OrganizationChange): Promise<string> {
    const { organization, manager } = change;
    switch (keys.kind) {
      case 'disable':
        return 'keys disabled';
      case 'to-organization':
        return `${await this.keys.handOver(member.id, null, manager)} keys → service keys`;
      case 'to-member': {
        const to = await this.changes.member(organization.id, keys.memberId, manager);
        if (to === undefined || to.id === member.id) throw new MemberNotFound();
        const count = await this.keys.handOver(member.id, { memberId: to.id, teamId: to.teamId }, manager);
        return `${count} keys → ${to.email}`;
      }
    }
  }

  /** @returns lines of the audit entry */
  private async writeRole(
    member: MemberRow,
    role: AssignableRole,
    { manager, actor }: OrganizationChange,
  ): Promise<readonly string[]> {
    if (member.role === 'owner') throw new OwnerStays();
    if (member.id === actor?.id) throw new NotPermitted('Another admin or the owner must change your role.');
    if (member.role === role) return [];
    await manager.query(SET_ROLE, [member.id, role]);
    await this.keys.invalidate({ memberId: member.id }, manager);
    return differences([['role', member.role, role]]);
  }

  /** @returns lines of the audit entry @throws TeamNotFound */
  private async writeTeam(
    member: MemberRow,
    teamId: string | undefined,
    change: OrganizationChange,
  ): Promise<readonly string[]> {
    const name = await this.teamName(teamId, change);
    if (member.teamId === (teamId ?? null)) return [];
    const before = await this.teamName(member.teamId ?? undefined, change);
    await change.manager.query(SET_TEAM, [member.id, teamId ?? null]);
    await this.keys.moveToTeam({ memberId: member.id }, teamId ?? null, change.manager);
    return differences([['team', before, name]]);
  }

  private change(
    by: ActingMember,
    memberId: string,
    work: (member: MemberRow, change: OrganizationChange) => Promise<void>,
    within?: EntityManager,
  ): Promise<void> {
    const checked = async (change: OrganizationChange): Promise<void> => {
      const { organization, manager, actor } = change;
      const member = await this.changes.member(organization.id, memberId, manager);
      if (member === undefined) throw new MemberNotFound();
      if (member.role === 'owner' && actor !== undefined && actor.id !== member.id)
        throw new NotPermitted('Only the owner can change what concerns the owner.');
      await work(member, change);
    };
    return this.changes.run(by, 'manage organization', checked, within);
  }

  /** @throws TeamNotFound */
  private async teamName(teamId: string | undefined, { organization, manager }: OrganizationChange): Promise<string> {
    if (teamId === undefined) return 'none';
    const [team] = await manager.query<{ name: string }[]>(TEAM, [organization.id, teamId]);
    if (team === undefined) throw new TeamNotFound();
    return team.name;
  }

  private record(member: MemberRow, change: OrganizationChange, lines: readonly string[]): Promise<void> {
    return this.changes.record(objectOf(member), change, 'changed', lines);
  }
}

const objectOf = ({ id, email }: MemberRow) => ({ kind: 'member', id, name: email }) as const;
