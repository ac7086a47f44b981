import { Injectable } from '@nestjs/common';
import { addDays, dayOf, type Nanos, nanos, startOfDay, ZERO } from '../platform/shared/index.js';
import { type Query, type UsageDay, UsageDays } from '../usage/index.js';
import type { TopUpOrder, TopUpState } from './payments/top-up.js';
import type { LedgerEntryKind } from './wallet.entity.js';
import { WalletNotFound } from './wallet.errors.js';
import type { WalletBalance } from './wallet.service.js';

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

/** A day with the balance at its end. */
export interface ConsumptionDay extends UsageDay {
  readonly balanceAfter: Nanos;
}

/** A movement with the balance right after it. */
export interface TopUp extends Movement {
  readonly balanceAfter: Nanos;
}

export interface TopUpPage {
  readonly topUps: readonly TopUp[];
  readonly older: TopUpPosition | undefined;
}

export interface ConsumptionPage {
  readonly days: readonly ConsumptionDay[];
  /** End of the next page; undefined: there is none. */
  readonly before: Date | undefined;
}

/** Balance at a moment. */
export interface BalanceAt {
  readonly at: Date;
  readonly balance: Nanos;
}

const HISTORY_DAYS = 30;
const PACE_DAYS = 14;
const MIN_DAYS = 3;

/** Later than any call. */
const END = new Date(Date.UTC(2200, 0));
/** Days per query. */
const DAYS = 14;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * History of a balance: top-ups less calls, both counted back from the current balance. A call counts at its start,
 * everywhere, so that days match the usage log.
 */
@Injectable()
export class WalletStatement {
  constructor(private readonly usage: UsageDays) {}

  /** @throws WalletNotFound */
  async balance(query: Query, accountId: string): Promise<WalletBalance> {
    const [row] = await query<Record<'balance' | 'held' | 'owed', string> & { holds: number }>(
      'SELECT balance, held, holds, owed FROM wallets WHERE account_id = $1',
      [accountId],
    );
    if (row === undefined) throw new WalletNotFound(accountId);
    const amount = (text: string): Nanos => nanos(BigInt(text));
    return { balance: amount(row.balance), held: amount(row.held), holds: row.holds, owed: amount(row.owed) };
  }

  /** Newest first. @param before position of the previous page's last row */
  async topUps(query: Query, accountId: string, before: TopUpPosition | undefined, size: number): Promise<TopUpPage> {
    const found = await movements(query, accountId, { before, limit: size + 1 });
    const page = found.slice(0, size);
    const after = await this.balanceBehind(query, accountId, before);
    const topUps = await this.withBalances(query, accountId, page, after);
    const last = page.at(-1);
    return { topUps, older: found.length > size && last ? [last.position, last.id] : undefined };
  }

  /** Days with calls in the two weeks before a moment, newest first; if there are none, in the last two weeks with calls. */
  async consumption(query: Query, accountId: string, timeZone: string, before = END): Promise<ConsumptionPage> {
    const last = await this.usage.lastBefore(query, accountId, before);
    if (last === undefined) return { days: [], before: undefined };
    const from = startOfDay(addDays(dayOf(last, timeZone), 1 - DAYS), timeZone);
    const days = await this.usage.days(query, accountId, timeZone, from, before);
    const [moved, newer, { balance }] = [
      await movements(query, accountId, { since: from }),
      await this.usage.costs(query, accountId, [{ from: before, to: END }]),
      await this.balance(query, accountId),
    ];
    const older = await this.usage.lastBefore(query, accountId, from);
    return {
      days: endsOfDays(timeZone, days, moved, nanos(balance + (newer[0] ?? ZERO))),
      before: older && from,
    };
  }

  /** Balance at each midnight of the last 30 days, and now; oldest first. */
  async history(query: Query, accountId: string, timeZone: string, now: Date): Promise<readonly BalanceAt[]> {
    const { balance } = await this.balance(query, accountId);
    const today = dayOf(now, timeZone);
    const midnights = Array.from({ length: HISTORY_DAYS + 1 }, (_, index) =>
      startOfDay(addDays(today, index - HISTORY_DAYS), timeZone),
    );
    const from = midnights[0] ?? now;
    const days = await this.usage.days(query, accountId, timeZone, from, END);
    const moved = await movements(query, accountId, { since: from });
    const points = midnights.map((at) => {
      const spent = days.filter(({ start }) => start >= at).reduce((sum, { cost }) => sum + cost, 0n);
      const gained = moved.filter((movement) => movement.at >= at).reduce((sum, { amount }) => sum + amount, 0n);
      return { at, balance: nanos(balance + spent - gained) };
    });
    const begun = points.findIndex((point) => point.balance !== 0n);
    return [...(begun < 0 ? [] : points.slice(begun)), { at: now, balance }];
  }

  /** Average spending per day over the last 14 days or since the first call; undefined during the first three days. */
  async pace(query: Query, accountId: string, now: Date): Promise<Nanos | undefined> {
    const first = await this.usage.first(query, accountId);
    if (first === undefined || now.getTime() - first.getTime() < MIN_DAYS * DAY_MS) return undefined;
    const from = new Date(Math.max(first.getTime(), now.getTime() - PACE_DAYS * DAY_MS));
    const [spent = ZERO] = await this.usage.costs(query, accountId, [{ from, to: END }]);
    return nanos((spent * BigInt(DAY_MS)) / BigInt(now.getTime() - from.getTime()));
  }

  /** Balance right after the first movement behind a position: the current balance less all later changes. */
  private async balanceBehind(
    query: Query,
    accountId: string,
    before: TopUpPosition | undefined,
  ): Promise<{ readonly balance: Nanos; readonly at: Date }> {
    const { balance } = await this.balance(query, accountId);
    if (before === undefined) return { balance, at: END };
    const at = new Date(before[0]);
    const [cost = ZERO] = await this.usage.costs(query, accountId, [{ from: at, to: END }]);
    return { balance: nanos(balance + cost - (await movedSince(query, accountId, before))), at };
  }

  private async withBalances(
    query: Query,
    accountId: string,
    page: readonly Movement[],
    { balance, at }: { readonly balance: Nanos; readonly at: Date },
  ): Promise<readonly TopUp[]> {
    const spans = page.map((movement, index) => ({ from: movement.at, to: page[index - 1]?.at ?? at }));
    const costs = await this.usage.costs(query, accountId, spans);
    let left: bigint = balance;
    return page.map((movement, index) => {
      left += costs[index] ?? 0n;
      const balanceAfter = nanos(left);
      left -= movement.amount;
      return { ...movement, balanceAfter };
    });
  }
}

/** Balance at the end of each day, newest first. @param atEnd balance at the end of the newest day */
function endsOfDays(
  timeZone: string,
  days: readonly UsageDay[],
  moved: readonly Movement[],
  atEnd: Nanos,
): readonly ConsumptionDay[] {
  let taken = 0n;
  return days.map((day) => {
    const end = startOfDay(addDays(dayOf(day.start, timeZone), 1), timeZone);
    const gained = moved.filter(({ at }) => at >= end).reduce((sum, { amount }) => sum + amount, 0n);
    const balanceAfter = nanos(atEnd - gained + taken);
    taken += day.cost;
    return { ...day, balanceAfter };
  });
}
