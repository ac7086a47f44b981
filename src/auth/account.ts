import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { hash } from 'node:crypto';
import { describeLimits, type Limits } from '../platform/limits/index.js';
import { AppError, type Secret } from '../platform/shared/index.js';

export type AccountRole = 'user' | 'admin';
/** Deleted accounts keep an anonymous row for their calls and ledger. */
export type AccountState = 'enabled' | 'disabled' | 'deleted';

/**
 * Who assigned a role or group; none if it is the default. What a person assigned is never changed by the claims of a
 * provider.
 */
export type AssignmentSource = 'manual' | `provider:${string}`;

/** Owner of keys and a wallet. */
export interface Account {
  readonly id: string;
  /** Lower case. */
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
  readonly state: AccountState;
  /** The default group of its calls; undefined: `default`. */
  readonly groupName: string | undefined;
  /** Own limits of all its keys together; defaults apply to missing ones. */
  readonly limits: Limits;
  /** Undefined: the address is not verified. */
  readonly verifiedAt: Date | undefined;
  readonly createdAt: Date;
}

/** Properties of a new account. */
export interface NewAccount {
  readonly email: string;
  readonly name?: string | undefined;
  /** 12 to 128 characters; generated if absent. */
  readonly password?: Secret | undefined;
  /** Whether the password must be changed at first sign-in; always the case for generated ones. */
  readonly passwordIsTemporary?: boolean | undefined;
  /** Instead of a password, already hashed; null: none until one is chosen. */
  readonly passwordHash?: string | null | undefined;
  readonly role?: AccountRole | undefined;
  /** Whether the address counts as verified. */
  readonly verified?: boolean | undefined;
  readonly groupName?: string | undefined;
}

/** A created account. */
export interface CreatedAccount {
  readonly id: string;
  readonly email: string;
  /** Only if generated; not stored. */
  readonly generatedPassword: Secret | undefined;
}

/** Group and limits of an account's calls. */
export type AccountTerms = Pick<Account, 'groupName' | 'limits'>;

const REVISION_CHARACTERS = 22;

/** Short hash of the terms, which forms carry to detect concurrent changes. */
export function termsRevision({ groupName, limits }: AccountTerms): string {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  const terms = [groupName ?? null, requestsPerMinute ?? null, tokensPerMinute ?? null, concurrency ?? null];
  return hash('sha256', JSON.stringify(terms), 'base64url').slice(0, REVISION_CHARACTERS);
}

/** One line per changed term: `group default → saver`. */
export function termDifferences(before: AccountTerms, after: AccountTerms): readonly string[] {
  const lines = [
    ['group', before.groupName ?? 'default', after.groupName ?? 'default'],
    ['limits', limitText(before.limits), limitText(after.limits)],
  ] as const;
  return lines.filter(([, was, is]) => was !== is).map(([name, was, is]) => `${name} ${was} → ${is}`);
}

const limitText = (limits: Limits): string => describeLimits(limits) || 'default';

/** Display names of roles. */
export const ROLE_LABELS: Readonly<Record<AccountRole, string>> = { user: 'user', admin: 'administrator' };

interface NamedAccount {
  readonly id: string;
  readonly email: string;
  readonly kind?: 'person' | 'organization';
  readonly name?: string;
}

/** An account as the object of an audit entry. */
export const accountObject = ({ id, email, kind, name = '' }: NamedAccount) =>
  kind === 'organization' ? ({ kind, id, name } as const) : ({ kind: 'account', id, name: email } as const);

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

/** It was deleted after its owner signed in. */
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

/** At least one administrator must remain. */
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
    return new InvalidAccount(
      'name',
      'Enter a name of at most 100 characters without line breaks or control characters.',
    );
  }

  static forPassword(): InvalidAccount {
    return new InvalidAccount('password', 'Enter a password of 12 to 128 characters.');
  }

  constructor(param: string, message: string) {
    super('invalid_request', message, { param });
  }
}

/** Node's list, which lacks UTC. */
const NAMES: readonly string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').filter((zone) => zone !== 'UTC')];

/** Selectable time zones: those that both Node and PostgreSQL know, because both compute days. */
@Injectable()
export class TimeZones {
  private known: Promise<readonly string[]> | undefined;

  constructor(private readonly dataSource: DataSource) {}

  /** Read once: PostgreSQL reads files for it. */
  list(): Promise<readonly string[]> {
    this.known ??= this.read().catch((error: unknown) => {
      this.known = undefined;
      throw error;
    });
    return this.known;
  }

  /** @throws InvalidAccount when it is not selectable */
  async check(timeZone: string): Promise<void> {
    if (!(await this.list()).includes(timeZone))
      throw new InvalidAccount('timeZone', 'Choose a time zone from the list.');
  }

  /** The selectable zone with this name or alias; undefined if there is none. Browsers differ in their names. */
  async named(name: unknown): Promise<string | undefined> {
    if (typeof name !== 'string' || name === '') return undefined;
    try {
      const { timeZone } = new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions();
      return (await this.list()).find((zone) => zone === timeZone);
    } catch (error) {
      if (error instanceof RangeError) return undefined;
      throw error;
    }
  }

  private async read(): Promise<readonly string[]> {
    const rows = await this.dataSource.query<{ name: string }[]>('SELECT name FROM pg_timezone_names');
    const names = new Set(rows.map(({ name }) => name));
    return NAMES.filter((name) => names.has(name));
  }
}
