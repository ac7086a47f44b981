import { Injectable } from '@nestjs/common';
import { Column, DataSource, Entity, type EntityManager, MoreThan, PrimaryColumn } from 'typeorm';
import type { AccountRole } from '../account.js';
import type { OrganizationScope } from '../scope.js';

/** A membership of the session's account, with the group of the organization's calls. */
export interface Membership extends Omit<OrganizationScope, 'teamId'> {
  readonly teamId: string | null;
  readonly groupName: string | null;
}

/** A session with the account data that pages need. */
export interface SessionRow {
  readonly sessionId: string;
  readonly accountId: string;
  readonly email: string;
  readonly name: string;
  readonly role: AccountRole;
  readonly groupName: string | null;
  readonly timeZone: string;
  readonly verifiedAt: Date | null;
  readonly lastSeenAt: Date;
  readonly confirmedAt: Date;
  readonly passwordIsTemporary: boolean;
  readonly hasPassword: boolean;
  readonly beganAtProvider: boolean;
  readonly hasSecondFactor: boolean;
  /** The chosen organization, whether or not it is still among `memberships`; null: none. */
  readonly organizationId: string | null;
  /** Active ones in enabled organizations, by name. */
  readonly memberships: readonly Membership[];
}

/** Usable sessions end after `now` and were last seen after `idleSince`. */
export interface Moment {
  readonly now: Date;
  readonly idleSince: Date;
}

/** Sessions of disabled accounts are not found. */
const FIND = `
  SELECT s.id AS "sessionId", s.last_seen_at AS "lastSeenAt", a.id AS "accountId", a.email, a.name, a.role,
         s.confirmed_at AS "confirmedAt", a.password_is_temporary AS "passwordIsTemporary",
         a.password_hash IS NOT NULL AS "hasPassword", s.provider_session_id IS NOT NULL AS "beganAtProvider",
         a.group_name AS "groupName", a.time_zone AS "timeZone", a.verified_at AS "verifiedAt",
         (EXISTS (SELECT FROM second_factors f WHERE f.account_id = a.id)
          OR EXISTS (SELECT FROM passkeys p WHERE p.account_id = a.id)) AS "hasSecondFactor",
         s.organization_id AS "organizationId", m.memberships
    FROM sessions s
    JOIN accounts a ON a.id = s.account_id
   CROSS JOIN LATERAL (
     SELECT coalesce(json_agg(json_build_object(
              'id', o.id, 'name', o.name, 'groupName', o.group_name,
              'memberId', m.id, 'role', m.role, 'teamId', m.team_id) ORDER BY lower(o.name), o.id), '[]') AS memberships
       FROM members m
       JOIN accounts o ON o.id = m.organization_id AND o.kind = 'organization' AND o.state = 'enabled'
      WHERE m.account_id = a.id AND m.state = 'active') m
   WHERE s.token_hash = $1 AND s.expires_at > $2 AND s.last_seen_at > $3 AND a.state = 'enabled'`;

/** An ended session, with its account's email address. */
export interface EndedSession {
  readonly email: string;
  readonly userAgent: string;
}

/** The driver's result of `DELETE … RETURNING`: rows and their number. */
type DeleteResult = readonly [readonly EndedSession[], number];

const END = 'DELETE FROM sessions s USING accounts a WHERE a.id = s.account_id AND s.account_id = $1';
const ENDED = 'RETURNING a.email, s.user_agent AS "userAgent"';

@Injectable()
export class SessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(session: Omit<SessionEntity, 'createdAt' | 'organizationId'>): Promise<void> {
    await this.dataSource.manager.insert(SessionEntity, session);
  }

  async find(tokenHash: Buffer, { now, idleSince }: Moment): Promise<SessionRow | undefined> {
    const [row] = await this.dataSource.query<SessionRow[]>(FIND, [tokenHash, now, idleSince]);
    return row;
  }

  async touch(id: string, seen: Pick<SessionEntity, 'lastSeenAt' | 'ip' | 'userAgent'>): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id }, seen);
  }

  async confirm(id: string, confirmedAt: Date): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id }, { confirmedAt });
  }

  /** @param organizationId null: the user's own account */
  async enter(id: string, organizationId: string | null): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id }, { organizationId });
  }

  /** Changes nothing if the session is in another organization meanwhile. */
  async leave(id: string, organizationId: string): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id, organizationId }, { organizationId: null });
  }

  /** Usable sessions, most recently seen first. */
  listOf(accountId: string, { now, idleSince }: Moment): Promise<readonly SessionEntity[]> {
    return this.dataSource.getRepository(SessionEntity).find({
      where: { accountId, expiresAt: MoreThan(now), lastSeenAt: MoreThan(idleSince) },
      order: { lastSeenAt: 'DESC', id: 'DESC' },
    });
  }

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** The ended session; undefined if the account has no such session. */
  async delete(accountId: string, id: string, manager: EntityManager): Promise<EndedSession | undefined> {
    const [[ended]] = await manager.query<DeleteResult>(`${END} AND s.id = $2 ${ENDED}`, [accountId, id]);
    return ended;
  }

  async deleteByToken(tokenHash: Buffer): Promise<void> {
    await this.dataSource.manager.delete(SessionEntity, { tokenHash });
  }

  /** Deletes all sessions of an account but one, and its pending sign-ins, which lack the second factor. */
  async deleteAllOf(
    accountId: string,
    exceptId: string | undefined,
    manager: EntityManager,
  ): Promise<readonly EndedSession[]> {
    const sql = `${END} AND s.id IS DISTINCT FROM $2 ${ENDED}`;
    const [ended] = await manager.query<DeleteResult>(sql, [accountId, exceptId ?? null]);
    await manager.query('DELETE FROM pending_sign_ins WHERE account_id = $1', [accountId]);
    return ended;
  }

  /** Deletes all expired sessions, and the idle ones of one account. */
  async deleteExpired(accountId: string, { now, idleSince }: Moment): Promise<void> {
    const sql = 'DELETE FROM sessions WHERE expires_at <= $1 OR (account_id = $2 AND last_seen_at <= $3)';
    await this.dataSource.query(sql, [now, accountId, idleSince]);
  }
}

@Entity('sessions')
export class SessionEntity {
  @PrimaryColumn('text')
  readonly id: string;

  /** SHA-256 of the cookie. */
  @Column('bytea', { name: 'token_hash' })
  readonly tokenHash: Buffer;

  @Column('text', { name: 'account_id' })
  readonly accountId: string;

  @Column('text')
  readonly ip: string;

  @Column('text', { name: 'user_agent' })
  readonly userAgent: string;

  @Column('timestamptz', { name: 'created_at', default: () => 'now()' })
  readonly createdAt: Date;

  @Column('timestamptz', { name: 'last_seen_at', default: () => 'now()' })
  readonly lastSeenAt: Date;

  /** When a password was last entered. */
  @Column('timestamptz', { name: 'confirmed_at', default: () => 'now()' })
  readonly confirmedAt: Date;

  @Column('timestamptz', { name: 'expires_at' })
  readonly expiresAt: Date;

  /** The organization that the user works in; null: their own account. */
  @Column('text', { name: 'organization_id', nullable: true })
  readonly organizationId: string | null;

  /** It ends with this session at a provider. */
  @Column('text', { name: 'provider_session_id', nullable: true })
  readonly providerSessionId: string | null;
}
