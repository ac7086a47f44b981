import { Injectable } from '@nestjs/common';
import { addDays, dayOf, type Nanos, nanos, startOfDay, ZERO } from '../platform/shared/index.js';
import { type Query, type UsageDay, UsageDays } from '../usage/index.js';
import type { WalletBalance } from './wallet.service.js';
import { WalletNotFound } from './wallet.errors.js';
import { type Movement, movedSince, movements, type TopUpPosition } from './wallet-movements.js';

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
const DAYS = 31;
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
    const shown = found.slice(0, size);
    const after = await this.balanceBehind(query, accountId, before);
    const topUps = await this.withBalances(query, accountId, shown, after);
    const last = shown.at(-1);
    return { topUps, older: found.length > size && last ? [last.position, last.id] : undefined };
  }

  /** Days with calls in the month before a moment, newest first; if there are none, in the last month with calls. */
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
    shown: readonly Movement[],
    { balance, at }: { readonly balance: Nanos; readonly at: Date },
  ): Promise<readonly TopUp[]> {
    const spans = shown.map((movement, index) => ({ from: movement.at, to: shown[index - 1]?.at ?? at }));
    const costs = await this.usage.costs(query, accountId, spans);
    let left: bigint = balance;
    return shown.map((movement, index) => {
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
