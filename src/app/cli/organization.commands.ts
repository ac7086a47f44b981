import type { INestApplicationContext } from '@nestjs/common';
import type { Command } from 'commander';
import { AccountService, AccountStatus } from '../../auth/index.js';
import {
  type ListedOrganization,
  MembersReader,
  OrganizationDirectory,
  OrganizationImport,
  Organizations,
  Teams,
} from '../../keys/organizations/index.js';
import { AppError, formatUsd, type Nanos } from '../../platform/shared/index.js';
import { amountArgument } from './arguments.js';
import { holderCommands, withOrganization } from './holder.commands.js';
import { importFile } from './import-file.js';
import { listedMember, listedTeam, memberTable, teamTable } from './organization.output.js';
import { memberCommands } from './member.commands.js';
import { printJson, printLine, printTable } from './output.js';
import { teamCommands } from './team.commands.js';
import { type WalletJson, walletJson } from './wallet.commands.js';
import type { WithApp } from './with-app.js';

interface CreateOptions {
  readonly name: string;
  readonly owner: string;
  readonly credit?: Nanos;
  readonly json?: true;
}

interface StateOptions {
  readonly organization: string;
  readonly json?: true;
}

/** `switchboard organization …` */
export function organizationCommands(program: Command, withApp: WithApp): void {
  const organization = program.command('organization').description('organizations: members, teams and a shared wallet');
  organization
    .command('create')
    .description('create an organization; prints its ID')
    .requiredOption('--name <name>', 'name, 1 to 100 characters')
    .requiredOption('--owner <address>', 'email address of the account that owns it')
    .option('--credit <usd>', 'opening credit', amountArgument)
    .option('--json', 'print JSON')
    .action((options: CreateOptions) => create(options, withApp));
  organization
    .command('list')
    .description('list organizations, oldest first, including deleted ones')
    .option('--json', 'print JSON')
    .action((options: { readonly json?: true }) => list(options, withApp));
  withOrganization(organization.command('show'))
    .description('show an organization with its members and teams')
    .option('--json', 'print JSON')
    .action((options: StateOptions) => show(options, withApp));
  memberCommands(organization, withApp);
  teamCommands(organization, withApp);
  holderCommands(organization, 'organization', withApp);
  stateCommands(organization, withApp);
  organization
    .command('import')
    .description('import members from a CSV file (atomic); creates missing organizations and teams')
    .argument(
      '<file>',
      'CSV with the columns organization, email, role, team, lifetime, daily, weekly, monthly (dollars), max_keys',
    )
    .option('--json', 'print JSON')
    .action((file: string, options: { readonly json?: true }) => importMembers(file, options, withApp));
}

const STATES: readonly StateChange[] = [
  {
    verb: 'suspend',
    state: 'suspended',
    description: 'suspend an organization: reject its keys and end its running calls',
    act: (app, id) => app.get(AccountStatus).disable(id),
  },
  {
    verb: 'enable',
    state: 'enabled',
    description: 're-enable an organization',
    act: (app, id) => app.get(AccountStatus).enable(id),
  },
  {
    verb: 'delete',
    state: 'deleted',
    description: 'delete an organization and its keys, and empty its wallet; fails while calls run',
    act: (app, id) => app.get(Organizations).delete({ id, memberId: undefined }),
  },
];

interface StateChange {
  readonly verb: string;
  readonly state: string;
  readonly description: string;
  readonly act: (app: INestApplicationContext, id: string) => Promise<void>;
}

function stateCommands(organization: Command, withApp: WithApp): void {
  for (const { verb, state, description, act } of STATES)
    withOrganization(organization.command(verb))
      .description(description)
      .option('--json', 'print JSON')
      .action(async ({ organization: reference, json }: StateOptions) => {
        await withApp(async (app) => act(app, await app.get(OrganizationDirectory).named(reference)));
        if (json) printJson({ organization: reference, state });
        else printLine(`${reference} is ${state}`);
      });
}

async function create({ name, owner, credit: amount, json }: CreateOptions, withApp: WithApp): Promise<void> {
  const { id } = await withApp(async (app) => {
    const { id: ownerId } = await app.get(AccountService).get(owner);
    const credit = amount ? { amount, reason: 'Opening credit by an administrator' } : undefined;
    return app.get(Organizations).open({ ownerId, name, credit });
  });
  if (json) printJson({ id });
  else printLine(id);
}

interface OrganizationJson extends WalletJson {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly owner: string | null;
  readonly group: string;
  readonly members: number;
  readonly teams: number;
  readonly keys: number;
  /** Monthly allowance; 0: none. */
  readonly monthly_allowance_usd: string;
  /** Since the month began (UTC). */
  readonly charged_this_month_usd: string;
  readonly created_at: string;
}

const listedOrganization = (found: ListedOrganization): OrganizationJson => ({
  id: found.id,
  name: found.name,
  state: found.state === 'disabled' ? 'suspended' : found.state,
  owner: found.owner?.email ?? null,
  group: found.group,
  members: found.members,
  teams: found.teams,
  keys: found.keys,
  ...walletJson(found),
  monthly_allowance_usd: formatUsd(found.allowance),
  charged_this_month_usd: formatUsd(found.charged),
  created_at: found.createdAt.toISOString(),
});

async function list({ json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const found = await withApp((app) => app.get(OrganizationDirectory).all());
  const listed = found.map(listedOrganization);
  if (json) return printJson({ organizations: listed });
  const head = ['NAME', 'STATE', 'OWNER', 'MEMBERS', 'BALANCE', 'ON HOLD', 'OWED', 'THIS MONTH', 'GROUP', 'ID'];
  const cells = listed.map((entry) => [
    entry.name || '-',
    entry.state,
    entry.owner ?? '-',
    String(entry.members),
    `$${entry.balance_usd}`,
    `$${entry.held_usd}`,
    `$${entry.owed_usd}`,
    `$${entry.charged_this_month_usd}`,
    entry.group,
    entry.id,
  ]);
  printTable([head, ...cells]);
}

async function show({ organization: reference, json }: StateOptions, withApp: WithApp): Promise<void> {
  const { found, members, teams } = await withApp(async (app) => {
    const id = await app.get(OrganizationDirectory).named(reference);
    const organization = await app.get(OrganizationDirectory).find(id);
    if (organization === undefined) throw new AppError('not_found', 'Organization not found.');
    return {
      found: listedOrganization(organization),
      members: (await app.get(MembersReader).all(id)).map(listedMember),
      teams: (await app.get(Teams).list(id)).map(listedTeam),
    };
  });
  if (json) return printJson({ ...found, members, teams });
  printTable(Object.entries(found).map(([name, value]) => [name.replaceAll('_', ' '), String(value ?? '-')]));
  printLine('');
  printTable(memberTable(members));
  if (teams.length === 0) return;
  printLine('');
  printTable(teamTable(teams));
}

async function importMembers(file: string, { json }: { readonly json?: true }, withApp: WithApp): Promise<void> {
  const members = await withApp((app) => importFile(file, (text) => app.get(OrganizationImport).run(text)));
  if (json) printJson({ members });
  else printTable(members.map(({ organization, id, email }) => [organization, id, email]));
}
