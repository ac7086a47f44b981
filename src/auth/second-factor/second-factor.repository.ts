import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** A second factor as its account's pages show it. */
export interface SecondFactorRow {
  readonly sealedSecret: string;
  readonly turnedOnAt: Date;
  /** Recovery codes that were not used yet. */
  readonly codesLeft: number;
}

const FIND = `
  SELECT f.sealed_secret AS "sealedSecret", f.turned_on_at AS "turnedOnAt",
         (SELECT count(*)::int FROM recovery_codes r WHERE r.account_id = f.account_id AND r.used_at IS NULL) AS "codesLeft"
    FROM second_factors f WHERE f.account_id = $1`;

const INSERT = `
  INSERT INTO second_factors (account_id, sealed_secret, last_step, turned_on_at) VALUES ($1, $2, $3, $4)
  ON CONFLICT (account_id) DO NOTHING RETURNING account_id`;

/** Whoever comes second with a code of the same step, in whichever process, waits for the row and finds it used. */
const USE_STEP = 'UPDATE second_factors SET last_step = $2 WHERE account_id = $1 AND last_step < $2';

const USE_CODE = `
  UPDATE recovery_codes SET used_at = $3 WHERE account_id = $1 AND code_hash = $2 AND used_at IS NULL`;

/** Whoever puts in other codes at the same moment waits: there is one set. */
const LOCK = 'SELECT account_id FROM second_factors WHERE account_id = $1 FOR UPDATE';

const INSERT_CODES = 'INSERT INTO recovery_codes (account_id, code_hash) SELECT $1, unnest($2::bytea[])';

/** How the driver answers what changes rows: with those that it returns, and their number. */
type Changed = readonly [readonly unknown[], number];

@Injectable()
export class SecondFactorRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async find(accountId: string): Promise<SecondFactorRow | undefined> {
    const [row] = await this.dataSource.query<SecondFactorRow[]>(FIND, [accountId]);
    return row;
  }

  /** @param step of the code that it was turned on with; false, and nothing is written, where there is one already */
  async insert(
    accountId: string,
    { sealedSecret, step, now }: { readonly sealedSecret: string; readonly step: number; readonly now: Date },
    manager: EntityManager,
  ): Promise<boolean> {
    const rows = await manager.query<unknown[]>(INSERT, [accountId, sealedSecret, step, now]);
    return rows.length === 1;
  }

  /** Uses up a time step and those before it; false when it was used up already. */
  useStep(accountId: string, step: number): Promise<boolean> {
    return this.changed(USE_STEP, [accountId, step]);
  }

  /** False for a code that is none of the account's, or was used. */
  useCode(accountId: string, codeHash: Buffer, now: Date): Promise<boolean> {
    return this.changed(USE_CODE, [accountId, codeHash, now]);
  }

  /** Puts other codes in the place of all there are; false, and nothing is written, without a second factor. */
  async replaceCodes(accountId: string, hashes: readonly Buffer[], manager: EntityManager): Promise<boolean> {
    const locked = await manager.query<unknown[]>(LOCK, [accountId]);
    if (locked.length === 0) return false;
    await manager.query('DELETE FROM recovery_codes WHERE account_id = $1', [accountId]);
    await manager.query(INSERT_CODES, [accountId, hashes]);
    return true;
  }

  /** With its codes; false when there was none. */
  delete(accountId: string, manager: EntityManager): Promise<boolean> {
    return this.changed('DELETE FROM second_factors WHERE account_id = $1', [accountId], manager);
  }

  private async changed(
    sql: string,
    values: unknown[],
    manager: EntityManager = this.dataSource.manager,
  ): Promise<boolean> {
    const [, count] = await manager.query<Changed>(sql, values);
    return count === 1;
  }
}
