import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { nanos } from '../platform/shared/index.js';
import { type CodeFilter, type CodePosition, type ListedCode, RedemptionCodeEntity } from './redemption-code.js';

export type NewCodeRow = Pick<
  RedemptionCodeEntity,
  'id' | 'batchId' | 'codeHash' | 'amount' | 'note' | 'expiresAt' | 'createdAt'
>;

/** Joins accounts for the names in the list. */
const SELECT = `
  SELECT c.id, c.batch_id AS "batchId", c.amount, c.note, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
         c.voided_at AS "voidedAt", c.redeemed_at AS "redeemedAt", a.email AS "redeemedBy", a.id AS "redeemedById"
    FROM redemption_codes c LEFT JOIN accounts a ON a.id = c.redeemed_by`;

/** Oldest first. */
const LIST = `${SELECT} ORDER BY c.id`;

const STATE = `
  CASE WHEN c.redeemed_at IS NOT NULL THEN 'redeemed' WHEN c.voided_at IS NOT NULL THEN 'voided'
       WHEN c.expires_at <= $1 THEN 'expired' ELSE 'open' END`;

/** Newest first; of those newer than the position, the closest ones. */
const PAGE = (side: string, order: string): string => `
  ${SELECT}
   WHERE ($2::text IS NULL OR ${STATE} = $2)
     AND ($3::text IS NULL OR c.batch_id = $3)
     AND ($4::text IS NULL OR c.id ILIKE $4 OR c.note ILIKE $4 OR a.email ILIKE $4)
     AND ($5::text IS NULL OR c.id ${side} $5)
   ORDER BY c.id ${order} LIMIT $6`;
const OLDER = PAGE('<', 'DESC');
const NEWER = PAGE('>', 'ASC');

/** Open codes of one ID or batch, locked by ID to avoid deadlocks. */
const VOID = `
  WITH open AS (
    SELECT id FROM redemption_codes
     WHERE (id = $1 OR batch_id = $1) AND redeemed_at IS NULL AND voided_at IS NULL
     ORDER BY id FOR UPDATE)
  UPDATE redemption_codes c SET voided_at = $2 FROM open WHERE c.id = open.id
  RETURNING c.id, c.amount, c.note`;

/** A code that was open until now. */
type VoidedCode = Pick<ListedCode, 'id' | 'amount' | 'note'>;

type CodeRow = Omit<ListedCode, 'amount'> & { readonly amount: string };

const codesIn = (rows: readonly CodeRow[]): readonly ListedCode[] =>
  rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));

const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, '\\$&')}%`;

@Injectable()
export class RedemptionRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  async insert(codes: readonly NewCodeRow[], manager: EntityManager): Promise<void> {
    await manager.insert(RedemptionCodeEntity, [...codes]);
  }

  async list(): Promise<readonly ListedCode[]> {
    return codesIn(await this.dataSource.query<CodeRow[]>(LIST));
  }

  /** Newest first. @param now decides which codes have expired */
  async page(
    filter: CodeFilter,
    { before, after }: CodePosition,
    size: number,
    now: Date,
  ): Promise<readonly ListedCode[]> {
    const { state, batch, text } = filter;
    const sql = after === undefined ? OLDER : NEWER;
    const place = after ?? before ?? null;
    const values = [now, state ?? null, batch ?? null, text === undefined ? null : containing(text), place, size];
    const codes = codesIn(await this.dataSource.query<CodeRow[]>(sql, values));
    return codes.toSorted((one, other) => (one.id < other.id ? 1 : -1));
  }

  /** Returns the codes that were open. @param id ID of a code or a batch */
  async void(id: string, voidedAt: Date, manager: EntityManager): Promise<readonly VoidedCode[]> {
    const [rows] = await manager.query<[(Omit<VoidedCode, 'amount'> & { readonly amount: string })[], number]>(VOID, [
      id,
      voidedAt,
    ]);
    return rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));
  }

  /** Locked until the transaction ends: concurrent attempts wait and see the result. */
  lock(codeHash: Buffer, manager: EntityManager): Promise<RedemptionCodeEntity | null> {
    return manager.findOne(RedemptionCodeEntity, { where: { codeHash }, lock: { mode: 'pessimistic_write' } });
  }

  async markRedeemed(
    id: string,
    by: { readonly redeemedBy: string; readonly redeemedAt: Date; readonly entryId: string },
    manager: EntityManager,
  ): Promise<void> {
    await manager.update(RedemptionCodeEntity, { id }, by);
  }
}
