import type { Command } from 'commander';
import type { Member, Team } from '../../keys/organizations/index.js';
import { MEMBER_BUDGET_NAMES, type MemberBudgetName, type MemberBudgets } from '../../keys/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { limitArgument } from './arguments.js';

interface BudgetJson {
  readonly limit_usd: string | null;
  readonly used_usd: string;
  readonly held_usd: string;
  readonly resets_at: string | null;
}

type BudgetsJson = Readonly<Record<MemberBudgetName, BudgetJson>>;

const budgetsJson = ({ lifetime, daily, weekly, monthly }: MemberBudgets): BudgetsJson => ({
  lifetime: budgetJson(lifetime),
  daily: budgetJson(daily),
  weekly: budgetJson(weekly),
  monthly: budgetJson(monthly),
});

const budgetJson = ({ limit, used, held, resetsAt }: MemberBudgets[MemberBudgetName]): BudgetJson => ({
  limit_usd: limit === undefined ? null : formatUsd(limit),
  used_usd: formatUsd(used),
  held_usd: formatUsd(held),
  resets_at: resetsAt?.toISOString() ?? null,
});

/** Limited ones, used and max: `daily $1 of $5, monthly $20 of $100`. */
const budgetsText = (budgets: BudgetsJson): string =>
  MEMBER_BUDGET_NAMES.flatMap((name) => {
    const { limit_usd: limit, used_usd: used } = budgets[name];
    return limit === null ? [] : [`${name} $${used} of $${limit}`];
  }).join(', ') || '-';

/** A member as `--json` prints it. */
export const listedMember = (member: Member) => ({
  id: member.id,
  email: member.email,
  role: member.role,
  team: member.team?.name ?? null,
  keys: member.keys,
  max_keys: member.maxKeys ?? null,
  budgets: budgetsJson(member.budgets),
});

export const memberTable = (members: readonly ReturnType<typeof listedMember>[]): readonly (readonly string[])[] => [
  ['MEMBER', 'ROLE', 'TEAM', 'KEYS', 'BUDGETS', 'ID'],
  ...members.map(({ email, role, team, keys, max_keys: max, budgets, id }) => [
    email,
    role,
    team ?? '-',
    max === null ? String(keys) : `${keys} of ${max}`,
    budgetsText(budgets),
    id,
  ]),
];

/** A team as `--json` prints it; null: any. */
export const listedTeam = ({ id, name, models, groups, networks, members, keys, budgets }: Team) => ({
  id,
  name,
  members,
  keys,
  models: models ?? null,
  groups: groups ?? null,
  networks: networks ?? null,
  budgets: budgetsJson(budgets),
});

export const teamTable = (teams: readonly ReturnType<typeof listedTeam>[]): readonly (readonly string[])[] => [
  ['TEAM', 'MEMBERS', 'KEYS', 'MODELS', 'GROUPS', 'NETWORKS', 'BUDGETS', 'ID'],
  ...teams.map(({ name, members, keys, models, groups, networks, budgets, id }) => [
    name,
    String(members),
    String(keys),
    models?.join(', ') ?? 'any',
    groups?.join(', ') ?? 'any',
    networks?.join(', ') ?? 'any',
    budgetsText(budgets),
    id,
  ]),
];

// Options for budgets, shared by members and teams.

export interface BudgetOptions {
  readonly lifetime?: Nanos | 'none';
  readonly daily?: Nanos | 'none';
  readonly weekly?: Nanos | 'none';
  readonly monthly?: Nanos | 'none';
}

export const withBudgets = (command: Command): Command =>
  command
    .option('--lifetime <usd>', 'budget without a period, or none', limitArgument)
    .option('--daily <usd>', 'daily budget (UTC), or none', limitArgument)
    .option('--weekly <usd>', 'weekly budget, from Monday (UTC), or none', limitArgument)
    .option('--monthly <usd>', 'monthly budget (UTC), or none', limitArgument);

/** Null removes a budget, undefined keeps it. */
export const budgetChange = ({ lifetime, daily, weekly, monthly }: BudgetOptions) => ({
  lifetime: noneAsNull(lifetime),
  daily: noneAsNull(daily),
  weekly: noneAsNull(weekly),
  monthly: noneAsNull(monthly),
});

export const noneAsNull = <T>(given: T | 'none'): T | null => (given === 'none' ? null : given);
