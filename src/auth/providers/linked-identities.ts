import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { AuditLog } from '../../platform/audit/index.js';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import { type Account, AccountGone, accountObject } from '../account.js';
import { accountOf, AccountRepository } from '../account.repository.js';
import { AccountMails } from '../mails/account-mails.js';
import type { MappedAssignments } from './claim-rules.js';
import type { ProviderIdentity } from './openid-client.js';
import { PROVIDER_MINUTES, type ProvedIdentity } from './provider-sign-in.js';
import { SignInProviders } from './sign-in-providers.js';

/** An identity that signs in to an account. */
export interface LinkedIdentity {
  readonly id: string;
  readonly issuer: string;
  /** For display. */
  readonly email: string | null;
  readonly linkedAt: Date;
  readonly lastUsedAt: Date | null;
}

export class IdentityTaken extends AppError {
  constructor() {
    super('conflict', 'This sign-in is linked to another account. Unlink it there first.');
  }
}

export class IdentityNotFound extends AppError {
  constructor() {
    super('not_found', 'This sign-in is not linked to your account.');
  }
}

/** Without it, the account could only be opened by a password reset. */
export class LastSignInMethod extends AppError {
  constructor() {
    super('conflict', 'Your account has no password, so this is your only way to sign in. Set a password first.');
  }
}

const COLUMNS = 'id, issuer, email, linked_at AS "linkedAt", last_used_at AS "lastUsedAt"';
const LIST = `SELECT ${COLUMNS} FROM linked_identities WHERE account_id = $1 ORDER BY id`;
const USE = `
  UPDATE linked_identities SET last_used_at = $3, email = coalesce($4, email) WHERE issuer = $1 AND subject = $2
  RETURNING account_id AS "accountId"`;
const INSERT = `
  INSERT INTO linked_identities (id, account_id, issuer, subject, email, linked_at) VALUES ($1, $2, $3, $4, $5, $6)
  ON CONFLICT (issuer, subject) DO NOTHING RETURNING id`;
const DELETE = `DELETE FROM linked_identities WHERE account_id = $1 AND id = $2 RETURNING issuer`;
/** Other ways to sign in without a password. */
const OTHERS = `
  SELECT ((SELECT count(*) FROM linked_identities WHERE account_id = $1 AND id <> $2)
          + (SELECT count(*) FROM passkeys WHERE account_id = $1))::int AS count`;

