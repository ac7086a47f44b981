import { type Nanos, nanos } from '../platform/shared/index.js';
import type { Query } from '../usage/index.js';
import type { LedgerEntryKind } from './wallet.entity.js';
import type { TopUpOrder, TopUpState } from './payments/top-up.js';

/** The order behind a row. */
export interface PaymentOfMovement extends Omit<TopUpOrder, 'accountId' | 'takenBack' | 'paidAt'> {
  /** Whether the row is the order itself, paid or not, rather than a reversal. */
  readonly isOrder: boolean;
}

/**
 * A movement of a wallet other than a call: credits, codes, payments, debits, refunds, debt payments; and pending
 * payments.
 */
export interface Movement {
  /** ID of the ledger entry, or of the order if nothing was moved. */
  readonly id: string;
  readonly at: Date;
  readonly kind: Exclude<LedgerEntryKind, 'calls'>;
  readonly reason: string;
  /** Change of the balance. */
  readonly amount: Nanos;
  /** Amount of debt paid; negative: new debt. */
  readonly paidDebt: Nanos;
  /** Undefined: not a payment. */
  readonly payment: PaymentOfMovement | undefined;
  /** Time in microseconds: start of the next page. */
  readonly position: string;
}

/** Position in the list: the next page begins after it. */
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

/** Rows between a position and a time, newest first; used by both parts of the list. */
const BOUNDS = (at: string, id: string): string => `
     AND ($2::timestamptz IS NULL OR (${at}, ${id}) < ($2, $3::text))
     AND ($4::timestamptz IS NULL OR ${at} >= $4)
   ORDER BY ${at} DESC, ${id} DESC LIMIT $5::integer`;

/** The order of a row. For the entry that paid the order, the reason is its name only. */
const ORDER = (isOrder: string): string => `
         t.id AS "orderId", t.state AS "orderState", t.reason AS "orderReason", t.reference AS "orderReference",
         t.payment AS "orderPayment", t.address AS "orderAddress", t.amount AS "orderAmount",
         t.created_at AS "orderCreatedAt", ${isOrder} AS "isOrder"`;

/** Reads the list of movements, which is small beside the ledger lines of calls, plus unpaid orders. */
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

/** Movements at or after a position. */
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

/** Total change of a wallet by the movement at a position and all later ones. */
export async function movedSince(query: Query, accountId: string, place: TopUpPosition): Promise<bigint> {
  const [row] = await query<{ sum: string }>(MOVED_SINCE, [accountId, ...place]);
  return BigInt(row?.sum ?? 0);
}
