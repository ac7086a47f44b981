import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Clock, newId } from '../../platform/shared/index.js';
import { type BudgetLimits, BudgetStore, MemberKeys, type MemberBudgets, possibleNetworks } from '../index.js';
import { MemberLimitChanges } from './members.service.js';
import {
  type ActingMember,
  differences,
  type OrganizationChange,
  OrganizationChanges,
} from './organization-changes.js';
import {
  MemberChangedMeanwhile,
  type LimitRow,
  LIMIT_COLUMNS,
  possibleName,
  type Team,
  type TeamLimits,
  TeamNameTaken,
  TeamNotFound,
  TooManyTeams,
} from './organization.js';

/** Everything about a team that can be changed. */
export interface TeamSettings extends TeamLimits {
  readonly name: string;
  readonly budgets: BudgetLimits;
}

interface TeamRow extends LimitRow {
  readonly id: string;
  readonly name: string;
  readonly models: readonly string[] | null;
  readonly groups: readonly string[] | null;
  readonly networks: readonly string[] | null;
  readonly version: number;
}

type TeamDetails = TeamRow & Pick<Team, 'members' | 'keys'>;

const SELECT = (where: string): string => `
  SELECT t.id, t.name, t.models, t.groups, t.networks, ${LIMIT_COLUMNS('t')}, t.version,
         (SELECT count(*)::int FROM members m WHERE m.team_id = t.id AND m.state = 'active') AS members,
         (SELECT count(*)::int FROM api_keys k WHERE k.team_id = t.id AND k.state <> 'deleted') AS keys
    FROM teams t WHERE t.organization_id = $1 AND t.state = 'enabled' ${where}`;
const ONE = SELECT('AND t.id = $2');
const ALL = SELECT('ORDER BY lower(t.name)');

/** Lists of teams have no pages. */
const MAX_TEAMS = 500;
const COUNT = `SELECT count(*)::int AS count FROM teams WHERE organization_id = $1 AND state = 'enabled'`;
const NAMESAKE = `
  SELECT id FROM teams WHERE organization_id = $1 AND lower(name) = lower($2) AND id <> $3 AND state = 'enabled'`;
const INSERT = `
  INSERT INTO teams (id, organization_id, name, models, groups, networks, created_at) VALUES ($1, $2, $3, $4, $5, $6, $7)`;
const UPDATE = `
  UPDATE teams SET name = $2, models = $3, groups = $4, networks = $5, version = version + 1 WHERE id = $1`;
const DELETE = [
  `UPDATE members SET team_id = NULL, team_source = 'manual', version = version + 1 WHERE team_id = $1`,
  'UPDATE member_invitations SET team_id = NULL WHERE team_id = $1',
  `UPDATE teams SET state = 'deleted', version = version + 1 WHERE id = $1`,
];

/** Writes teams and what their keys depend on. */
@Injectable()
export class TeamWriter {
  constructor(
    private readonly keys: MemberKeys,
    private readonly clock: Clock,
  ) {}

  async insert(settings: TeamSettings, change: OrganizationChange): Promise<TeamRow> {
    const { organization, manager } = change;
    const [counted] = await manager.query<{ count: number }[]>(COUNT, [organization.id]);
    if ((counted?.count ?? 0) >= MAX_TEAMS) throw new TooManyTeams(MAX_TEAMS);
    const name = await this.freeName(settings.name, '', change);
    const now = this.clock.date();
    const id = newId('team', now.getTime());
    const limits = columnsOf(settings);
    const values = [id, organization.id, name, limits.models, limits.groups, limits.networks, now];
    await manager.query(INSERT, values);
    return { id, name, ...limits, version: 1, ...UNLIMITED };
  }

  /** @returns lines of the audit entry */
  async update(before: TeamRow, settings: TeamSettings, change: OrganizationChange): Promise<readonly string[]> {
    const { manager } = change;
    const name = await this.freeName(settings.name, before.id, change);
    const { models, groups, networks } = columnsOf(settings);
    await manager.query(UPDATE, [before.id, name, models, groups, networks]);
    const limits = differences([
      ['models', listOf(before.models), listOf(models)],
      ['groups', listOf(before.groups), listOf(groups)],
      ['networks', listOf(before.networks), listOf(networks)],
    ]);
    if (limits.length > 0) await this.keys.invalidate({ teamId: before.id }, manager);
    return [...differences([['name', before.name, name]]), ...limits];
  }

  /** The lock of the organization keeps it free. @throws InvalidName, TeamNameTaken */
  private async freeName(typed: string, ownId: string, { organization, manager }: OrganizationChange): Promise<string> {
    const name = possibleName('team', typed);
    if ((await manager.query<unknown[]>(NAMESAKE, [organization.id, name, ownId])).length > 0)
      throw new TeamNameTaken(name);
    return name;
  }

