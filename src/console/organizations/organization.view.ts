import { allows, type OrganizationRole, type OrganizationScope, type Visitor } from '../../auth/index.js';
import type { MemberBudget, MemberBudgets } from '../../keys/index.js';
import type { Bill, BillPart, Member, MemberName, TeamLimits } from '../../keys/organizations/index.js';
import { calendarDate, usd } from '../../platform/format/index.js';
import type { Nanos } from '../../platform/shared/index.js';
import { quotaMeter, StepRequired } from '../web/index.js';

/** The organization that the user works in. In their own account, they choose one first. @throws StepRequired */
export function organizationOf({ organization }: Visitor): OrganizationScope {
  if (organization === undefined) throw new StepRequired('/organizations');
  return organization;
}

export const ROLE_LABELS: Readonly<Record<OrganizationRole, string>> = {
  owner: 'Owner',
  admin: 'Admin',
  billing: 'Billing',
  member: 'Member',
  viewer: 'Viewer',
};

const ROLE_TEXTS: Readonly<Record<Exclude<OrganizationRole, 'owner'>, string>> = {
  member: 'Member: own keys and own usage',
  admin: 'Admin: members, teams, wallet and all keys',
  billing: 'Billing: wallet and usage, no keys',
  viewer: 'Viewer: sees everything, changes nothing',
};

export const ROLE_OPTIONS = Object.entries(ROLE_TEXTS).map(([value, label]) => ({ value, label }));

export const NO_TEAM = { value: '', label: 'No team' };

/** Links between the pages of an organization that the role may open. */
export function tabsOf(organization: OrganizationScope, current: 'overview' | 'members' | 'teams' | 'settings') {
  const tabs = [
    { key: 'overview', href: '/organization', label: 'Overview', isShown: true },
    {
      key: 'members',
      href: '/organization/members',
      label: 'Members',
      isShown: allows(organization, 'view organization'),
    },
    { key: 'teams', href: '/organization/teams', label: 'Teams', isShown: allows(organization, 'view organization') },
    { key: 'settings', href: '/organization/settings', label: 'Settings', isShown: true },
  ] as const;
  return tabs
    .filter(({ isShown }) => isShown)
    .map(({ key, href, label }) => ({ href, label, current: key === current }));
}

/** An email address, or the name and the address. */
export const personOf = ({ email, name }: Pick<MemberName, 'email' | 'name'>) => ({
  title: name === '' ? email : name,
  email: name === '' ? undefined : email,
});

export const choiceOf = ({ id, email, name }: MemberName) => ({
  value: id,
  label: name === '' ? email : `${name} (${email})`,
});

const PERIODS = [
  ['daily', 'Today'],
  ['weekly', 'This week'],
  ['monthly', 'This month'],
  ['lifetime', 'In total'],
] as const;

/** One row per period with a budget; with `isWhole`, also per period without one. */
export const budgetRows = (budgets: MemberBudgets, isWhole = false) =>
  PERIODS.map(([name, label]) => ({ label, ...budgetView(budgets[name]) })).filter(
    ({ quota }) => isWhole || quota !== undefined,
  );

function budgetView({ limit, used, held, resetsAt }: MemberBudget) {
  const period = resetsAt === undefined ? 'never resets' : `resets ${calendarDate(resetsAt, 'UTC')}`;
  if (limit === undefined) return { used, held, quota: undefined };
  const left = limit - used - held;
  return { used, held, quota: limit, left: left > 0n ? left : 0n, period, meter: quotaMeter(used, limit) };
}

/** A row of the list of members. */
export const memberRow = (member: Member) => ({
  id: member.id,
  ...personOf(member),
  role: ROLE_LABELS[member.role],
  team: member.team,
  keys: member.keys,
  maxKeys: member.maxKeys,
  isSuspended: member.isSuspended,
  spent: member.budgets.monthly.used,
  budgets: budgetRows(member.budgets),
});

/** `2 models, 1 network`; empty: nothing. */
export const restrictionsOf = ({ models, groups, networks }: TeamLimits): string =>
  [countOf(models, 'model'), countOf(groups, 'group'), countOf(networks, 'network')].filter(Boolean).join(', ');

const countOf = (names: readonly string[] | undefined, noun: string): string =>
  names === undefined ? '' : `${names.length} ${noun}${names.length === 1 ? '' : 's'}`;

/** Parts of a bill with their share of the largest one. */
export const billRows = (today: readonly BillPart[], month: readonly BillPart[], path: string) => {
  const largest = month.reduce((most, { amount }) => (amount > most ? amount : most), 0n);
  return month.map(({ id, name, isFormer, amount }) => ({
    name,
    href: id === undefined || isFormer ? undefined : `${path}/${id}`,
    isFormer,
    month: amount,
    today: today.find((part) => part.id === id)?.amount ?? 0n,
    width: largest === 0n ? '0' : String(Number((amount * 1000n) / largest) / 10),
  }));
};

export const billStats = (balance: Nanos, held: Nanos, today: Bill, month: Bill) => [
  { label: 'Balance', value: usd(balance), note: `${usd(held)} on hold` },
  { label: 'Spent today', value: usd(today.total), note: 'since midnight UTC' },
  { label: 'Spent this month', value: usd(month.total), note: 'since the first day, UTC' },
];

/** Crumbs below the overview. */
export const crumbs = (organization: OrganizationScope, ...rest: readonly { href?: string; label: string }[]) => [
  { href: '/organization', label: organization.name },
  ...rest,
];
