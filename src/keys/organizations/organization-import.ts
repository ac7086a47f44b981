import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AccountService, normalizeEmail, ORGANIZATION_ROLES, type OrganizationRole } from '../../auth/index.js';
import { AppError, type Nanos, parseUsd } from '../../platform/shared/index.js';
import type { BudgetLimits } from '../index.js';
import { amountError, ImportRefused, type ImportRow, parseImport } from '../onboarding/index.js';
import { MemberWriter } from './member-writer.js';
import { Members } from './members.service.js';
import { OrganizationDirectory } from './organization-directory.js';
import { Organizations } from './organizations.service.js';
import { MAX_MEMBER_KEYS, ORGANIZATION_NAME } from './organization.js';
import { Teams } from './teams.service.js';

const COLUMNS = [
  'organization',
  'email',
  'role',
  'team',
  'lifetime',
  'daily',
  'weekly',
  'monthly',
  'max_keys',
] as const;
const BUDGETS = ['lifetime', 'daily', 'weekly', 'monthly'] as const;
type ImportColumn = (typeof COLUMNS)[number];
type ImportRecord = ImportRow<ImportColumn>['record'];

/** A member in the file. */
interface ImportedMember {
  /** Line number, from 1, including the header. */
  readonly line: number;
  /** ID or name. */
  readonly organization: string;
  readonly email: string;
  readonly role: OrganizationRole;
  /** Name; empty: none. */
  readonly team: string;
  /** Undefined: the default of the organization. */
  readonly budgets: BudgetLimits;
  readonly maxKeys: number | undefined;
}

/** A created membership. */
interface MadeMember {
  /** ID of the organization. */
  readonly organization: string;
  readonly id: string;
  readonly email: string;
}

/** What an import has found or created so far. */
class ImportContext {
  /** IDs by name in lower case, or by ID. */
  readonly organizations = new Map<string, string>();
  /** IDs by organization and name in lower case. */
  readonly teams = new Map<string, string>();

  constructor(readonly manager: EntityManager) {}
}

/** Members of an import, with their teams. */
@Injectable()
export class ImportedMembers {
  constructor(
    private readonly write: MemberWriter,
    private readonly members: Members,
    private readonly teams: Teams,
  ) {}

  async add(
    { email, role, team, ...limits }: ImportedMember & { readonly role: Exclude<OrganizationRole, 'owner'> },
    { organizationId, accountId }: { readonly organizationId: string; readonly accountId: string },
    context: ImportContext,
  ): Promise<string> {
    const teamId = await this.teamOf(organizationId, team, context);
    const { budgets, maxKeys } = limits;
    return this.write.add({ organizationId, accountId, email, role, teamId }, { budgets, maxKeys }, context.manager);
  }

  /** For the owner, who is a member from the start. */
  async setUp(
    { team, budgets, maxKeys }: ImportedMember,
    { organizationId, memberId }: { readonly organizationId: string; readonly memberId: string },
    context: ImportContext,
  ): Promise<void> {
    const teamId = await this.teamOf(organizationId, team, context);
    const by = { id: organizationId, memberId: undefined };
    await this.members.set(by, memberId, { teamId, budgets, maxKeys }, context.manager);
  }

  private async teamOf(organizationId: string, name: string, context: ImportContext): Promise<string | undefined> {
    if (name === '') return undefined;
    const place = `${organizationId}/${name.toLowerCase()}`;
    const known = context.teams.get(place) ?? (await this.teams.named(organizationId, name, context.manager));
    const id = known ?? (await this.createTeam(organizationId, name, context.manager));
    context.teams.set(place, id);
    return id;
  }

  private createTeam(organizationId: string, name: string, manager: EntityManager): Promise<string> {
    const limits = { budgets: NO_LIMITS, models: undefined, groups: undefined, networks: undefined };
    return this.teams.create({ id: organizationId, memberId: undefined }, { name, ...limits }, manager);
  }
}

/**
 * Imports members from a file, all or none. Their accounts exist; organizations and teams that do not exist are created,
 * an organization by the line of its owner.
 */
@Injectable()
export class OrganizationImport {
  constructor(
    private readonly accounts: AccountService,
    private readonly directory: OrganizationDirectory,
    private readonly organizations: Organizations,
    private readonly members: ImportedMembers,
  ) {}

  /** @throws ImportRefused */
  run(text: string): Promise<readonly MadeMember[]> {
    const { members, errors } = parseMemberFile(text);
    return this.accounts.within(async (manager) => {
      const context = new ImportContext(manager);
      const found = [...errors];
      // Owners first: their lines create the organizations.
      const owners = members.filter(({ role }) => role === 'owner');
      const made: MadeMember[] = [];
      for (const member of [...owners, ...members.filter((one) => !owners.includes(one))])
        await this.import(member, context).then(
          (one) => made.push(one),
          (error: unknown) => found.push(lineError(member, error)),
        );
      if (found.length > 0) throw new ImportRefused(found);
      return made;
    });
  }

