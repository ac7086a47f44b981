import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager, MoreThan } from 'typeorm';
import type { AccountRole } from '../account.js';
import { SessionEntity } from './session.entity.js';

/** A session with what pages know of its account. */
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
}

/** Of an account that is not enabled no session is found. */
const FIND = `
  SELECT s.id AS "sessionId", s.last_seen_at AS "lastSeenAt", a.id AS "accountId", a.email, a.name, a.role,
         s.confirmed_at AS "confirmedAt", a.password_is_temporary AS "passwordIsTemporary",
         a.group_name AS "groupName", a.time_zone AS "timeZone", a.verified_at AS "verifiedAt"
    FROM sessions s
    JOIN accounts a ON a.id = s.account_id
   WHERE s.token_hash = $1 AND s.expires_at > $2 AND a.state = 'enabled'`;

@Injectable()
export class SessionRepository {
  constructor(private readonly dataSource: DataSource) {}

  async insert(session: Omit<SessionEntity, 'createdAt' | 'lastSeenAt'>, manager?: EntityManager): Promise<void> {
    await (manager ?? this.dataSource.manager).insert(SessionEntity, session);
  }

  async find(tokenHash: Buffer, now: Date): Promise<SessionRow | undefined> {
    const [row] = await this.dataSource.query<SessionRow[]>(FIND, [tokenHash, now]);
    return row;
  }

  async touch(id: string, seen: Pick<SessionEntity, 'lastSeenAt' | 'ip' | 'userAgent'>): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id }, seen);
  }

  async confirm(id: string, confirmedAt: Date): Promise<void> {
    await this.dataSource.manager.update(SessionEntity, { id }, { confirmedAt });
  }

  /** Of those that can still be used, the last seen first. */
  listOf(accountId: string, now: Date): Promise<readonly SessionEntity[]> {
    return this.dataSource.getRepository(SessionEntity).find({
      where: { accountId, expiresAt: MoreThan(now) },
      order: { lastSeenAt: 'DESC', id: 'DESC' },
    });
  }

  /** Whether the account had such a session. */
  async delete(accountId: string, id: string): Promise<boolean> {
    const { affected } = await this.dataSource.manager.delete(SessionEntity, { id, accountId });
    return affected === 1;
  }

  async deleteByToken(tokenHash: Buffer): Promise<void> {
    await this.dataSource.manager.delete(SessionEntity, { tokenHash });
  }

  /** All of an account but one. */
  async deleteAllOf(accountId: string, exceptId: string | undefined, manager?: EntityManager): Promise<void> {
    await (manager ?? this.dataSource.manager).query(
      'DELETE FROM sessions WHERE account_id = $1 AND id IS DISTINCT FROM $2',
      [accountId, exceptId ?? null],
    );
  }

  async deleteExpired(now: Date): Promise<void> {
    await this.dataSource.query('DELETE FROM sessions WHERE expires_at <= $1', [now]);
  }
}
