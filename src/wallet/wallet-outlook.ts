import { Injectable } from '@nestjs/common';
import { shortDay, usd } from '../platform/format/index.js';
import { Settings } from '../platform/settings/index.js';
import { type Nanos, nanos, ZERO } from '../platform/shared/index.js';
import { type Query, TimeLimitedReads } from '../usage/index.js';
import { remainingIn } from './allowance/allowance.repository.js';
import { WalletStatement } from './wallet-movements.js';
import { type WalletBalance, WalletService } from './wallet.service.js';

/** State of a wallet, and how long it will last. */
export interface Outlook {
  readonly wallet: WalletBalance;
  /** Spending per day; undefined during the first three days. */
  readonly pace: Nanos | undefined;
  readonly allowance: AllowanceOutlook | undefined;
  /** Whether the wallet was ever credited. */
  readonly everFunded: boolean;
  /** Whether it can be topped up by payment. */
  readonly payable: boolean;
}

@Injectable()
export class WalletOutlook {
  constructor(
    private readonly wallets: WalletService,
    private readonly statement: WalletStatement,
    private readonly reads: TimeLimitedReads,
    private readonly settings: Settings,
  ) {}

  /** @throws WalletNotFound */
  async of(accountId: string, now: Date): Promise<Outlook> {
    const [wallet, { pace, allowance }, everFunded] = await Promise.all([
      this.wallets.balanceOf(accountId),
      this.reads.read(async (query) => ({
        pace: await this.statement.pace(query, accountId, now),
        allowance: await allowanceOf(query, accountId),
      })),
      this.wallets.everFunded(accountId),
    ]);
    const payable = this.settings.current().payment.off === undefined;
    return { wallet, pace, allowance, everFunded, payable };
  }
}

/** This month's allowance. */
interface RunningAllowance {
  readonly granted: Nanos;
  /** Part of the wallet's balance. */
  readonly remaining: Nanos;
  /** When the rest expires. */
  readonly until: Date;
}

/** The monthly allowance of an account, and what remains. */
export interface AllowanceOutlook {
  /** 0: nothing after this month. */
  readonly monthly: Nanos;
  /** Undefined: none this month. */
  readonly running: RunningAllowance | undefined;
}

const READ = `
  SELECT a.amount AS monthly, m.granted, m.remaining, m.spent, m.wallet_balance AS "walletBalance", w.balance,
         (m.month + interval '1 month') AT TIME ZONE 'UTC' AS until
    FROM wallets w LEFT JOIN allowances a USING (account_id)
    LEFT JOIN allowance_months m ON m.account_id = w.account_id AND m.ended_at IS NULL
   WHERE w.account_id = $1 AND num_nonnulls(a.amount, m.month) > 0`;

type OutlookFigure = 'granted' | 'remaining' | 'spent' | 'walletBalance';
type OutlookRow = Readonly<Record<OutlookFigure, string | null>> & {
  readonly monthly: string | null;
  readonly balance: string;
  readonly until: Date | null;
};

/** Undefined: the account has no allowance. */
export async function allowanceOf(query: Query, accountId: string): Promise<AllowanceOutlook | undefined> {
  const [row] = await query<OutlookRow>(READ, [accountId]);
  if (row === undefined) return undefined;
  return { monthly: amount(row.monthly), running: row.until === null ? undefined : runningIn(row, row.until) };
}

function runningIn(row: OutlookRow, until: Date): RunningAllowance {
  const [remaining, spent, walletBalance] = [amount(row.remaining), amount(row.spent), amount(row.walletBalance)];
  const left = remainingIn({ remaining, spent, walletBalance }, amount(row.balance));
  return { granted: amount(row.granted), remaining: left.remaining, until };
}

const amount = (text: string | null): Nanos => nanos(BigInt(text ?? 0));

const DAY_MS = 24n * 60n * 60n * 1000n;

/**
 * The balance that spending at `pace` (nano-dollars per day) can use: without the part of the allowance that will
 * expire unspent, and with the next allowance.
 */
export function lastingBalance(
  balance: Nanos,
  pace: Nanos | undefined,
  allowance: AllowanceOutlook | undefined,
  now: Date,
): Nanos {
  if (allowance?.running === undefined) return balance;
  const { remaining, until } = allowance.running;
  const spentByThen = ((pace ?? ZERO) * BigInt(Math.max(until.getTime() - now.getTime(), 0))) / DAY_MS;
  if (spentByThen >= balance) return balance;
  const expires = remaining > spentByThen ? remaining - spentByThen : 0n;
  return nanos(balance - expires + allowance.monthly);
}

/** An allowance as pages show it. */
export function allowanceView({ monthly, running }: AllowanceOutlook) {
  const change = running && monthly !== running.granted;
  return {
    monthly: `${usd(running?.granted ?? monthly)} per month`,
    left: running && `${usd(running.remaining)} left until ${shortDay(running.until, 'UTC')}, 00:00 UTC`,
    next: change ? nextText(monthly, shortDay(running.until, 'UTC')) : '',
  };
}

const nextText = (monthly: bigint, day: string): string =>
  monthly === 0n ? 'No further allowance after that.' : `${usd(monthly)} per month from ${day}.`;

/** `$13.20 expires 1 Dec (UTC)`; empty if nothing remains. */
export function expiryNote(allowance: AllowanceOutlook | undefined): string {
  const running = allowance?.running;
  if (running === undefined || running.remaining === 0n) return '';
  return `${usd(running.remaining)} expires ${shortDay(running.until, 'UTC')} (UTC)`;
}
