import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { type Nanos, nanos } from '../shared/index.js';
import { RedemptionCodeEntity } from './redemption-code.entity.js';

export type NewCodeRow = Pick<RedemptionCodeEntity, 'id' | 'codeHash' | 'amount' | 'note' | 'expiresAt' | 'createdAt'>;

/** A code as the operator sees it: never the code itself. */
export interface ListedCode {
  readonly id: string;
  readonly amount: Nanos;
  readonly note: string;
  readonly createdAt: Date;
  readonly expiresAt: Date | null;
  readonly redeemedAt: Date | null;
  /** E-mail address of the account that redeemed it. */
  readonly redeemedBy: string | null;
}

/** Oldest first. Reads accounts for the names that stand in the list. */
const LIST = `
  SELECT c.id, c.amount, c.note, c.created_at AS "createdAt", c.expires_at AS "expiresAt",
         c.redeemed_at AS "redeemedAt", a.email AS "redeemedBy"
    FROM redemption_codes c LEFT JOIN accounts a ON a.id = c.redeemed_by
   ORDER BY c.id`;

@Injectable()
export class RedemptionRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /** All of them or none. */
  async insert(codes: readonly NewCodeRow[]): Promise<void> {
    await this.dataSource.getRepository(RedemptionCodeEntity).insert([...codes]);
  }

  async list(): Promise<readonly ListedCode[]> {
    const rows = await this.dataSource.query<(Omit<ListedCode, 'amount'> & { readonly amount: string })[]>(LIST);
    return rows.map((row) => ({ ...row, amount: nanos(BigInt(row.amount)) }));
  }

  /** Held until the transaction ends: whoever else tries this code waits, and finds it as it is then. */
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
