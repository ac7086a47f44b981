import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS } from '../../platform/database/index.js';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import { PROVIDER, CURRENCY, type TopUpState, type TopUpOrder } from './top-up.js';

type OrderRow = Omit<TopUpOrder, 'amount' | 'takenBack'> & Record<'amount' | 'takenBack', string>;

/** Closed here, but possibly still payable at the provider. */
export type ClosedOrder = Pick<TopUpOrder, 'id' | 'reference'>;

const ORDERS = `
  SELECT id, account_id AS "accountId", reference, payment, address, amount, state, reason, taken_back AS "takenBack",
         created_at AS "createdAt", paid_at AS "paidAt" FROM top_ups`;

const INSERT = `
  INSERT INTO top_ups (id, account_id, provider, amount, currency, created_at, changed_at)
  VALUES ($1, $2, '${PROVIDER}', $3, '${CURRENCY}', $4, $4)`;

const LOCK_ACCOUNT = `SELECT 1 FROM accounts WHERE id = $1 AND state <> 'deleted' FOR NO KEY UPDATE`;

const UNPAID = `
  SELECT count(*)::integer AS orders FROM top_ups WHERE account_id = $1 AND created_at > $2 AND paid_at IS NULL`;

const OPEN = `
  UPDATE top_ups SET state = 'pending', reference = $2, address = $3, changed_at = $4
   WHERE id = $1 AND state = 'created' RETURNING id`;

/** Closes an order; its payment URL is deleted. */
const CLOSE = `
  UPDATE top_ups SET state = $2, reason = CASE WHEN $3 = '' THEN reason ELSE $3 END, address = NULL, changed_at = $4
   WHERE id = $1 AND state IN ('created', 'pending')`;

/** Only while the provider has not reported a session for it. */
const CLOSE_UNOPENED = `
  UPDATE top_ups SET state = 'failed', reason = $2, changed_at = $3 WHERE id = $1 AND state = 'created' RETURNING id`;

const CLOSE_ALL = `
  UPDATE top_ups SET state = 'expired', reason = $2, address = NULL, changed_at = $3
   WHERE account_id = $1 AND state IN ('created', 'pending') RETURNING id, reference`;

const NOTE_REASON = `UPDATE top_ups SET reason = $2, changed_at = $3 WHERE id = $1 AND state = 'pending'`;

const BIND = `
  UPDATE top_ups SET reference = coalesce(reference, $2), payment = coalesce($3, payment), changed_at = $4,
         state = CASE state WHEN 'created' THEN 'pending' ELSE state END
   WHERE id = $1`;

const MARK_PAID = `
  UPDATE top_ups SET state = 'paid', paid_at = $2, reason = '', address = NULL, changed_at = $2 WHERE id = $1`;

const STAND = 'UPDATE top_ups SET state = $2, taken_back = $3, changed_at = $4 WHERE id = $1';

/** Orders and their ledger entries. */
@Injectable()
export class TopUpRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /**
   * Serializes starting payments and deleting the account, until the transaction ends. Taken before locking orders, in
   * the order of a deletion. Locks a row of `accounts`, which auth writes. @returns whether the account exists
   */
  async lockAccount(accountId: string, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(LOCK_ACCOUNT, [accountId])).length > 0;
  }

  async insert(id: string, accountId: string, amount: Nanos, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(INSERT, [id, accountId, amount, at]);
  }

  /** Number of unpaid orders created since a time. */
  async unpaidSince(accountId: string, since: Date, manager: EntityManager): Promise<number> {
    const [row] = await manager.query<{ orders: number }[]>(UNPAID, [accountId, since]);
    return row?.orders ?? 0;
  }

  /**
   * Makes the order payable.
   * @param reference ID of the session
   * @param address payment URL
   * @returns false if it was closed meanwhile
   */
  async open(id: string, reference: string, address: string, at: Date): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(OPEN, [id, reference, address, at]);
    return rows.length > 0;
  }

  /** An order of this account; undefined: none. */
  async find(accountId: string, id: string): Promise<TopUpOrder | undefined> {
    return (await this.orders(this.dataSource.manager, 'WHERE account_id = $1 AND id = $2', [accountId, id]))[0];
  }

  /** Orders created since a time. */
  since(from: Date): Promise<readonly TopUpOrder[]> {
    return this.orders(this.dataSource.manager, 'WHERE created_at >= $1 ORDER BY created_at', [from]);
  }

  async byId(id: string): Promise<TopUpOrder | undefined> {
    return (await this.orders(this.dataSource.manager, 'WHERE id = $1', [id]))[0];
  }

  /** The order of a payment. */
  async byPayment(payment: string): Promise<TopUpOrder | undefined> {
    const where = `WHERE provider = '${PROVIDER}' AND payment = $1`;
    return (await this.orders(this.dataSource.manager, where, [payment]))[0];
  }

  /** Serializes facts about the same payment across processes. */
  async lockPayment(payment: string, manager: EntityManager): Promise<void> {
    await manager.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
      ADVISORY_LOCKS.payment,
      `${PROVIDER} ${payment}`,
    ]);
  }

  /** Locked until the transaction ends. Always before its wallet, to avoid deadlocks. */
  async lock(id: string, manager: EntityManager): Promise<TopUpOrder | undefined> {
    return (await this.orders(manager, 'WHERE id = $1 FOR UPDATE', [id]))[0];
  }

  /** The same by payment. */
  async lockByPayment(payment: string, manager: EntityManager): Promise<TopUpOrder | undefined> {
    const where = `WHERE provider = '${PROVIDER}' AND payment = $1 FOR UPDATE`;
    return (await this.orders(manager, where, [payment]))[0];
  }

  /** Closes an order without a payment; no effect on one that has ended. @param reason empty: keep the previous one */
  async close(
    id: string,
    state: 'failed' | 'expired',
    reason: string,
    at: Date,
    manager = this.dataSource.manager,
  ): Promise<void> {
    await manager.query(CLOSE, [id, state, reason, at]);
  }

  /** Closes an order without a reported session. @returns whether it was still in that state */
  async closeUnopened(id: string, reason: string, at: Date): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(CLOSE_UNOPENED, [id, reason, at]);
    return rows.length > 0;
  }

  /** Closes all payable orders of an account. @returns them */
  async closeAll(accountId: string, reason: string, at: Date, manager: EntityManager): Promise<readonly ClosedOrder[]> {
    return (await manager.query<[ClosedOrder[], number]>(CLOSE_ALL, [accountId, reason, at]))[0];
  }

  async noteReason(id: string, reason: string, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(NOTE_REASON, [id, reason, at]);
  }

  /** Stores the provider's IDs. */
  async bind(id: string, reference: string, payment: string | null, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(BIND, [id, reference, payment, at]);
  }

  async markPaid(id: string, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(MARK_PAID, [id, at]);
  }

  async setState(id: string, state: TopUpState, takenBack: Nanos, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(STAND, [id, state, takenBack, at]);
  }

  async noteEntry(id: string, entryId: string, manager: EntityManager): Promise<void> {
    await manager.query('INSERT INTO top_up_entries (entry_id, top_up_id) VALUES ($1, $2)', [entryId, id]);
  }

  private async orders(
    manager: EntityManager,
    where: string,
    values: readonly unknown[],
  ): Promise<readonly TopUpOrder[]> {
    const rows = await manager.query<OrderRow[]>(`${ORDERS} ${where}`, [...values]);
    return rows.map((row) => ({
      ...row,
      amount: nanos(BigInt(row.amount)),
      takenBack: nanos(BigInt(row.takenBack)),
    }));
  }
}
