import { Injectable } from '@nestjs/common';
import { hash } from 'node:crypto';
import { DataSource, type EntityManager } from 'typeorm';
import { normalizeEmail } from '../../auth/index.js';
import { actingAs, AuditLog, SYSTEM } from '../../platform/audit/index.js';
import { Notifications, TOPICS } from '../../platform/database/index.js';
import { AppError, Clock, newId } from '../../platform/shared/index.js';
import { MAX_KEY_NAME } from '../api-key.js';
import type { TokenIssuer } from './token-issuer.js';
import type { VerifiedToken } from './token-verifier.js';

/** Whose calls those of a subject are. */
export interface TokenOwner {
  readonly accountId: string;
  /** Null for an account's own keys and services. */
  readonly memberId: string | null;
  readonly teamId: string | null;
}

/** Issuers could otherwise fill the database with subjects. */
const MAX_TOKEN_KEYS = 10_000;

export class TooManyTokenKeys extends AppError {
  constructor() {
    super(
      'permission_denied',
      `No key can be created for this token's subject: there are ${MAX_TOKEN_KEYS.toLocaleString('en-US')} already.`,
    );
  }
}

/**
 * The hash that the key of a subject is stored under: no secret has it, because secrets start with `sk-`.
 * @param subject value of the issuer's claim
 */
export const subjectHash = ({ id }: TokenIssuer, subject: string): Buffer =>
  hash('sha256', `token ${id} ${subject}`, 'buffer');

const BY_IDENTITY = `
  SELECT a.id AS "accountId" FROM linked_identities i JOIN accounts a ON a.id = i.account_id
   WHERE i.issuer = $1 AND i.subject = $2 AND a.state <> 'deleted'`;
/** An unverified address may be someone else's. */
const BY_EMAIL = `
  SELECT id AS "accountId" FROM accounts
   WHERE email = $1 AND kind = 'person' AND state <> 'deleted' AND verified_at IS NOT NULL`;
const MEMBER = `
  SELECT organization_id AS "accountId", id AS "memberId", team_id AS "teamId" FROM members
   WHERE organization_id = $1 AND account_id = $2 AND may_use_keys(state, role)`;
/** Locked as by who moves the member to another team, which includes the keys of then. */
const TEAM = `SELECT team_id AS "teamId" FROM members WHERE id = $1 AND state = 'active' FOR UPDATE`;
const BOUND = `SELECT account_id AS "accountId", member_id AS "memberId" FROM api_keys WHERE secret_hash = $1`;
const COUNT = `
  SELECT count(*)::int AS count
    FROM (SELECT 1 FROM api_keys WHERE account_id = $1 AND token_issuer_id IS NOT NULL LIMIT $2) k`;
const INSERT = `
  INSERT INTO api_keys (id, account_id, member_id, team_id, name, secret_hash, hint, token_issuer_id)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (secret_hash) DO NOTHING RETURNING id`;
const FIND = 'SELECT id FROM api_keys WHERE secret_hash = $1';

/** The API keys that subjects of tokens have: rows without a secret. */
@Injectable()
export class TokenKeys {
  constructor(
    private readonly dataSource: DataSource,
    private readonly notifications: Notifications,
    private readonly audit: AuditLog,
    private readonly clock: Clock,
  ) {}

  /** Whom a token names now; undefined: no account, or no member. */
  async ownerOf(token: VerifiedToken): Promise<TokenOwner | undefined> {
    const { holder, organizationId, teamId } = token.issuer;
    if (holder === 'service')
      return organizationId === undefined
        ? undefined
        : { accountId: organizationId, memberId: null, teamId: teamId ?? null };
    const accountId = await this.accountOf(token);
    if (accountId === undefined) return undefined;
    if (holder === 'account') return { accountId, memberId: null, teamId: null };
    const [member] = await this.dataSource.query<TokenOwner[]>(MEMBER, [organizationId, accountId]);
    return member;
  }

  /** Whether the subject's key belongs to this owner. */
  async isOf(subject: Buffer, { accountId, memberId }: TokenOwner): Promise<boolean> {
    const [bound] = await this.dataSource.query<Omit<TokenOwner, 'teamId'>[]>(BOUND, [subject]);
    return bound?.accountId === accountId && bound.memberId === memberId;
  }

  /**
   * Creates the key of a subject, unless another process has just done so.
   * @returns its ID
   * @throws TooManyTokenKeys
   */
  create(token: VerifiedToken, owner: TokenOwner): Promise<string> {
    return actingAs(SYSTEM, () => this.dataSource.transaction((manager) => this.insert(token, owner, manager)));
  }

  private async insert(
    { issuer, subject }: VerifiedToken,
    { accountId, memberId, teamId: ofService }: TokenOwner,
    manager: EntityManager,
  ): Promise<string> {
    const teamId = memberId === null ? ofService : await this.teamOf(memberId, manager);
    const [counted] = await manager.query<{ count: number }[]>(COUNT, [accountId, MAX_TOKEN_KEYS]);
    if (counted?.count === MAX_TOKEN_KEYS) throw new TooManyTokenKeys();
    const id = newId('key', this.clock.now());
    const secretHash = subjectHash(issuer, subject);
    const name = nameOf(subject);
    const values = [id, accountId, memberId, teamId, name, secretHash, issuer.name, issuer.id];
    const [created] = await manager.query<{ id: string }[]>(INSERT, values);
    if (created === undefined) {
      const [existing] = await manager.query<{ id: string }[]>(FIND, [secretHash]);
      if (existing === undefined) throw new AppError('conflict', 'The key of this token was changed. Retry.');
      return existing.id;
    }
    await this.notifications.publish(TOPICS.key, { id }, manager);
    const object = { kind: 'key', id, name, owner: accountId } as const;
    await this.audit.record({ action: 'created', object, lines: [`by a token of ${issuer.name}`] }, manager);
    return id;
  }

  /** @throws AppError when they left meanwhile */
  private async teamOf(memberId: string, manager: EntityManager): Promise<string | null> {
    const [member] = await manager.query<{ teamId: string | null }[]>(TEAM, [memberId]);
    if (member === undefined) throw new AppError('conflict', 'The member of this token was changed. Retry.');
    return member.teamId;
  }

  private async accountOf({ issuer, subject, verifiedEmail }: VerifiedToken): Promise<string | undefined> {
    const email = normalizeEmail(verifiedEmail ?? '');
    const [sql, values] =
      issuer.matchedBy === 'identity' ? [BY_IDENTITY, [issuer.issuer, subject]] : [BY_EMAIL, [email ?? null]];
    const [row] = await this.dataSource.query<{ accountId: string }[]>(sql, values);
    return row?.accountId;
  }
}

/** As in the usage log. */
function nameOf(subject: string): string {
  const name = subject.trim();
  return name.length > MAX_KEY_NAME ? `${name.slice(0, MAX_KEY_NAME - 1)}…` : name;
}
