import { Injectable, Logger } from '@nestjs/common';
import {
  type Account,
  AccountMapping,
  AccountService,
  type ClaimRule,
  InvalidRule,
  type MappedAssignments,
  type ProvedIdentity,
  targetOf,
} from '../../auth/index.js';
import { CatalogEditor, DEFAULT_GROUP } from '../../catalog/index.js';
import { type MappableOrganization, MappedMemberships } from './mapped-memberships.js';

/** What claims can assign. */
export interface MappingTargets {
  /** Names of all but `default`, which users have without any. */
  readonly groups: readonly string[];
  readonly organizations: readonly MappableOrganization[];
}

/** Assigns role, group, organizations and teams by the claims of a sign-in. */
@Injectable()
export class ClaimAssignments {
  private readonly logger = new Logger('Accounts');

  constructor(
    private readonly mapping: AccountMapping,
    private readonly memberships: MappedMemberships,
    private readonly accounts: AccountService,
    private readonly catalog: CatalogEditor,
  ) {}

  async targets(): Promise<MappingTargets> {
    const { groups } = await this.accounts.within((manager) => this.catalog.names(manager));
    const organizations = await this.memberships.organizations();
    return { groups: [...groups].filter((name) => name !== DEFAULT_GROUP).toSorted(), organizations };
  }

  /** The rules with labels of what they assign. @throws InvalidRule for a target that does not exist */
  async labelled(rules: readonly Omit<ClaimRule, 'label'>[]): Promise<readonly ClaimRule[]> {
    const targets = await this.targets();
    return rules.map((rule, index) => {
      const label = labelOf(rule, targets);
      if (label === undefined) throw new InvalidRule(index + 1, 'Choose what the rule assigns.');
      return { ...rule, label };
    });
  }

  /** At each sign-in, before the session begins. @throws AccountGone */
  async apply(
    { id, email }: Pick<Account, 'id' | 'email'>,
    { provider, assignments }: Pick<ProvedIdentity, 'provider' | 'assignments'>,
  ): Promise<void> {
    if (assignments.unreadable.length > 0)
      this.logger.warn(
        `${provider.name} sent no groups of ${id}, who is in too many (_claim_names): assignments that depend on them stay`,
      );
    const isAdministrator = decided(assignments, 'administrator', (rule) => rule !== undefined);
    const group = decided(assignments, 'group', (rule) => rule?.id ?? null);
    await this.mapping.apply(id, provider, { isAdministrator, group: await this.existing(group, provider.name) });
    await this.memberships.apply({ accountId: id, email, provider }, assignments);
  }

  /** The group as an account stores it; undefined, which leaves the account as it is, if it no longer exists. */
  private async existing(group: string | null | undefined, provider: string): Promise<string | null | undefined> {
    if (group === null || group === undefined) return group;
    const { groups } = await this.accounts.within((manager) => this.catalog.names(manager));
    if (groups.has(group)) return group;
    this.logger.warn(`A rule of ${provider} names the group ${group}, which is gone`);
    return undefined;
  }
}

/** Undefined if the claims are unreadable. */
function decided<T>(
  { assigned, unreadable }: MappedAssignments,
  target: string,
  valueOf: (rule: ClaimRule | undefined) => T,
): T | undefined {
  if (unreadable.includes(target)) return undefined;
  return valueOf(assigned.find((rule) => targetOf(rule) === target));
}

function labelOf(
  { target, id, detail }: Omit<ClaimRule, 'label'>,
  { groups, organizations }: MappingTargets,
): string | undefined {
  if (target === 'administrator') return 'administrator';
  if (target === 'group') return groups.includes(id) ? `group ${id}` : undefined;
  const organization = organizations.find((one) => one.id === id);
  if (organization === undefined) return undefined;
  if (target === 'organization') return `organization ${organization.name}, ${detail}`;
  const team = organization.teams.find((one) => one.id === detail);
  return team && `team ${team.name} of ${organization.name}`;
}