  private async import(member: ImportedMember, context: ImportContext): Promise<MadeMember> {
    const { id: accountId } = await this.accounts.get(member.email);
    const { organization: reference, role } = member;
    const existing = await this.idOf(reference, context);
    if (role !== 'owner') {
      if (existing === undefined) throw new MissingOrganization(reference);
      const id = await this.members.add({ ...member, role }, { organizationId: existing, accountId }, context);
      return { organization: existing, id, email: member.email };
    }
    if (existing !== undefined) throw new OwnerExists(reference);
    const { id, ownerId } = await this.organizations.open({ ownerId: accountId, name: reference }, context.manager);
    context.organizations.set(reference.toLowerCase(), id);
    await this.members.setUp(member, { organizationId: id, memberId: ownerId }, context);
    return { organization: id, id: ownerId, email: member.email };
  }

  private async idOf(reference: string, { organizations, manager }: ImportContext): Promise<string | undefined> {
    const id = organizations.get(reference.toLowerCase()) ?? (await this.directory.idOf(reference, manager));
    if (id !== undefined) organizations.set(reference.toLowerCase(), id);
    return id;
  }
}

const NO_LIMITS: BudgetLimits = { lifetime: undefined, daily: undefined, weekly: undefined, monthly: undefined };

class MissingOrganization extends AppError {
  constructor(name: string) {
    super('invalid_request', `There is no organization ${name}. A line with the role owner creates it.`);
  }
}

class OwnerExists extends AppError {
  constructor(name: string) {
    super('invalid_request', `The organization ${name} has an owner already.`);
  }
}

/** @throws the error itself unless it is about the line */
function lineError({ line }: ImportedMember, error: unknown): string {
  if (!(error instanceof AppError) || error.kind === 'internal') throw error;
  return `line ${line}: ${error.message}`;
}

interface MemberFile {
  readonly members: readonly ImportedMember[];
  readonly errors: readonly string[];
}

/** Parses CSV with a header; all columns but `organization` and `email` are optional. */
export function parseMemberFile(text: string): MemberFile {
  const { rows, errors: invalid } = parseImport(text, COLUMNS, ['organization', 'email']);
  const errors = [...invalid];
  const seen = new Map<string, number>();
  const members = rows.flatMap(({ record, line }) => {
    const found = [...memberErrors(record), ...repetition(record, seen, line)];
    errors.push(...found.map((error) => `line ${line}: ${error}`));
    return found.length > 0 ? [] : [memberOf(record, line)];
  });
  if (rows.length === 0 && errors.length === 0) errors.push('The file has no members.');
  return { members, errors };
}

function* memberErrors(record: ImportRecord): Generator<string> {
  const { organization = '', email = '', role = '', team = '', max_keys: maxKeys = '' } = record;
  if (!ORGANIZATION_NAME.test(organization)) yield 'Enter an organization: its ID, or a name of 1 to 100 characters.';
  if (normalizeEmail(email) === undefined) yield `"${email}" is not a valid email address.`;
  if (role !== '' && !ORGANIZATION_ROLES.some((known) => known === role))
    yield `"${role}" is not a role. Use ${ORGANIZATION_ROLES.join(', ')}.`;
  if (team !== '' && !ORGANIZATION_NAME.test(team)) yield 'A team has a name of at most 100 characters.';
  for (const name of BUDGETS) {
    const error = amountError(record[name] ?? '');
    if (error !== undefined) yield error;
  }
  if (maxKeys !== '' && !(/^\d+$/.test(maxKeys) && Number(maxKeys) <= MAX_MEMBER_KEYS))
    yield `"${maxKeys}" is not a number of keys from 0 to ${MAX_MEMBER_KEYS.toLocaleString('en-US')}.`;
}

function repetition(
  { organization = '', email = '' }: ImportRecord,
  seen: Map<string, number>,
  line: number,
): string[] {
  const member = `${normalizeEmail(email) ?? ''} in ${organization}`;
  const earlier = seen.get(member.toLowerCase());
  seen.set(member.toLowerCase(), earlier ?? line);
  return earlier === undefined ? [] : [`${member} is already on line ${earlier}.`];
}

function memberOf(record: ImportRecord, line: number): ImportedMember {
  const { organization = '', email = '', role = '', team = '', max_keys: maxKeys = '' } = record;
  const budget = (name: (typeof BUDGETS)[number]): Nanos | undefined =>
    record[name] ? parseUsd(record[name]) : undefined;
  return {
    line,
    organization,
    email: normalizeEmail(email) ?? '',
    role: ORGANIZATION_ROLES.find((known) => known === role) ?? 'member',
    team,
    budgets: {
      lifetime: budget('lifetime'),
      daily: budget('daily'),
      weekly: budget('weekly'),
      monthly: budget('monthly'),
    },
    maxKeys: maxKeys === '' ? undefined : Number(maxKeys),
  };
}
