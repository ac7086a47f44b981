import type { Limits } from '../platform/limits/index.js';
import type { Secret } from '../platform/shared/index.js';

export type AccountRole = 'user' | 'admin';
/** A deleted account keeps its row for its calls and its ledger; nothing in it says whose it was. */
export type AccountState = 'enabled' | 'disabled' | 'deleted';

/** Somebody who owns keys and a wallet. */
export interface Account {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
  readonly state: AccountState;
  /** The group that calls are billed under unless the key names another; undefined: `default`. */
  readonly groupName: string | undefined;
  /** Its own, of all its keys together; what it lacks is as usual. */
  readonly limits: Limits;
  /** When the address was shown to be theirs; undefined: not yet. */
  readonly verifiedAt: Date | undefined;
  readonly createdAt: Date;
}

/** What is asked for when an account is made. */
export interface NewAccount {
  readonly email: string;
  readonly name?: string | undefined;
  /** 12 to 128 characters; a random one is made when absent. */
  readonly password?: Secret | undefined;
  /** Whether nothing but choosing another one is open with it; so it always is with one that is made here. */
  readonly passwordIsTemporary?: boolean | undefined;
  /** Instead of a password: it was hashed before; null: there is none until one is chosen. */
  readonly passwordHash?: string | null | undefined;
  readonly role?: AccountRole | undefined;
  /** Whether the address needs no proof any more. */
  readonly verified?: boolean | undefined;
  readonly groupName?: string | undefined;
}

/** What was made. */
export interface CreatedAccount {
  readonly id: string;
  readonly email: string;
  /** Only when it was made here; it is kept nowhere. */
  readonly generatedPassword: Secret | undefined;
}