/** Identities of providers and the accounts they sign in to. An identity is its issuer and subject, never an address. */
@Injectable()
export class LinkedIdentities {
  constructor(
    private readonly accounts: AccountRepository,
    private readonly providers: SignInProviders,
    private readonly mails: AccountMails,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /** The account that an identity signs in to; undefined: none. */
  async use({ issuer, subject, email }: ProviderIdentity): Promise<Account | undefined> {
    const values = [issuer, subject, this.clock.date(), email ?? null];
    const account = await this.accounts.transaction(async (manager) => {
      const [[used]] = await manager.query<[{ accountId: string }[], number]>(USE, values);
      return used && this.accounts.lock(used.accountId, manager);
    });
    return account ? accountOf(account) : undefined;
  }

  /** Oldest first. */
  of(accountId: string): Promise<readonly LinkedIdentity[]> {
    return this.accounts.transaction((manager) => manager.query(LIST, [accountId]));
  }

  /**
   * The owner is notified by email, except of a new account.
   * @param manager of the transaction that creates the account
   * @throws IdentityTaken, AccountGone
   */
  async link(accountId: string, identity: ProviderIdentity, manager?: EntityManager): Promise<void> {
    if (manager !== undefined) return this.insert(accountId, identity, manager);
    const email = await this.accounts.transaction(async (within) => {
      const account = await this.accounts.lock(accountId, within);
      if (account === null || account.state === 'deleted') throw new AccountGone();
      await this.insert(accountId, identity, within);
      return account.email;
    });
    this.mails.sendSignInLinked(email, await this.labelOf(identity.issuer));
  }

  /** @throws IdentityNotFound, LastSignInMethod, AccountGone */
  async unlink(accountId: string, id: string): Promise<void> {
    const { email, issuer } = await this.accounts.transaction(async (manager) => {
      const account = await this.accounts.lock(accountId, manager);
      if (account === null) throw new AccountGone();
      const [others] = await manager.query<{ count: number }[]>(OTHERS, [accountId, id]);
      if (others?.count === 0 && !(await this.accounts.hasPassword(accountId, manager))) throw new LastSignInMethod();
      const [[deleted]] = await manager.query<[{ issuer: string }[], number]>(DELETE, [accountId, id]);
      if (deleted === undefined) throw new IdentityNotFound();
      const lines = [`sign-in of ${deleted.issuer} unlinked`];
      await this.audit.record({ action: 'changed', object: accountObject(account), lines }, manager);
      return { email: account.email, issuer: deleted.issuer };
    });
    this.mails.sendSignInUnlinked(email, await this.labelOf(issuer));
  }

  /** The provider's name; its host once it is removed. */
  async labelOf(issuer: string): Promise<string> {
    const provider = (await this.providers.list()).find((one) => isIssuerOf(one.issuer, issuer));
    return provider?.label ?? new URL(issuer).host;
  }

  private async insert(
    accountId: string,
    { issuer, subject, email }: ProviderIdentity,
    manager: EntityManager,
  ): Promise<void> {
    const now = this.clock.date();
    const values = [newId('idn', now.getTime()), accountId, issuer, subject, email ?? null, now];
    const inserted = await manager.query<unknown[]>(INSERT, values);
    if (inserted.length === 0) throw new IdentityTaken();
  }
}

/** Issuers as typed may lack the final slash. */
export const isIssuerOf = (typed: string, issuer: string): boolean => new URL(typed).href === new URL(issuer).href;

const PUT = `
  INSERT INTO pending_identities (
    visit_hash, provider, issuer, subject, email, email_verified, name, next, expires_at, provider_session_id,
    assignments)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
  ON CONFLICT (visit_hash) DO UPDATE SET
    (provider, issuer, subject, email, email_verified, name, next, expires_at, provider_session_id, assignments) =
    (excluded.provider, excluded.issuer, excluded.subject, excluded.email, excluded.email_verified, excluded.name,
     excluded.next, excluded.expires_at, excluded.provider_session_id, excluded.assignments)`;
const PENDING = `
  provider, issuer, subject, email, email_verified AS "emailVerified", name, next, assignments,
  provider_session_id AS "providerSessionId"`;

interface PendingRow extends Omit<ProviderIdentity, 'email'> {
  readonly provider: string;
  readonly email: string | null;
  readonly next: string;
  readonly assignments: MappedAssignments;
  readonly providerSessionId: string;
}

/** Identities without an account, until the user of the browser confirms a new account or the link to theirs. */
@Injectable()
export class PendingIdentities {
  constructor(
    private readonly dataSource: DataSource,
    private readonly providers: SignInProviders,
    private readonly clock: Clock,
  ) {}

  /** @param visitKey form token, known to this browser only */
  async put(proved: ProvedIdentity, visitKey: string): Promise<void> {
    const now = this.clock.now();
    const { provider, identity, next, providerSessionId, assignments } = proved;
    const { issuer, subject, email, emailVerified, name } = identity;
    const expiresAt = new Date(now + PROVIDER_MINUTES * 60_000);
    const person = [provider.name, issuer, subject, email ?? null, emailVerified, name];
    await this.dataSource.query('DELETE FROM pending_identities WHERE expires_at <= $1', [new Date(now)]);
    const values = [...person, next, expiresAt, providerSessionId, JSON.stringify(assignments)];
    await this.dataSource.query(PUT, [hashOf(visitKey), ...values]);
  }

  /** Of this browser; undefined: none, expired, or its provider is gone. */
  async of(visitKey: string): Promise<ProvedIdentity | undefined> {
    const sql = `SELECT ${PENDING} FROM pending_identities WHERE visit_hash = $1 AND expires_at > $2`;
    const [row] = await this.dataSource.query<PendingRow[]>(sql, [hashOf(visitKey), this.clock.date()]);
    return row && this.provedBy(row);
  }

  async end(visitKey: string): Promise<void> {
    await this.dataSource.query('DELETE FROM pending_identities WHERE visit_hash = $1', [hashOf(visitKey)]);
  }

  private async provedBy(row: PendingRow): Promise<ProvedIdentity | undefined> {
    const { provider: name, next, assignments, providerSessionId, email, ...person } = row;
    const provider = (await this.providers.list()).find((one) => one.name === name);
    const identity = { ...person, email: email ?? undefined };
    return provider && { provider, identity, next, assignments, providerSessionId };
  }
}

const hashOf = (visitKey: string): Buffer => hash('sha256', visitKey, 'buffer');
