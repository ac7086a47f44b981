import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { AuditLog } from '../../../platform/audit/index.js';
import { AppError, Clock, generateCode, hashCode, newId } from '../../../platform/shared/index.js';

/** Characters of 5 bits: 100 bits. */
const CODE_LENGTH = 20;
const MAX_BATCH = 1000;

/** Common properties of new invitations. */
export interface InvitationBatch {
  readonly count: number;
  /** Undefined: never. */
  readonly expiresAt?: Date | undefined;
  readonly note?: string | undefined;
}

/** An invitation as administrators see it, without its code. */
export interface ListedInvitation {
  readonly id: string;
  readonly note: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly usedAt: Date | null;
  /** Email address of the account that used it. */
  readonly usedBy: string | null;
}

export class InvitationRefused extends AppError {
  static unknown(): InvitationRefused {
    return new InvitationRefused('Check the invitation code; this one is unknown.');
  }

  static over(): InvitationRefused {
    return new InvitationRefused('This invitation was already used or has expired. Ask for a new one.');
  }

  constructor(message: string) {
    super('invalid_request', message, { param: 'invitation' });
  }
}

class InvitationsNotPossible extends AppError {
  constructor(message: string) {
    super('invalid_request', message);
  }
}

const INSERT = 'INSERT INTO invitations (id, code_hash, note, expires_at, created_at) VALUES ($1, $2, $3, $4, $5)';
const FIND = `SELECT id, used_at IS NULL AND (expires_at IS NULL OR expires_at > $2) AS open
                FROM invitations WHERE code_hash = $1`;
/** Among registrations with the same code, the first to verify its address wins. */
const USE = `UPDATE invitations SET used_at = $3, used_by = $2 WHERE id = $1 AND used_at IS NULL RETURNING id`;
const LIST = `
  SELECT i.id, i.note, i.created_at AS "createdAt", i.expires_at AS "expiresAt", i.used_at AS "usedAt", a.email AS "usedBy"
    FROM invitations i LEFT JOIN accounts a ON a.id = i.used_by ORDER BY i.id`;

/** Invitation codes: each allows one registration. */
@Injectable()
export class Invitations {
  constructor(
    private readonly dataSource: DataSource,
    private readonly clock: Clock,
    private readonly audit: AuditLog,
  ) {}

  /** Creates codes, which are returned once and not stored. @throws AppError for invalid counts and dates */
  async create({ count, expiresAt, note = '' }: InvitationBatch): Promise<readonly string[]> {
    const now = this.clock.date();
    if (!Number.isInteger(count) || count < 1 || count > MAX_BATCH)
      throw new InvitationsNotPossible(`Create 1 to ${MAX_BATCH} invitations at a time.`);
    if (!/^[^\p{Cc}]{0,200}$/u.test(note))
      throw new InvitationsNotPossible('Enter a note of at most 200 characters without line breaks.');
    if (expiresAt !== undefined && expiresAt <= now)
      throw new InvitationsNotPossible('The expiry of an invitation must be in the future.');
    const codes = Array.from({ length: count }, () => generateCode(CODE_LENGTH));
    await this.dataSource.transaction(async (manager) => {
      for (const code of codes)
        await manager.query(INSERT, [
          newId('inv', now.getTime()),
          hashCode(code, CODE_LENGTH),
          note,
          expiresAt ?? null,
          now,
        ]);
      const name = `${count} invitation${count === 1 ? '' : 's'}`;
      await this.audit.record(
        { action: 'created', object: { kind: 'invitation', id: '', name }, reason: note },
        manager,
      );
    });
    return codes;
  }

  /** Oldest first. */
  list(): Promise<readonly ListedInvitation[]> {
    return this.dataSource.query(LIST);
  }

  /** The ID of an invitation by its code, in any spelling. @throws InvitationRefused */
  async find(typed: string): Promise<string> {
    const codeHash = hashCode(typed, CODE_LENGTH);
    if (codeHash === undefined) throw InvitationRefused.unknown();
    const [found] = await this.dataSource.query<{ id: string; open: boolean }[]>(FIND, [codeHash, this.clock.date()]);
    if (found === undefined) throw InvitationRefused.unknown();
    if (!found.open) throw InvitationRefused.over();
    return found.id;
  }

  /**
   * Marks it as used in the transaction that creates the account. @throws InvitationRefused when it was used meanwhile
   */
  async use(id: string, accountId: string, manager: EntityManager): Promise<void> {
    const [rows] = await manager.query<[unknown[], number]>(USE, [id, accountId, this.clock.date()]);
    if (rows.length === 0) throw InvitationRefused.over();
  }
}
