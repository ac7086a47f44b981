import type { AccountRole, AccountState } from '../../../auth/index.js';

interface Badge {
  readonly tone: 'ok' | 'warn' | 'bad' | '';
  readonly label: string;
}

const STATES: Readonly<Record<AccountState, Badge>> = {
  enabled: { tone: 'ok', label: 'Enabled' },
  disabled: { tone: 'bad', label: 'Suspended' },
  deleted: { tone: '', label: 'Deleted' },
};

export const ROLES: Readonly<Record<AccountRole, string>> = { user: 'User', admin: 'Administrator' };

export const STATE_FILTERS: readonly (readonly [string, string])[] = [
  ['', 'Not deleted'],
  ...Object.entries(STATES).map(([state, { label }]) => [state, label] as const),
];

export const ROLE_FILTERS: readonly (readonly [string, string])[] = [['', 'Any role'], ...Object.entries(ROLES)];

/** Verification matters only while the account is enabled. */
export const badgeOf = ({ state, verified }: { readonly state: AccountState; readonly verified: boolean }): Badge =>
  state === 'enabled' && !verified ? { tone: 'warn', label: 'Not verified' } : STATES[state];

/** Display name of a user; the address of a deleted account is meaningless. */
export const userTitle = ({ state, email }: { readonly state: AccountState; readonly email: string }): string =>
  state === 'deleted' ? 'Deleted user' : email;

/** Breadcrumbs of a user's pages. */
export const userCrumbs = (user: { readonly id: string; readonly email: string }, last?: string) => [
  { href: '/admin/users', label: 'Users' },
  ...(last === undefined
    ? [{ label: user.email }]
    : [{ href: `/admin/users/${user.id}`, label: user.email }, { label: last }]),
];
