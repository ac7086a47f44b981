import { type Nanos, nanos } from '../shared/index.js';
import type { Query } from '../usage/index.js';
import type { LedgerEntryKind } from './ledger.entity.js';

/** What moved a wallet other than a call: credits, codes, debits, refunds, and what paid a debt. */
export interface Movement {
  /** Of the ledger entry. */
  readonly id: string;
  readonly at: Date;
  readonly kind: Exclude<LedgerEntryKind, 'calls'>;
  readonly reason: string;
  /** What the balance gained; negative: lost. */
  readonly amount: Nanos;
  /** What was paid of the account's debt; negative: the debt grew by that. */
  readonly paidDebt: Nanos;
  /** When, to the microsecond: where the next page begins. */
  readonly position: string;
}

/** Where a page of top-ups begins: behind one of them. */
export type TopUpPosition = readonly [at: string, id: string];

interface MovementBounds {
  readonly before?: TopUpPosition | undefined;
  readonly since?: Date;
  readonly limit?: number;
}

/** From the list of what moved each wallet: few rows, beside the many lines of calls that lie between them. */
const MOVEMENTS = `
  SELECT e.id, e.created_at AS at, e.kind, e.reason, coalesce(w.amount, 0) AS amount,
         coalesce(o.amount, 0) AS "paidDebt",
         to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM wallet_movements m JOIN ledger_entries e ON e.id = m.entry_id
    LEFT JOIN ledger_lines w ON w.entry_id = e.id AND w.ledger_account = 'wallet:' || $1
    LEFT JOIN ledger_lines o ON o.entry_id = e.id AND o.ledger_account = 'owed:' || $1
   WHERE m.account_id = $1
     AND ($2::timestamptz IS NULL OR (m.created_at, m.entry_id) < ($2, $3::text))
     AND ($4::timestamptz IS NULL OR m.created_at >= $4)
   ORDER BY m.created_at DESC, m.entry_id DESC LIMIT $5::integer`;

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
  const rows = await query<Omit<Movement, 'amount' | 'paidDebt'> & Record<'amount' | 'paidDebt', string>>(MOVEMENTS, [
    accountId,
    before?.[0] ?? null,
    before?.[1] ?? null,
    since?.toISOString() ?? null,
    limit ?? null,
  ]);
  return rows.map(({ amount, paidDebt, ...row }) => ({
    ...row,
    amount: nanos(BigInt(amount)),
    paidDebt: nanos(BigInt(paidDebt)),
  }));
}

/** What a wallet gained by the movement at a place and by all after it. */
export async function movedSince(query: Query, accountId: string, place: TopUpPosition): Promise<bigint> {
  const [row] = await query<{ sum: string }>(MOVED_SINCE, [accountId, ...place]);
  return BigInt(row?.sum ?? 0);
}
