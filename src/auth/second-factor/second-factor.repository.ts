import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** The second factors of an account: an authenticator app, passkeys, or both. */
export interface SecondFactorRow {
  /** Of the app; null: none is set up. */
  readonly sealedSecret: string | null;
  /** Since when there has been one. */
  readonly turnedOnAt: Date;
  readonly passkeys: number;
  /** Unused recovery codes. */
  readonly codesLeft: number;
}

const FIND = `
  SELECT f.sealed_secret AS "sealedSecret", least(f.turned_on_at, p.first_at) AS "turnedOnAt", p.passkeys,
         (SELECT count(*)::int FROM recovery_codes r WHERE r.account_id = a.id AND r.used_at IS NULL) AS "codesLeft"
    FROM accounts a LEFT JOIN second_factors f ON f.account_id = a.id
   CROSS JOIN LATERAL (SELECT count(*)::int AS passkeys, min(created_at) AS first_at FROM passkeys
                        WHERE account_id = a.id) p
   WHERE a.id = $1 AND (f.account_id IS NOT NULL OR p.passkeys > 0)`;

const INSERT = `
  INSERT INTO second_factors (account_id, sealed_secret, last_step, turned_on_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id) DO NOTHING RETURNING account_id`;

/** Concurrent uses of the same step wait for the row and find it used, in every process. */
const USE_STEP = 'UPDATE second_factors SET last_step = $2 WHERE account_id = $1 AND last_step < $2';

const USE_CODE = `
  UPDATE recovery_codes SET used_at = $3 WHERE account_id = $1 AND code_hash = $2 AND used_at IS NULL`;

/** Serializes replacements, so that one set of codes remains. */
const LOCK = 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE';

const DELETE_UNUSED_CODES = `
  DELETE FROM recovery_codes r WHERE account_id = $1
     AND NOT EXISTS (SELECT FROM second_factors f WHERE f.account_id = r.account_id)
     AND NOT EXISTS (SELECT FROM passkeys p WHERE p.account_id = r.account_id)`;

const INSERT_CODES = 'INSERT INTO recovery_codes (account_id, code_hash) SELECT $1, unnest($2::bytea[])';

/** The driver's result for statements that change rows: returned rows and their number. */
type UpdateResult = readonly [readonly unknown[], number];

@Injectable()
export class SecondFactorRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async find(
    accountId: string,
    manager: EntityManager = this.dataSource.manager,
  ): Promise<SecondFactorRow | undefined> {
    const [row] = await manager.query<SecondFactorRow[]>(FIND, [accountId]);
    return row;
  }

  /** @param step step of the code that turned it on @returns false without writing if there is one already */
  async insert(
    accountId: string,
    { sealedSecret, step, now }: { readonly sealedSecret: string; readonly step: number; readonly now: Date },
    manager: EntityManager,
  ): Promise<boolean> {
    const rows = await manager.query<unknown[]>(INSERT, [accountId, sealedSecret, step, now]);
    return rows.length === 1;
  }

  /** Uses up a time step and all earlier ones; false if it was used before. */
  useStep(accountId: string, step: number): Promise<boolean> {
    return this.changed(USE_STEP, [accountId, step]);
  }

  /** False if the code is unknown or used. */
  useCode(accountId: string, codeHash: Buffer, now: Date): Promise<boolean> {
    return this.changed(USE_CODE, [accountId, codeHash, now]);
  }

  /** Replaces all codes; false without writing if there is no second factor. */
  async replaceCodes(accountId: string, hashes: readonly Buffer[], manager: EntityManager): Promise<boolean> {
    await manager.query(LOCK, [accountId]);
    if ((await this.find(accountId, manager)) === undefined) return false;
    await manager.query('DELETE FROM recovery_codes WHERE account_id = $1', [accountId]);
    await manager.query(INSERT_CODES, [accountId, hashes]);
    return true;
  }

  /** Deletes the authenticator app; false if there was none. */
  deleteApp(accountId: string, manager: EntityManager): Promise<boolean> {
    return this.changed('DELETE FROM second_factors WHERE account_id = $1', [accountId], manager);
  }

  /** Deletes the recovery codes of an account without a second factor. */
  async deleteUnusedCodes(accountId: string, manager: EntityManager): Promise<void> {
    await manager.query(DELETE_UNUSED_CODES, [accountId]);
  }

  /** Deletes app, passkeys and recovery codes; false if there was no second factor. */
  async deleteAll(accountId: string, manager: EntityManager): Promise<boolean> {
    const isOn = (await this.find(accountId, manager)) !== undefined;
    for (const table of ['second_factors', 'passkeys', 'recovery_codes'])
      await manager.query(`DELETE FROM ${table} WHERE account_id = $1`, [accountId]);
    return isOn;
  }

  private async changed(
    sql: string,
    values: unknown[],
    manager: EntityManager = this.dataSource.manager,
  ): Promise<boolean> {
    const [, count] = await manager.query<UpdateResult>(sql, values);
    return count === 1;
  }
}
