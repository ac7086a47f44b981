import { Transform } from 'class-transformer';
import { IsIn, IsString, Matches, MaxLength } from 'class-validator';
import { ORGANIZATION_ROLES } from '../../auth/index.js';
import type { BudgetLimits } from '../../keys/index.js';
import {
  type AssignableRole,
  type KeysOfLeaver,
  MAX_MEMBER_KEYS,
  type Member,
  type MemberDefaults,
  ORGANIZATION_NAME,
  type Team,
  type TeamSettings,
} from '../../keys/organizations/index.js';
import { formatUsd, type Nanos } from '../../platform/shared/index.js';
import { amountOf, countOf, type FormBody, IsAmount, IsCount, Trimmed } from '../web/index.js';

const Limit = (): PropertyDecorator =>
  IsAmount({
    message: 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for no limit.',
    mayBeEmpty: true,
  });

const List = (): PropertyDecorator =>
  Transform(({ value }: { value: unknown }) => (Array.isArray(value) ? value : [value ?? []].flat()));

const Version = (): PropertyDecorator =>
  Matches(/^\d{1,9}$/, { message: 'This form is incomplete. Reload the page and try again.' });

const Role = (): PropertyDecorator =>
  IsIn(
    ORGANIZATION_ROLES.filter((role) => role !== 'owner'),
    { message: 'Choose a role.' },
  );

export class OrganizationNameForm {
  @Matches(ORGANIZATION_NAME, { message: 'Enter a name of 1 to 100 characters.' })
  readonly name: string = '';
}

export class InviteForm {
  @Trimmed()
  @IsString({ message: 'Enter an address such as name@example.com.' })
  @MaxLength(320, { message: 'Enter an address such as name@example.com.' })
  readonly email: string = '';

  @Role()
  readonly role: AssignableRole = 'member';

  /** Empty: none. */
  @IsString({ message: 'Choose a team.' })
  readonly team: string = '';
}

export class MemberRoleForm {
  @Role()
  readonly role: AssignableRole = 'member';

  /** Empty: none. */
  @IsString({ message: 'Choose a team.' })
  readonly team: string = '';
}

class BudgetsForm {
  @Limit()
  readonly lifetime: string = '';

  @Limit()
  readonly daily: string = '';

  @Limit()
  readonly weekly: string = '';

  @Limit()
  readonly monthly: string = '';
}

export class DefaultsForm extends BudgetsForm {
  @IsCount({ message: 'Enter a number of keys, or leave empty for no limit.', min: 0, max: MAX_MEMBER_KEYS })
  readonly maxKeys: string = '';
}

export class MemberLimitsForm extends DefaultsForm {
  @Version()
  readonly version: string = '';
}

export class TeamForm extends BudgetsForm {
  @Matches(ORGANIZATION_NAME, { message: 'Enter a name of 1 to 100 characters.' })
  readonly name: string = '';

  @List()
  @IsString({ each: true, message: 'Select models from the list.' })
  readonly models: readonly string[] = [];

  @List()
  @IsString({ each: true, message: 'Select groups from the list.' })
  readonly groups: readonly string[] = [];

  /** One per line. */
  @IsString({ message: 'Enter addresses and ranges, one per line.' })
  readonly networks: string = '';
}

export class TeamChangeForm extends TeamForm {
  @Version()
  readonly version: string = '';
}

export class RemoveForm {
  /** `disable`, `organization`, or the ID of a member. */
  @Matches(/^(?:disable|organization|mem_[0-9a-f]{32})$/, { message: 'Choose what happens to the keys.' })
  readonly keys: string = 'disable';
}

export const keysOf = (choice: string): KeysOfLeaver => {
  if (choice === 'disable') return { kind: 'disable' };
  return choice === 'organization' ? { kind: 'to-organization' } : { kind: 'to-member', memberId: choice };
};

export class TransferForm {
  @Matches(/^mem_[0-9a-f]{32}$/, { message: 'Choose a member.' })
  readonly member: string = '';
}

export class ConfirmNameForm {
  @IsString()
  readonly confirm: string = '';
}

const amount = (limit: Nanos | undefined): string => (limit === undefined ? '' : formatUsd(limit));

const budgetsIn = (form: BudgetsForm): BudgetLimits => ({
  lifetime: amountOf(form.lifetime),
  daily: amountOf(form.daily),
  weekly: amountOf(form.weekly),
  monthly: amountOf(form.monthly),
});

const budgetValues = ({ lifetime, daily, weekly, monthly }: BudgetLimits): FormBody => ({
  lifetime: amount(lifetime),
  daily: amount(daily),
  weekly: amount(weekly),
  monthly: amount(monthly),
});

const limitsIn = ({ budgets: { lifetime, daily, weekly, monthly } }: Pick<Member, 'budgets'>): BudgetLimits => ({
  lifetime: lifetime.limit,
  daily: daily.limit,
  weekly: weekly.limit,
  monthly: monthly.limit,
});

export const limitsTyped = (form: DefaultsForm): MemberDefaults => ({
  budgets: budgetsIn(form),
  maxKeys: countOf(form.maxKeys),
});

export const defaultValues = ({ budgets, maxKeys }: MemberDefaults): FormBody => ({
  ...budgetValues(budgets),
  maxKeys: String(maxKeys ?? ''),
});

export const memberValues = (member: Member): FormBody => ({
  ...defaultValues({ budgets: limitsIn(member), maxKeys: member.maxKeys }),
  version: String(member.version),
});

export const teamTyped = (form: TeamForm): TeamSettings => ({
  name: form.name,
  models: form.models.length === 0 ? undefined : form.models,
  groups: form.groups.length === 0 ? undefined : form.groups,
  networks: form.networks.split(/[\s,]+/).filter(Boolean),
  budgets: budgetsIn(form),
});

export const teamValues = (team: Team): FormBody => ({
  ...budgetValues(limitsIn(team)),
  name: team.name,
  models: team.models ?? [],
  groups: team.groups ?? [],
  networks: (team.networks ?? []).join('\n'),
  version: String(team.version),
});
