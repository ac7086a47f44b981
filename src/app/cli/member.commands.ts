import type { INestApplicationContext } from '@nestjs/common';
import { type Command, Option } from 'commander';
import { AccountService } from '../../auth/index.js';
import {
  ASSIGNABLE_ROLES,
  type AssignableRole,
  type KeysOfLeaver,
  type Member,
  Members,
  MembersReader,
  MemberWriter,
  OrganizationDirectory,
  Teams,
} from '../../keys/organizations/index.js';
import { AppError } from '../../platform/shared/index.js';
import { maxKeysArgument } from './arguments.js';
import { withOrganization } from './holder.commands.js';
import {
  budgetChange,
  type BudgetOptions,
  listedMember,
  memberTable,
  noneAsNull,
  withBudgets,
} from './organization.output.js';
import { printJson, printLine, printTable } from './output.js';
import type { WithApp } from './with-app.js';

interface MemberOptions {
  readonly organization: string;
  readonly email: string;
  readonly json?: true;
}

interface SettingOptions extends MemberOptions, BudgetOptions {
  readonly role?: AssignableRole;
  /** Name. */
  readonly team?: string;
  readonly maxKeys?: number | 'none';
}

interface RemoveOptions extends MemberOptions {
  /** `disable`, `organization`, or the email address of another member. */
  readonly keys: string;
}

const withMember = (command: Command): Command =>
  withOrganization(command).requiredOption('--email <address>', "email address of the member's account");

const withSettings = (command: Command): Command =>
  withBudgets(
    withMember(command)
      .addOption(new Option('--role <role>', 'what the member may do').choices(ASSIGNABLE_ROLES))
      .option('--team <name>', 'team of the member, or none')
      .option('--max-keys <number>', 'max API keys, or none', maxKeysArgument),
  ).option('--json', 'print JSON');

/** `switchboard organization member …` */
export function memberCommands(organization: Command, withApp: WithApp): void {
  const member = organization.command('member').description('members of an organization');
  withSettings(member.command('add'))
    .description('make an account a member without an invitation; the role is member by default')
    .action((options: SettingOptions) => add(options, withApp));
  const set = withSettings(member.command('set'));
  set.description("change a member's role, team, budgets and max keys").action((options: SettingOptions) => {
    const { organization: _, email: __, json: ___, ...settings } = options;
    if (Object.keys(settings).length === 0) set.error('error: specify at least one setting to change');
    return change(options, withApp);
  });
  withMember(member.command('remove'))
    .description('remove a member, effective at once')
    .option('--keys <target>', 'disable, organization (as service keys), or the address of another member', 'disable')
    .option('--json', 'print JSON')
    .action((options: RemoveOptions) => remove(options, withApp));
}

async function add({ email: typed, role = 'member', ...options }: SettingOptions, withApp: WithApp): Promise<void> {
  const member = await withApp(async (app) => {
    const organizationId = await app.get(OrganizationDirectory).named(options.organization);
    const { id: accountId, email } = await app.get(AccountService).get(typed);
    const teamId = (await teamIdOf(app, organizationId, options.team)) ?? undefined;
    const limits = { budgets: budgetChange(options), maxKeys: noneAsNull(options.maxKeys) };
    const id = await app.get(MemberWriter).add({ organizationId, accountId, email, role, teamId }, limits);
    return app.get(Members).get(organizationId, id);
  });
  print(member, options.json);
}

async function change({ email, role, ...options }: SettingOptions, withApp: WithApp): Promise<void> {
  const member = await withApp(async (app) => {
    const id = await app.get(OrganizationDirectory).named(options.organization);
    const { id: memberId } = await memberIn(app, id, email);
    const teamId = await teamIdOf(app, id, options.team);
    const limits = { budgets: budgetChange(options), maxKeys: noneAsNull(options.maxKeys) };
    await app.get(Members).set({ id, memberId: undefined }, memberId, { role, teamId, ...limits });
    return app.get(Members).get(id, memberId);
  });
  print(member, options.json);
}

async function remove({ organization, email, keys, json }: RemoveOptions, withApp: WithApp): Promise<void> {
  await withApp(async (app) => {
    const id = await app.get(OrganizationDirectory).named(organization);
    const member = await memberIn(app, id, email);
    await app.get(Members).remove({ id, memberId: undefined }, member.id, await keysOf(app, id, keys));
  });
  if (json) printJson({ organization, email, state: 'removed' });
  else printLine(`${email} is removed`);
}

async function keysOf(app: INestApplicationContext, organizationId: string, target: string): Promise<KeysOfLeaver> {
  if (target === 'disable') return { kind: 'disable' };
  if (target === 'organization') return { kind: 'to-organization' };
  return { kind: 'to-member', memberId: (await memberIn(app, organizationId, target)).id };
}

/** @throws AppError, also if the address is not that of a member */
async function memberIn(app: INestApplicationContext, organizationId: string, typed: string): Promise<Member> {
  const { email } = await app.get(AccountService).get(typed);
  const member = await app.get(MembersReader).withEmail(organizationId, email);
  if (member === undefined) throw new AppError('not_found', `${email} is not a member of this organization.`);
  return member;
}

/** Undefined if no team is named; null for none. */
async function teamIdOf(
  app: INestApplicationContext,
  organizationId: string,
  name: string | undefined,
): Promise<string | null | undefined> {
  if (name === undefined) return undefined;
  return name === 'none' ? null : app.get(Teams).idOf(organizationId, name);
}

function print(member: Member, json: true | undefined): void {
  const listed = listedMember(member);
  if (json) printJson(listed);
  else printTable(memberTable([listed]));
}
