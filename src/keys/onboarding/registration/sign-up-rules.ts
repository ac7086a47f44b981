import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { Settings } from '../../../platform/settings/index.js';
import { AppError } from '../../../platform/shared/index.js';

/** Registration is closed. */
export class SignUpClosed extends AppError {
  constructor() {
    super('permission_denied', 'Registration is closed. Accounts are created by administrators.');
  }
}

class DomainRefused extends AppError {
  constructor(domains: readonly string[]) {
    super('invalid_request', `Enter an address that ends in ${domains.map((domain) => `@${domain}`).join(' or ')}.`, {
      param: 'email',
    });
  }
}

/** Who may register, according to the settings. */
@Injectable()
export class SignUpRules {
  constructor(private readonly settings: Settings) {}

  get invitationNeeded(): boolean {
    return this.settings.current().signUp.mode === 'invite';
  }

  get closed(): boolean {
    return this.settings.current().signUp.mode === 'closed';
  }

  /** For display. */
  get domains(): readonly string[] {
    return this.settings.current().signUp.domains;
  }

  /** @throws SignUpClosed */
  checkOpen(): void {
    if (this.closed) throw new SignUpClosed();
  }

  /** Allows exact domains, without subdomains. @throws DomainRefused */
  checkAddress(email: string): void {
    if (!this.allows(email)) throw new DomainRefused(this.domains);
  }

  /** Whether the domain of an address is allowed. */
  allows(email: string): boolean {
    const { domains } = this;
    return domains.length === 0 || domains.includes(email.slice(email.lastIndexOf('@') + 1));
  }
}

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
