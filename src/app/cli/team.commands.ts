import type { Command } from 'commander';
import { OrganizationDirectory, type Team, Teams } from '../../keys/organizations/index.js';
import { listArgument, networksArgument } from './arguments.js';
import { withOrganization } from './holder.commands.js';
import { budgetChange, type BudgetOptions, listedTeam, teamTable, withBudgets } from './organization.output.js';
import { printJson, printLine, printTable } from './output.js';
import type { WithApp } from './with-app.js';

interface TeamOptions extends BudgetOptions {
  readonly organization: string;
  readonly name: string;
  readonly rename?: string;
  /** Empty: any. */
  readonly models?: readonly string[];
  readonly groups?: readonly string[];
  readonly networks?: readonly string[];
  readonly json?: true;
}

const withTeam = (command: Command): Command =>
  withOrganization(command).requiredOption('--name <name>', 'name of the team');

const withSettings = (command: Command): Command =>
  withBudgets(
    command
      .option('--models <names>', 'models its keys may use, separated by commas, or any', anyArgument)
      .option('--groups <names>', 'groups its keys may use, separated by commas, or any', anyArgument)
      .option('--networks <list>', 'IP addresses and ranges its keys may be used from, or any', networksArgument),
  ).option('--json', 'print JSON');

const anyArgument = (text: string): readonly string[] => (text === 'any' ? [] : listArgument(text));

/** `switchboard organization team …` */
export function teamCommands(organization: Command, withApp: WithApp): void {
  const team = organization.command('team').description('teams of an organization; they narrow what keys may do');
  withSettings(withTeam(team.command('add')))
    .description('create a team')
    .action((options: TeamOptions) => add(options, withApp));
  const set = withSettings(withTeam(team.command('set')).option('--rename <name>', 'new name'));
  set.description("change a team's name, budgets and what its keys may do").action((options: TeamOptions) => {
    const { organization: _, name: __, json: ___, ...settings } = options;
    if (Object.keys(settings).length === 0) set.error('error: specify at least one setting to change');
    return change(options, withApp);
  });
  withTeam(team.command('remove'))
    .description('delete a team; its members and keys stay, without a team')
    .option('--json', 'print JSON')
    .action((options: TeamOptions) => remove(options, withApp));
}

async function add(options: TeamOptions, withApp: WithApp): Promise<void> {
  const team = await withApp(async (app) => {
    const by = { id: await app.get(OrganizationDirectory).named(options.organization), memberId: undefined };
    const { name, models, groups, networks } = options;
    const settings = { name, models, groups, networks, budgets: budgetsAfter(undefined, options) };
    return app.get(Teams).get(by.id, await app.get(Teams).create(by, settings));
  });
  print(team, options.json);
}

async function change({ rename, json, ...options }: TeamOptions, withApp: WithApp): Promise<void> {
  const team = await withApp(async (app) => {
    const by = { id: await app.get(OrganizationDirectory).named(options.organization), memberId: undefined };
    const before = await app.get(Teams).get(by.id, await app.get(Teams).idOf(by.id, options.name));
    const { models = before.models, groups = before.groups, networks = before.networks } = options;
    const settings = { name: rename ?? before.name, models, groups, networks, budgets: budgetsAfter(before, options) };
    await app.get(Teams).update(by, before.id, before.version, settings);
    return app.get(Teams).get(by.id, before.id);
  });
  print(team, json);
}

async function remove({ organization, name, json }: TeamOptions, withApp: WithApp): Promise<void> {
  await withApp(async (app) => {
    const by = { id: await app.get(OrganizationDirectory).named(organization), memberId: undefined };
    await app.get(Teams).delete(by, await app.get(Teams).idOf(by.id, name));
  });
  if (json) printJson({ organization, team: name, state: 'deleted' });
  else printLine(`${name} is deleted`);
}

function budgetsAfter(before: Team | undefined, options: BudgetOptions) {
  const { lifetime, daily, weekly, monthly } = budgetChange(options);
  const kept = before?.budgets;
  return {
    lifetime: lifetime === undefined ? kept?.lifetime.limit : (lifetime ?? undefined),
    daily: daily === undefined ? kept?.daily.limit : (daily ?? undefined),
    weekly: weekly === undefined ? kept?.weekly.limit : (weekly ?? undefined),
    monthly: monthly === undefined ? kept?.monthly.limit : (monthly ?? undefined),
  };
}

function print(team: Team, json: true | undefined): void {
  const listed = listedTeam(team);
  if (json) printJson(listed);
  else printTable(teamTable([listed]));
}
