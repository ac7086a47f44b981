import { Injectable } from '@nestjs/common';
import { type Nanos, nanos, ZERO } from '../shared/index.js';
import { type Query, type UsageDay, UsageDays } from '../usage/index.js';
import type { LedgerEntryKind } from './ledger.entity.js';
import type { WalletBalance } from './wallet.service.js';
import { WalletNotFound } from './wallet.errors.js';

/** What moved a wallet other than a call: credits, codes, debits, refunds, and what paid a debt. */
export interface TopUp {
  /** Of the ledger entry. */
  readonly id: string;
  readonly at: Date;
  readonly kind: Exclude<LedgerEntryKind, 'calls'>;
  readonly reason: string;
  /** What the balance gained; negative: lost. */
  readonly amount: Nanos;
  /** What was paid of the account's debt; negative: the debt grew by that. */
  readonly paidDebt: Nanos;
  readonly balanceAfter: Nanos;
}

/** A day with what was left at its end. */
export interface ConsumptionDay extends UsageDay {
  readonly balanceAfter: Nanos;
}

/** Where a page of top-ups begins: behind one of them. */
export type TopUpPosition = readonly [at: string, id: string];

export interface TopUpPage {
  readonly topUps: readonly TopUp[];
  readonly older: TopUpPosition | undefined;
}

export interface ConsumptionPage {
  readonly days: readonly ConsumptionDay[];
  /** The days of the next page begin before this; undefined: there are none. */
  readonly before: Date | undefined;
}

interface Movement extends Omit<TopUp, 'balanceAfter'> {
  readonly position: string;
}

/** What was there at a moment. */
export interface BalanceAt {
  readonly at: Date;
  readonly balance: Nanos;
}

const HISTORY_DAYS = 30;
const PACE_DAYS = 14;
const LEAST_DAYS = 3;

/** After every call there is. */
const END = new Date(Date.UTC(2200, 0));
/** So many days are read at once. */
const DAYS = 31;
const DAY_MS = 24 * 60 * 60 * 1000;

/**
 * Where the balance of a wallet comes from: top-ups less what calls took, both counted back from what it is now. What a
 * call took counts from when it began, everywhere, so that a day here is the same day in the log of calls.
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

  /** Newest first. @param before begins behind this one */
  async topUps(query: Query, accountId: string, before: TopUpPosition | undefined, size: number): Promise<TopUpPage> {
    const found = await movements(query, accountId, { before, limit: size + 1 });
    const shown = found.slice(0, size);
    const after = await this.balanceBehind(query, accountId, before);
    const topUps = await this.withBalances(query, accountId, shown, after);
    const last = shown.at(-1);
    return { topUps, older: found.length > size && last ? [last.position, last.id] : undefined };
  }

  /** Days with calls in the month before a moment, newest first; where that month has none, in the last that has. */
  async consumption(query: Query, accountId: string, timeZone: string, before = END): Promise<ConsumptionPage> {
    const last = await this.usage.lastBefore(query, accountId, before);
    if (last === undefined) return { days: [], before: undefined };
    const from = await midnight(query, timeZone, new Date(last.getTime() - (DAYS - 1) * DAY_MS));
    const days = await this.usage.days(query, accountId, timeZone, from, before);
    const [moved, newer, { balance }] = [
      await movements(query, accountId, { since: from }),
      await this.usage.costs(query, accountId, [{ from: before, to: END }]),
      await this.balance(query, accountId),
    ];
    const older = await this.usage.lastBefore(query, accountId, from);
    return {
      days: await endsOfDays(query, timeZone, days, moved, nanos(balance + (newer[0] ?? ZERO))),
      before: older && from,
    };
  }

  /** What was left at every midnight of the last 30 days since there was anything, and is now; oldest first. */
  async history(query: Query, accountId: string, timeZone: string, now: Date): Promise<readonly BalanceAt[]> {
    const { balance } = await this.balance(query, accountId);
    const midnights = await lastMidnights(query, timeZone, now);
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

  /** What was spent a day, on average over the last 14 days or since the first call; undefined in its first three days. */
  async pace(query: Query, accountId: string, now: Date): Promise<Nanos | undefined> {
    const first = await this.usage.first(query, accountId);
    if (first === undefined || now.getTime() - first.getTime() < LEAST_DAYS * DAY_MS) return undefined;
    const from = new Date(Math.max(first.getTime(), now.getTime() - PACE_DAYS * DAY_MS));
    const [spent = ZERO] = await this.usage.costs(query, accountId, [{ from, to: END }]);
    return nanos((spent * BigInt(DAY_MS)) / BigInt(now.getTime() - from.getTime()));
  }

  /** What was left right after the first of the movements behind a place: as of now, less all that came after it. */
  private async balanceBehind(
    query: Query,
    accountId: string,
    before: TopUpPosition | undefined,
  ): Promise<{ readonly balance: Nanos; readonly at: Date }> {
    const { balance } = await this.balance(query, accountId);
    if (before === undefined) return { balance, at: END };
    const at = new Date(before[0]);
    const [cost = ZERO] = await this.usage.costs(query, accountId, [{ from: at, to: END }]);
    const [row] = await query<{ sum: string }>(MOVED_SINCE, [accountId, ...before]);
    return { balance: nanos(balance + cost - BigInt(row?.sum ?? 0)), at };
  }

  private async withBalances(
    query: Query,
    accountId: string,
    shown: readonly Movement[],
    { balance, at }: { readonly balance: Nanos; readonly at: Date },
  ): Promise<readonly TopUp[]> {
    const spans = shown.map((movement, index) => ({ from: movement.at, to: shown[index - 1]?.at ?? at }));
    const costs = await this.usage.costs(query, accountId, spans);
    let left: bigint = balance;
    return shown.map(({ position: _, ...movement }, index) => {
      left += costs[index] ?? 0n;
      const balanceAfter = nanos(left);
      left -= movement.amount;
      return { ...movement, balanceAfter };
    });
  }
}

