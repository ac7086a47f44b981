import { Injectable } from '@nestjs/common';
import { DataSource, type EntityManager } from 'typeorm';
import { ADVISORY_LOCKS } from '../../platform/database/index.js';
import { type Nanos, nanos } from '../../platform/shared/index.js';
import { PROVIDER, CURRENCY, type TopUpState, type TopUpOrder } from './top-up.js';

type OrderRow = Omit<TopUpOrder, 'amount' | 'takenBack'> & Record<'amount' | 'takenBack', string>;

/** What can be paid no more here, and could be at the provider. */
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

/** Nothing comes of it any more; an address where nothing can be paid is not kept. */
const CLOSE = `
  UPDATE top_ups SET state = $2, reason = CASE WHEN $3 = '' THEN reason ELSE $3 END, address = NULL, changed_at = $4
   WHERE id = $1 AND state IN ('created', 'pending')`;

/** Of an order that the provider has told of meanwhile it is known what becomes of it. */
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

/** Orders of money, and which ledger entries they led to. */
@Injectable()
export class TopUpRepository {
  constructor(private readonly dataSource: DataSource) {}

  transaction<T>(work: (manager: EntityManager) => Promise<T>): Promise<T> {
    return this.dataSource.transaction(work);
  }

  /**
   * Has whoever else begins a payment of an account, or deletes it, wait until the transaction ends. Before its orders, as
   * a deletion has it. Locks a row of `accounts`, which auth writes. @returns whether there is such an account
   */
  async lockAccount(accountId: string, manager: EntityManager): Promise<boolean> {
    return (await manager.query<unknown[]>(LOCK_ACCOUNT, [accountId])).length > 0;
  }

  async insert(id: string, accountId: string, amount: Nanos, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(INSERT, [id, accountId, amount, at]);
  }

  /** How many an account has begun since a time and not paid. */
  async unpaidSince(accountId: string, since: Date, manager: EntityManager): Promise<number> {
    const [row] = await manager.query<{ orders: number }[]>(UNPAID, [accountId, since]);
    return row?.orders ?? 0;
  }

  /**
   * People can pay it now.
   * @param reference of the provider's checkout
   * @param address where they pay
   * @returns false where it was closed meanwhile, and stays so
   */
  async open(id: string, reference: string, address: string, at: Date): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(OPEN, [id, reference, address, at]);
    return rows.length > 0;
  }

  /** An order of this account; undefined: there is none of it. */
  async find(accountId: string, id: string): Promise<TopUpOrder | undefined> {
    return (await this.orders(this.dataSource.manager, 'WHERE account_id = $1 AND id = $2', [accountId, id]))[0];
  }

  /** Those made from a time on. */
  since(from: Date): Promise<readonly TopUpOrder[]> {
    return this.orders(this.dataSource.manager, 'WHERE created_at >= $1 ORDER BY created_at', [from]);
  }

  async byId(id: string): Promise<TopUpOrder | undefined> {
    return (await this.orders(this.dataSource.manager, 'WHERE id = $1', [id]))[0];
  }

  /** The one that a payment was made for. */
  async byPayment(payment: string): Promise<TopUpOrder | undefined> {
    const where = `WHERE provider = '${PROVIDER}' AND payment = $1`;
    return (await this.orders(this.dataSource.manager, where, [payment]))[0];
  }

  /** Whoever is told of the same payment at once, as another event of another process, waits until this is done. */
  async lockPayment(payment: string, manager: EntityManager): Promise<void> {
    await manager.query('SELECT pg_advisory_xact_lock($1, hashtext($2))', [
      ADVISORY_LOCKS.payment,
      `${PROVIDER} ${payment}`,
    ]);
  }

  /** Held until the transaction ends. Before its wallet, everywhere: so nobody waits for each other. */
  async lock(id: string, manager: EntityManager): Promise<TopUpOrder | undefined> {
    return (await this.orders(manager, 'WHERE id = $1 FOR UPDATE', [id]))[0];
  }

  /** The same of the order that a payment was made for. */
  async lockByPayment(payment: string, manager: EntityManager): Promise<TopUpOrder | undefined> {
    const where = `WHERE provider = '${PROVIDER}' AND payment = $1 FOR UPDATE`;
    return (await this.orders(manager, where, [payment]))[0];
  }

  /** Nothing comes of an order; nothing happens to one that has ended. @param reason empty: what was said before */
  async close(
    id: string,
    state: 'failed' | 'expired',
    reason: string,
    at: Date,
    manager = this.dataSource.manager,
  ): Promise<void> {
    await manager.query(CLOSE, [id, state, reason, at]);
  }

  /** Nothing comes of an order whose checkout nobody has told of. @returns whether it is such a one still */
  async closeUnopened(id: string, reason: string, at: Date): Promise<boolean> {
    const [rows] = await this.dataSource.query<[unknown[], number]>(CLOSE_UNOPENED, [id, reason, at]);
    return rows.length > 0;
  }

  /** Nothing comes of all that an account could still pay. @returns those */
  async closeAll(accountId: string, reason: string, at: Date, manager: EntityManager): Promise<readonly ClosedOrder[]> {
    return (await manager.query<[ClosedOrder[], number]>(CLOSE_ALL, [accountId, reason, at]))[0];
  }

  async noteReason(id: string, reason: string, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(NOTE_REASON, [id, reason, at]);
  }

  /** What the provider calls it: it has told of it. */
  async bind(id: string, reference: string, payment: string | null, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(BIND, [id, reference, payment, at]);
  }

  async markPaid(id: string, at: Date, manager: EntityManager): Promise<void> {
    await manager.query(MARK_PAID, [id, at]);
  }

  async stand(id: string, state: TopUpState, takenBack: Nanos, at: Date, manager: EntityManager): Promise<void> {
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