  async delete(id: string, { manager }: OrganizationChange): Promise<void> {
    await this.keys.moveToTeam({ teamId: id }, null, manager);
    for (const statement of DELETE) await manager.query(statement, [id]);
  }
}

/** Teams of organizations. They narrow what keys may do, and have budgets that their members share. */
@Injectable()
export class Teams {
  constructor(
    private readonly dataSource: DataSource,
    private readonly changes: OrganizationChanges,
    private readonly budgets: BudgetStore,
    private readonly limits: MemberLimitChanges,
    private readonly write: TeamWriter,
  ) {}

  /** By name. */
  async list(organizationId: string): Promise<readonly Team[]> {
    const rows = await this.dataSource.query<TeamDetails[]>(ALL, [organizationId]);
    const budgets = await this.budgets.ofHolders(
      'team',
      rows.map(({ id }) => id),
    );
    return rows.flatMap((row) => teamOf(row, budgets.get(row.id)) ?? []);
  }

  /** ID of the team with this name, ignoring case; undefined if there is none. */
  async named(
    organizationId: string,
    name: string,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<string | undefined> {
    const [team] = await manager.query<{ id: string }[]>(NAMESAKE, [organizationId, name.trim(), '']);
    return team?.id;
  }

  /** The same. @throws TeamNotFound */
  async idOf(organizationId: string, name: string): Promise<string> {
    const id = await this.named(organizationId, name);
    if (id === undefined) throw new TeamNotFound();
    return id;
  }

  /** @throws TeamNotFound */
  async get(organizationId: string, id: string): Promise<Team> {
    const [row] = await this.dataSource.query<TeamDetails[]>(ONE, [organizationId, id]);
    const budgets = row && (await this.budgets.ofHolders('team', [id])).get(id);
    const team = row && teamOf(row, budgets);
    if (team === undefined) throw new TeamNotFound();
    return team;
  }

  /** @returns its ID @throws TooManyTeams, InvalidName, TeamNameTaken, NetworksNotPossible, BudgetNotPossible, NotPermitted */
  create(by: ActingMember, settings: TeamSettings, manager?: EntityManager): Promise<string> {
    const create = async (change: OrganizationChange): Promise<string> => {
      const team = await this.write.insert(settings, change);
      await this.limits.writeBudgets({ kind: 'team', ...team }, settings.budgets, change);
      await this.changes.record({ kind: 'team', id: team.id, name: team.name }, change, 'created');
      return team.id;
    };
    return this.changes.run(by, 'manage organization', create, manager);
  }

  /**
   * Replaces all settings, effective within a second.
   * @param version of the team that the change is based on
   * @throws TeamNotFound, MemberChangedMeanwhile, and as `create`
   */
  update(by: ActingMember, id: string, version: number, settings: TeamSettings): Promise<void> {
    return this.changes.run(by, 'manage organization', async (change) => {
      const team = await this.find(id, change);
      if (team.version !== version) throw new MemberChangedMeanwhile('team');
      // The wallet before keys, as calls lock them.
      const budgets = await this.limits.writeBudgets({ kind: 'team', ...team }, settings.budgets, change);
      const lines = [...(await this.write.update(team, settings, change)), ...budgets];
      await this.changes.record({ kind: 'team', id, name: team.name }, change, 'changed', lines);
    });
  }

  /** Its members and keys belong to no team afterwards. @throws TeamNotFound, NotPermitted */
  delete(by: ActingMember, id: string): Promise<void> {
    return this.changes.run(by, 'manage organization', async (change) => {
      const { name } = await this.find(id, change);
      await this.write.delete(id, change);
      await this.changes.record({ kind: 'team', id, name }, change, 'deleted');
    });
  }

  private async find(id: string, { organization, manager }: OrganizationChange): Promise<TeamRow> {
    const [team] = await manager.query<TeamRow[]>(ONE, [organization.id, id]);
    if (team === undefined) throw new TeamNotFound();
    return team;
  }
}

const UNLIMITED: LimitRow = { quota: null, dailyBudget: null, weeklyBudget: null, monthlyBudget: null };

/** An empty list of networks means any; an empty list of models or groups allows none, and is stored as any. */
function columnsOf({ models, groups, networks }: TeamLimits): Pick<TeamRow, 'models' | 'groups' | 'networks'> {
  return { models: listIn(models), groups: listIn(groups), networks: possibleNetworks(networks ?? []) };
}

const listIn = (names: readonly string[] | undefined): readonly string[] | null =>
  names === undefined || names.length === 0 ? null : names;

const listOf = (names: readonly string[] | null): string => names?.join(', ') ?? 'any';

function teamOf(row: TeamDetails, budgets: MemberBudgets | undefined): Team | undefined {
  if (budgets === undefined) return undefined;
  const { id, name, models, groups, networks, members, keys, version } = row;
  const limits = { models: models ?? undefined, groups: groups ?? undefined, networks: networks ?? undefined };
  return { id, name, ...limits, budgets, members, keys, version };
}
