import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** A passkey as its owner sees it. */
export interface Passkey {
  readonly id: string;
  readonly name: string;
  readonly createdAt: Date;
  readonly lastUsedAt: Date | null;
}

/** What verifies the signatures of a passkey. */
export interface PasskeyCredential {
  readonly id: string;
  readonly accountId: string;
  readonly credentialId: Buffer;
  /** COSE. */
  readonly publicKey: Buffer;
  /** Signatures that the authenticator has counted; 0: it does not count. */
  readonly counter: number;
  /** Hints for browsers. */
  readonly transports: readonly string[];
}

export type NewPasskey = PasskeyCredential & Pick<Passkey, 'name' | 'createdAt'>;

const LIST = `
  SELECT id, name, created_at AS "createdAt", last_used_at AS "lastUsedAt" FROM passkeys WHERE account_id = $1
   ORDER BY id`;

/** A counter is an unsigned 32-bit number, which a float8 holds exactly. */
const CREDENTIAL = `id, account_id AS "accountId", credential_id AS "credentialId", public_key AS "publicKey",
                    counter::float8 AS counter, transports`;

const INSERT = `
  INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT (credential_id) DO NOTHING RETURNING id`;

/** Of concurrent uses with the same count, one succeeds. */
const USE = `
  UPDATE passkeys SET counter = $2, last_used_at = $3 WHERE id = $1 AND (counter < $2 OR (counter = 0 AND $2 = 0))`;

/** Whether the account has another way to sign in than a password reset. */
const CAN_SIGN_IN = `
  SELECT FROM accounts a WHERE a.id = $1 AND (a.password_hash IS NOT NULL
     OR EXISTS (SELECT FROM linked_identities i WHERE i.account_id = a.id)
     OR EXISTS (SELECT FROM passkeys p WHERE p.account_id = a.id))`;

/** The driver's result for statements that change rows: returned rows and their number. */
type UpdateResult<T = unknown> = readonly [readonly T[], number];

@Injectable()
export class PasskeyRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Oldest first. */
  list(accountId: string, manager: EntityManager = this.dataSource.manager): Promise<readonly Passkey[]> {
    return manager.query<Passkey[]>(LIST, [accountId]);
  }

  credentialsOf(accountId: string): Promise<readonly PasskeyCredential[]> {
    const sql = `SELECT ${CREDENTIAL} FROM passkeys WHERE account_id = $1 ORDER BY id`;
    return this.dataSource.query<PasskeyCredential[]>(sql, [accountId]);
  }

  async find(credentialId: Buffer): Promise<PasskeyCredential | undefined> {
    const sql = `SELECT ${CREDENTIAL} FROM passkeys WHERE credential_id = $1`;
    const [row] = await this.dataSource.query<PasskeyCredential[]>(sql, [credentialId]);
    return row;
  }

  /** False without writing if the credential is registered already. */
  async insert(passkey: NewPasskey, manager: EntityManager): Promise<boolean> {
    const { id, accountId, credentialId, publicKey, counter, transports, name, createdAt } = passkey;
    const values = [id, accountId, credentialId, publicKey, counter, transports, name, createdAt];
    return (await manager.query<unknown[]>(INSERT, values)).length === 1;
  }

  /** False if the passkey is gone, or its count is not above the stored one. */
  async use(id: string, counter: number, now: Date): Promise<boolean> {
    const [, count] = await this.dataSource.query<UpdateResult>(USE, [id, counter, now]);
    return count === 1;
  }

  /** False if the account has no such passkey. */
  async rename(accountId: string, id: string, name: string): Promise<boolean> {
    const sql = 'UPDATE passkeys SET name = $3 WHERE account_id = $1 AND id = $2';
    const [, count] = await this.dataSource.query<UpdateResult>(sql, [accountId, id, name]);
    return count === 1;
  }

  /** Its name; undefined if the account has no such passkey. */
  async delete(accountId: string, id: string, manager: EntityManager): Promise<string | undefined> {
    const sql = 'DELETE FROM passkeys WHERE account_id = $1 AND id = $2 RETURNING name';
    const [[deleted]] = await manager.query<UpdateResult<{ name: string }>>(sql, [accountId, id]);
    return deleted?.name;
  }

  /** Whether there is a password, a linked identity or a passkey. */
  async canSignIn(accountId: string, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(CAN_SIGN_IN, [accountId])).length === 1;
  }
}