/** What was left at the end of each day, newest first. @param atEnd what was left when the newest of them was over */
async function endsOfDays(
  query: Query,
  timeZone: string,
  days: readonly UsageDay[],
  moved: readonly Movement[],
  atEnd: Nanos,
): Promise<readonly ConsumptionDay[]> {
  const ends = await nextMidnights(
    query,
    timeZone,
    days.map(({ start }) => start),
  );
  let taken = 0n;
  return days.map((day, index) => {
    const end = ends[index] ?? END;
    const movedSince = moved.filter(({ at }) => at >= end).reduce((sum, { amount }) => sum + amount, 0n);
    const balanceAfter = nanos(atEnd - movedSince + taken);
    taken += day.cost;
    return { ...day, balanceAfter };
  });
}

/** The beginning of the day that a moment lies in, where the reader is. */
async function midnight(query: Query, timeZone: string, moment: Date): Promise<Date> {
  const [row] = await query<{ at: Date }>(`SELECT date_trunc('day', $1::timestamptz, $2::text) AS at`, [
    moment.toISOString(),
    timeZone,
  ]);
  return row?.at ?? moment;
}

async function lastMidnights(query: Query, timeZone: string, now: Date): Promise<readonly Date[]> {
  const rows = await query<{ at: Date }>(
    `SELECT (date_trunc('day', $1::timestamptz AT TIME ZONE $2::text) - make_interval(days => d)) AT TIME ZONE $2::text AS at
       FROM generate_series($3::integer, 0, -1) AS s (d)`,
    [now.toISOString(), timeZone, HISTORY_DAYS],
  );
  return rows.map(({ at }) => at);
}

async function nextMidnights(query: Query, timeZone: string, days: readonly Date[]): Promise<readonly Date[]> {
  const rows = await query<{ at: Date }>(
    `SELECT ((date_trunc('day', d AT TIME ZONE $2::text) + interval '1 day') AT TIME ZONE $2::text) AS at
       FROM unnest($1::timestamptz[]) WITH ORDINALITY AS t (d, place) ORDER BY place`,
    [days.map((day) => day.toISOString()), timeZone],
  );
  return rows.map(({ at }) => at);
}

interface MovementBounds {
  readonly before?: TopUpPosition | undefined;
  readonly since?: Date;
  readonly limit?: number;
}

/** By the index of entries that are none of calls: those are few, beside the many of calls that lie between them. */
const MOVEMENTS = `
  SELECT e.id, e.created_at AS at, e.kind, e.reason, coalesce(w.amount, 0) AS amount,
         coalesce(o.amount, 0) AS "paidDebt",
         to_char(e.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS position
    FROM ledger_entries e
    LEFT JOIN ledger_lines w ON w.entry_id = e.id AND w.ledger_account = 'wallet:' || $1
    LEFT JOIN ledger_lines o ON o.entry_id = e.id AND o.ledger_account = 'owed:' || $1
   WHERE e.kind <> 'calls' AND (w.entry_id IS NOT NULL OR o.entry_id IS NOT NULL)
     AND ($2::timestamptz IS NULL OR (e.created_at, e.id) < ($2, $3::text))
     AND ($4::timestamptz IS NULL OR e.created_at >= $4)
   ORDER BY e.created_at DESC, e.id DESC LIMIT $5::integer`;

/** What moved a wallet at a place or after it. */
const MOVED_SINCE = `
  SELECT coalesce(sum(w.amount), 0) AS sum
    FROM ledger_entries e JOIN ledger_lines w ON w.entry_id = e.id AND w.ledger_account = 'wallet:' || $1
   WHERE e.kind <> 'calls' AND (e.created_at, e.id) >= ($2::timestamptz, $3::text)`;

async function movements(
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
