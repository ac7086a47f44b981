import { dayOf, type Nanos } from '../../platform/shared/index.js';
import { balanceForecast, type Form } from '../web/index.js';
import { exactUsd, shortDay, usd } from '../../platform/format/index.js';
import {
  type AllowanceOutlook,
  allowanceView,
  type BalanceAt,
  type ConsumptionDay,
  lastingBalance,
  type PaymentOffer,
  type TopUp,
  type WalletBalance,
} from '../../wallet/index.js';
import type { PaymentForm } from './payment.form.js';
import { exactAmount } from './exact-amount.js';
import { addFunds } from './add-funds.view.js';
import { topUpRow } from './top-up-row.js';
import type { RedeemForm } from './redeem.form.js';

export interface WalletInput {
  readonly wallet: WalletBalance;
  readonly history: readonly BalanceAt[];
  /** Nano-dollars a day. */
  readonly pace: Nanos | undefined;
  readonly allowance: AllowanceOutlook | undefined;
  readonly topUps: readonly TopUp[];
  readonly days: readonly ConsumptionDay[];
  /** By the day of `days`: its name where the reader is, `2026-11-20`. */
  readonly dayNames: readonly string[];
  readonly olderTopUps: string | undefined;
  readonly olderDays: string | undefined;
  /** Whether these are later pages than the first. */
  readonly topUpsTurned: boolean;
  readonly daysTurned: boolean;
  readonly lost: boolean;
  readonly now: Date;
  readonly timeZone: string;
  /** What people can pay; undefined: they cannot. */
  readonly offer: PaymentOffer | undefined;
  /** The form that was refused, if one was. */
  readonly code: Form<RedeemForm> | undefined;
  readonly payment: Form<PaymentForm> | undefined;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Further ahead nobody can tell. */
const MAX_DAYS = 366;

/** What the page of the wallet shows. */
export function walletPage(input: WalletInput) {
  const { wallet, topUps, days, dayNames, now, timeZone } = input;
  const today = dayOf(now, timeZone);
  return {
    ...addFunds(input),
    lost: input.lost,
    balance: exactAmount(wallet.balance),
    held: wallet.held > 0n ? { amount: wallet.held, calls: wallet.holds } : undefined,
    owed: wallet.owed > 0n ? exactUsd(wallet.owed) : undefined,
    ...runway(input),
    allowance: input.allowance && allowanceView(input.allowance),
    topUps: topUps.map((topUp) => topUpRow(topUp, now)),
    days: days.map((day, index) => ({
      name: shortDay(day.start, timeZone),
      soFar: dayNames[index] === today,
      href: `/usage-logs/common?range=custom&from=${dayNames[index]}&to=${dayNames[index]}`,
      calls: day.calls,
      tokens: day.tokens,
      topModel: day.topModel,
      amount: day.cost === 0n ? { head: '$0', tail: '' } : exactAmount(-day.cost),
      after: exactAmount(day.balanceAfter),
    })),
    olderTopUps: input.olderTopUps && `/wallet?topups=${input.olderTopUps}#top-ups`,
    olderDays: input.olderDays && `/wallet?before=${input.olderDays}#consumption`,
    newestTopUps: input.topUpsTurned ? '/wallet#top-ups' : '',
    newestDays: input.daysTurned ? '/wallet#consumption' : '',
  };
}

/** When nothing will be left, and the chart of that; without calls of three days only the chart. */
function runway({ wallet, history, pace, allowance, now, timeZone }: WalletInput) {
  const lasting = lastingBalance(wallet.balance, pace, allowance, now);
  const daysLeft = pace === undefined || pace === 0n ? undefined : Number((lasting * 10n) / pace) / 10;
  const emptyAt =
    daysLeft === undefined || daysLeft > MAX_DAYS ? undefined : new Date(now.getTime() + daysLeft * DAY_MS);
  const finding =
    `Balance over time. ${usd(wallet.balance)} now` +
    (emptyAt ? `; at the average of the last 14 days, used up on ${shortDay(emptyAt, timeZone)}.` : '.');
  const showsChart = history.length > 1;
  return {
    emptyAt: wallet.balance > 0n ? emptyAt : undefined,
    lasting: daysLeft !== undefined && daysLeft > MAX_DAYS,
    pace: pace !== undefined && pace > 0n ? pace : undefined,
    forecast: showsChart
      ? balanceForecast({
          id: 'balance-chart',
          finding,
          past: history,
          emptyAt: wallet.balance > 0n ? emptyAt : undefined,
          timeZone,
        })
      : undefined,
  };
}
