import { hash } from 'node:crypto';
import { describeLimits, type Limits } from '../platform/limits/index.js';
import { AppError, type Secret } from '../platform/shared/index.js';

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

/** What an account's calls are billed under, and how many there may be. */
export type AccountTerms = Pick<Account, 'groupName' | 'limits'>;

const REVISION_CHARACTERS = 22;

/** Short text that is another one as soon as any of the terms is: a form carries that of the terms it was opened on. */
export function termsRevision({ groupName, limits }: AccountTerms): string {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  const terms = [groupName ?? null, requestsPerMinute ?? null, tokensPerMinute ?? null, concurrency ?? null];
  return hash('sha256', JSON.stringify(terms), 'base64url').slice(0, REVISION_CHARACTERS);
}

/** `group default → saver`, a line for each of the two that differs. */
export function termDifferences(before: AccountTerms, after: AccountTerms): readonly string[] {
  const lines = [
    ['group', before.groupName ?? 'default', after.groupName ?? 'default'],
    ['limits', limitText(before.limits), limitText(after.limits)],
  ] as const;
  return lines.filter(([, was, is]) => was !== is).map(([name, was, is]) => `${name} ${was} → ${is}`);
}

const limitText = (limits: Limits): string => describeLimits(limits) || 'as usual';

/** How roles are told. */
export const ROLE_WORDS: Readonly<Record<AccountRole, string>> = { user: 'user', admin: 'administrator' };

/** An account as the object of a recorded change. */
export const accountObject = ({ id, email }: { readonly id: string; readonly email: string }) =>
  ({ kind: 'account', id, name: email }) as const;

export class AccountExists extends AppError {
  constructor(email: string) {
    super('invalid_request', `An account with the email address ${email} already exists.`, { param: 'email' });
  }
}

export class AccountNotFound extends AppError {
  constructor(email: string) {
    super('not_found', `No account has the email address ${email}.`, { param: 'email' });
  }
}

/** It was there when its owner signed in. */
export class AccountGone extends AppError {
  constructor() {
    super('not_found', 'Account not found.');
  }
}

export class AccountChangedMeanwhile extends AppError {
  constructor() {
    super(
      'conflict',
      'The group or the limits of this account were changed while you edited them. Review the current values and try again.',
    );
  }
}

/** Without an administrator nobody could make another one. */
export class LastAdministrator extends AppError {
  constructor() {
    super('conflict', 'This is the last administrator who can sign in. Make another account an administrator first.', {
      param: 'role',
    });
  }
}

export class InvalidAccount extends AppError {
  static forEmail(text: string): InvalidAccount {
    return new InvalidAccount('email', `"${text}" is not a valid email address.`);
  }

  static forName(): InvalidAccount {
    return new InvalidAccount('name', 'A name has at most 100 characters and no line breaks or control characters.');
  }

  static forPassword(): InvalidAccount {
    return new InvalidAccount('password', 'A password has 12 to 128 characters.');
  }

  constructor(param: string, message: string) {
    super('invalid_request', message, { param });
  }
}
