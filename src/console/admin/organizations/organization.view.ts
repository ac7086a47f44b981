import { IsString, Matches } from 'class-validator';
import { type AccountState, ConfirmedForm } from '../../../auth/index.js';
import { type ListedOrganization, ORGANIZATION_NAME, type Team } from '../../../keys/organizations/index.js';
import { count, usd } from '../../../platform/format/index.js';
import { budgetRows, restrictionsOf } from '../../organizations/index.js';
import { IsAmount, Trimmed } from '../../web/index.js';
import { listAddress } from '../list-address.js';
import { balanceNote } from '../users/user.pages.js';

const PATH = '/admin/organizations';

const STATE_LABELS: Readonly<Record<AccountState, string>> = {
  enabled: 'Enabled',
  disabled: 'Suspended',
  deleted: 'Deleted',
};

export const STATE_BADGES = {
  enabled: { tone: 'ok', label: STATE_LABELS.enabled },
  disabled: { tone: 'bad', label: STATE_LABELS.disabled },
  deleted: { tone: '', label: STATE_LABELS.deleted },
} as const;

export const ORGANIZATION_STATES: readonly (readonly [string, string])[] = [
  ['', 'All except deleted'],
  ...Object.entries(STATE_LABELS),
];

/** Deleted organizations have no name. */
export const organizationTitle = ({ state, name }: Pick<ListedOrganization, 'state' | 'name'>): string =>
  state === 'deleted' ? 'Deleted organization' : name;

export const organizationCrumbs = (
  organization: Pick<ListedOrganization, 'id' | 'state' | 'name'>,
  ...rest: readonly { readonly href?: string; readonly label: string }[]
) => [
  { href: PATH, label: 'Organizations' },
  {
    ...(rest.length > 0 && { href: `${PATH}/${organization.id}` }),
    label: organizationTitle(organization),
  },
  ...rest,
];

export const organizationFacts = (organization: ListedOrganization) => ({
  id: organization.id,
  path: `${PATH}/${organization.id}`,
  title: organizationTitle(organization),
  badge: STATE_BADGES[organization.state],
  owner: organization.owner && {
    href: `/admin/users/${organization.owner.id}`,
    email: organization.owner.email,
  },
  createdAt: organization.createdAt,
  suspended: organization.state === 'disabled',
  deleted: organization.state === 'deleted',
  off: organization.state === 'disabled' ? 'Suspended' : 'Suspend or delete',
  add: { href: `${PATH}/${organization.id}/members/add`, label: 'Add member' },
  calls: listAddress('/admin/calls', { user: organization.id }),
  changes: listAddress('/admin/audit', { object: organization.id }),
});

export const organizationStats = (organization: ListedOrganization) => [
  { label: 'Balance', value: usd(organization.balance), note: balanceNote(organization) },
  { label: 'Charged this month', value: usd(organization.charged), note: 'since the first day, UTC' },
  { label: 'Calls this month', value: count(organization.calls), note: '' },
  { label: 'Members', value: count(organization.members), note: `${count(organization.keys)} API keys` },
];

export const teamRow = (team: Team) => ({
  id: team.id,
  name: team.name,
  members: team.members,
  keys: team.keys,
  narrows: restrictionsOf(team),
  spent: team.budgets.monthly.used,
  budgets: budgetRows(team.budgets),
});

export class NewOrganizationForm extends ConfirmedForm {
  @Matches(ORGANIZATION_NAME, { message: 'Enter a name of 1 to 100 characters.' })
  readonly name: string = '';

  @Trimmed()
  @Matches(/^[^\p{Cc}]{1,320}$/u, { message: 'Enter the email address of a user.' })
  readonly owner: string = '';

  @IsAmount({
    message: 'Enter an amount in dollars, such as 25 or 1,000.50, or leave empty for none.',
    mayBeEmpty: true,
  })
  readonly credit: string = '';
}

/** Confirmation of a deletion by typing the name. */
export class DeleteOrganizationForm extends ConfirmedForm {
  @Trimmed()
  @IsString()
  readonly confirm: string = '';
}
