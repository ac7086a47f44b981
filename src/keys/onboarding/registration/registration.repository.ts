import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';

/** An account before verification. */
export interface RegistrationRow {
  readonly id: string;
  readonly visitHash: Buffer;
  readonly email: string;
  readonly name: string;
  readonly passwordHash: string;
  readonly invitationId: string | null;
  readonly createdAt: Date;
}

const COLUMNS = `id, visit_hash AS "visitHash", email, name, password_hash AS "passwordHash",
                 invitation_id AS "invitationId", created_at AS "createdAt"`;
const INSERT = `
  INSERT INTO registrations (id, visit_hash, email, name, password_hash, invitation_id, created_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7)`;
/** Long enough to return to the page that asks for the code. */
const KEPT = `interval '1 day'`;

@Injectable()
export class RegistrationRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** Anyone can create registrations, so abandoned ones are deleted. */
  async insert(row: RegistrationRow): Promise<void> {
    const { id, visitHash, email, name, passwordHash, invitationId, createdAt } = row;
    await this.dataSource.query(INSERT, [id, visitHash, email, name, passwordHash, invitationId, createdAt]);
    await this.dataSource.query(`DELETE FROM registrations WHERE created_at < $1::timestamptz - ${KEPT}`, [createdAt]);
  }

  async byVisit(visitHash: Buffer, now: Date): Promise<RegistrationRow | undefined> {
    const sql = `SELECT ${COLUMNS} FROM registrations
                  WHERE visit_hash = $1 AND created_at >= $2::timestamptz - ${KEPT}`;
    return (await this.dataSource.query<RegistrationRow[]>(sql, [visitHash, now]))[0];
  }

  /** Removes it in the transaction that creates the account. */
  async take(id: string, manager: EntityManager): Promise<RegistrationRow | undefined> {
    const sql = `DELETE FROM registrations WHERE id = $1 RETURNING ${COLUMNS}`;
    const [rows] = await manager.query<[RegistrationRow[], number]>(sql, [id]);
    return rows[0];
  }
}
