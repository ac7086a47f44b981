import { type Nanos, nanos } from '../platform/shared/index.js';
import type { Query } from '../usage/index.js';
import type { LedgerEntryKind } from './wallet.entity.js';
import type { TopUpOrder, TopUpState } from './payments/top-up.js';

/** What a row has to do with an order that is paid through a provider. */
export interface PaymentOfMovement extends Omit<TopUpOrder, 'accountId' | 'takenBack' | 'paidAt'> {
  /** Whether the row is the order itself, paid or not; otherwise what was taken or given back of it. */
  readonly isOrder: boolean;
}

/** What moved a wallet other than a call, or is to: credits, codes, payments, debits, refunds, and what paid a debt. */
export interface Movement {
  /** Of the ledger entry; of a payment that has moved nothing, of its order. */
  readonly id: string;
  readonly at: Date;
  readonly kind: Exclude<LedgerEntryKind, 'calls'>;
  readonly reason: string;
  /** What the balance gained; negative: lost. */
  readonly amount: Nanos;
  /** What was paid of the account's debt; negative: the debt grew by that. */
  readonly paidDebt: Nanos;
  /** The order that this is of, or that is behind it; undefined: there is none. */
  readonly payment: PaymentOfMovement | undefined;
  /** When, to the microsecond: where the next page begins. */
  readonly position: string;
}

/** Where a page of top-ups begins: behind one of them. */
export type TopUpPosition = readonly [at: string, id: string];

type MovementRow = Omit<Movement, 'amount' | 'paidDebt' | 'payment'> &
  Record<'amount' | 'paidDebt', string> &
  Record<
    'orderId' | 'orderReason' | 'orderReference' | 'orderPayment' | 'orderAddress' | 'orderAmount',
    string | null
  > & {
    readonly orderState: TopUpState | null;
    readonly orderCreatedAt: Date | null;
    readonly isOrder: boolean;
  };

interface MovementBounds {
  readonly before?: TopUpPosition | undefined;
  readonly since?: Date;
  readonly limit?: number;
}

/** What is between a place and a time, newest first: of both parts of the list alike. */
const BOUNDS = (at: string, id: string): string => `
     AND ($2::timestamptz IS NULL OR (${at}, ${id}) < ($2, $3::text))
     AND ($4::timestamptz IS NULL OR ${at} >= $4)
   ORDER BY ${at} DESC, ${id} DESC LIMIT $5::integer`;

/** The order that a row is of, if it is of one. Of the entry that it was paid by the reason is its name alone. */
const ORDER = (isOrder: string): string => `
         t.id AS "orderId", t.state AS "orderState", t.reason AS "orderReason", t.reference AS "orderReference",
         t.payment AS "orderPayment", t.address AS "orderAddress", t.amount AS "orderAmount",
         t.created_at AS "orderCreatedAt", ${isOrder} AS "isOrder"`;

/**
 * From the list of what moved each wallet: few rows, beside the many lines of calls that lie between them. With them the
 * orders of payments that have moved nothing, or not yet.
 */
const MOVEMENTS = `
  SELECT *, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position FROM (
   (SELECT e.id, e.created_at AS at, e.kind, e.reason, coalesce(w.amount, 0) AS amount,
           coalesce(o.amount, 0) AS "paidDebt", ${ORDER("coalesce(e.reason = 'Payment ' || t.id, false)")}
      FROM wallet_movements m JOIN ledger_entries e ON e.id = m.entry_id
      LEFT JOIN ledger_lines w ON w.entry_id = e.id AND w.ledger_account = 'wallet:' || $1
      LEFT JOIN ledger_lines o ON o.entry_id = e.id AND o.ledger_account = 'owed:' || $1
      LEFT JOIN top_up_entries te ON te.entry_id = e.id
      LEFT JOIN top_ups t ON t.id = te.top_up_id
     WHERE m.account_id = $1 ${BOUNDS('m.created_at', 'm.entry_id')})
   UNION ALL
   (SELECT t.id, t.created_at AS at, 'payment' AS kind, '' AS reason, 0 AS amount, 0 AS "paidDebt", ${ORDER('true')}
      FROM top_ups t
     WHERE t.account_id = $1 AND t.paid_at IS NULL ${BOUNDS('t.created_at', 't.id')})
  ) both_parts
  ORDER BY at DESC, id DESC LIMIT $5::integer`;

/** What moved a wallet at a place or after it. */
const MOVED_SINCE = `
  SELECT coalesce(sum(w.amount), 0) AS sum
    FROM wallet_movements m JOIN ledger_lines w ON w.entry_id = m.entry_id AND w.ledger_account = 'wallet:' || $1
   WHERE m.account_id = $1 AND (m.created_at, m.entry_id) >= ($2::timestamptz, $3::text)`;

/** Newest first. */
export async function movements(
  query: Query,
  accountId: string,
  { before, since, limit }: MovementBounds,
): Promise<readonly Movement[]> {
  const rows = await query<MovementRow>(MOVEMENTS, [
    accountId,
    before?.[0] ?? null,
    before?.[1] ?? null,
    since?.toISOString() ?? null,
    limit ?? null,
  ]);
  return rows.map((row) => ({
    id: row.id,
    at: row.at,
    kind: row.kind,
    reason: row.reason,
    amount: nanos(BigInt(row.amount)),
    paidDebt: nanos(BigInt(row.paidDebt)),
    payment: paymentIn(row),
    position: row.position,
  }));
}

const paymentIn = (row: MovementRow): PaymentOfMovement | undefined =>
  row.orderId === null || row.orderState === null || row.orderCreatedAt === null
    ? undefined
    : {
        id: row.orderId,
        state: row.orderState,
        reason: row.orderReason ?? '',
        reference: row.orderReference,
        payment: row.orderPayment,
        address: row.orderAddress,
        createdAt: row.orderCreatedAt,
        amount: nanos(BigInt(row.orderAmount ?? 0)),
        isOrder: row.isOrder,
      };

/** What a wallet gained by the movement at a place and by all after it. */
export async function movedSince(query: Query, accountId: string, place: TopUpPosition): Promise<bigint> {
  const [row] = await query<{ sum: string }>(MOVED_SINCE, [accountId, ...place]);
  return BigInt(row?.sum ?? 0);
}
