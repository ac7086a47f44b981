import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { MAX_ATTEMPTS, type Purpose, type Verification } from './verification.js';

export interface VerificationRow extends Verification {
  readonly attempts: number;
  readonly codeHash: Buffer | null;
  readonly tokenHash: Buffer;
}

export type NewVerification = Omit<VerificationRow, 'attempts' | 'usedAt'>;

const COLUMNS = `id, purpose, subject, email, attempts, code_hash AS "codeHash", token_hash AS "tokenHash",
                 sent_at AS "sentAt", expires_at AS "expiresAt", used_at AS "usedAt"`;

/**
 * Replaces an earlier verification of the subject, unless it was sent to the same address within $9: then no row is
 * returned.
 */
const ISSUE = `
  INSERT INTO verifications AS v (id, purpose, subject, email, code_hash, token_hash, sent_at, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
  ON CONFLICT (purpose, subject) DO UPDATE
     SET id = excluded.id, email = excluded.email, code_hash = excluded.code_hash, token_hash = excluded.token_hash,
         sent_at = excluded.sent_at, expires_at = excluded.expires_at, attempts = 0, used_at = NULL
   WHERE v.sent_at <= $9 OR v.email <> excluded.email OR v.used_at IS NOT NULL
  RETURNING id`;

/** Counts the attempt before the code is compared, so that concurrency gains nothing. */
const CLAIM_ATTEMPT = `
  UPDATE verifications SET attempts = attempts + 1
   WHERE purpose = $1 AND subject = $2 AND used_at IS NULL AND expires_at > $3 AND attempts < ${MAX_ATTEMPTS}
  RETURNING ${COLUMNS}`;

/** Once, and only while no later email has replaced it. */
const USE = `
  UPDATE verifications SET used_at = $3
   WHERE id = $1 AND token_hash = $2 AND used_at IS NULL AND expires_at > $3 RETURNING id`;

/** How long an expired link is still recognized. */
const KEPT = `interval '30 days'`;

@Injectable()
export class VerificationRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** False if the previous one went to the same address after `notSince`. */
  async issue(row: NewVerification, notSince: Date): Promise<boolean> {
    const { id, purpose, subject, email, codeHash, tokenHash, sentAt, expiresAt } = row;
    const parameters = [id, purpose, subject, email, codeHash, tokenHash, sentAt, expiresAt, notSince];
    return (await this.dataSource.query<unknown[]>(ISSUE, parameters)).length === 1;
  }

  claimAttempt(purpose: Purpose, subject: string, now: Date): Promise<VerificationRow | undefined> {
    return this.updated(CLAIM_ATTEMPT, [purpose, subject, now]);
  }

  async find(purpose: Purpose, subject: string): Promise<VerificationRow | undefined> {
    const sql = `SELECT ${COLUMNS} FROM verifications WHERE purpose = $1 AND subject = $2`;
    return (await this.dataSource.query<VerificationRow[]>(sql, [purpose, subject]))[0];
  }

  async byToken(tokenHash: Buffer): Promise<VerificationRow | undefined> {
    const sql = `SELECT ${COLUMNS} FROM verifications WHERE token_hash = $1`;
    return (await this.dataSource.query<VerificationRow[]>(sql, [tokenHash]))[0];
  }

  async use({ id, tokenHash }: VerificationRow, now: Date, manager: EntityManager): Promise<boolean> {
    return (await this.updated(USE, [id, tokenHash, now], manager)) !== undefined;
  }

  async withdraw(subject: string, manager: EntityManager): Promise<void> {
    await manager.query('DELETE FROM verifications WHERE subject = $1 AND used_at IS NULL', [subject]);
  }

  /** Those of a deleted account, used or not, and those that were used for its address before it existed. */
  async deleteAllOf(subject: string, email: string, manager: EntityManager): Promise<void> {
    const sql = 'DELETE FROM verifications WHERE subject = $1 OR (email = $2 AND used_at IS NOT NULL)';
    await manager.query(sql, [subject, email]);
  }

  async clear(now: Date): Promise<void> {
    await this.dataSource.query(`DELETE FROM verifications WHERE expires_at < $1::timestamptz - ${KEPT}`, [now]);
  }

  /** TypeORM returns rows and their number for an UPDATE. */
  private async updated(
    sql: string,
    parameters: unknown[],
    manager: EntityManager = this.dataSource.manager,
  ): Promise<VerificationRow | undefined> {
    const [rows] = await manager.query<[VerificationRow[], number]>(sql, parameters);
    return rows[0];
  }
}
