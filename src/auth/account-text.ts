import type { AccountRole } from './account.js';

/** How roles are told. */
export const ROLE_WORDS: Readonly<Record<AccountRole, string>> = { user: 'user', admin: 'administrator' };

/** An account as the object of a recorded change. */
export const accountObject = ({ id, email }: { readonly id: string; readonly email: string }) =>
  ({ kind: 'account', id, name: email }) as const;
