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

/** That an address is not shown to be its owner's matters as long as the account may be used. */
export const badgeOf = ({ state, verified }: { readonly state: AccountState; readonly verified: boolean }): Badge =>
  state === 'enabled' && !verified ? { tone: 'warn', label: 'Not verified' } : STATES[state];

/** What somebody is called: the address of a deleted account says nothing. */
export const userTitle = ({ state, email }: { readonly state: AccountState; readonly email: string }): string =>
  state === 'deleted' ? 'Deleted user' : email;

/** Where a page of a user stands: below the list, and below the user. */
export const userCrumbs = (user: { readonly id: string; readonly email: string }, last?: string) => [
  { href: '/admin/users', label: 'Users' },
  ...(last === undefined
    ? [{ label: user.email }]
    : [{ href: `/admin/users/${user.id}`, label: user.email }, { label: last }]),
];
