import { dayOf, type Nanos } from '../../shared/index.js';
import { balanceForecast, exactUsd, type Form, shortDay, usd } from '../../web/index.js';
import { type AllowanceOutlook, lastingBalance } from '../allowance/allowance-outlook.js';
import { allowanceView } from '../allowance/allowance-words.js';
import type { BalanceAt, ConsumptionDay, TopUp } from '../wallet-statement.js';
import type { WalletBalance } from '../wallet.service.js';
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
  readonly form: Form<RedeemForm>;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Further ahead nobody can tell. */
const MOST_DAYS = 366;

/** How the page tells what moved a wallet. */
export const MOVEMENT_WORDS: Readonly<
  Record<TopUp['kind'], { source: string; badge: { tone: string; label: string } }>
> = {
  credit: { source: 'Credit by the operator', badge: { tone: 'ok', label: 'Credited' } },
  debit: { source: 'Debit by the operator', badge: { tone: 'warn', label: 'Debited' } },
  redemption: { source: 'Redemption code', badge: { tone: 'ok', label: 'Credited' } },
  payment: { source: 'Payment', badge: { tone: 'ok', label: 'Paid' } },
  refund: { source: 'Payment', badge: { tone: 'bad', label: 'Taken back' } },
  allowance: { source: 'Monthly allowance', badge: { tone: 'ok', label: 'Credited' } },
  expiry: { source: 'Monthly allowance', badge: { tone: '', label: 'Expired' } },
  owed: { source: 'Released by calls', badge: { tone: 'warn', label: 'Debt paid' } },
};

/** What the page of the wallet shows. */
export function walletPage(input: WalletInput) {
  const { wallet, topUps, days, dayNames, now, timeZone } = input;
  const today = dayOf(now, timeZone);
  return {
    form: input.form,
    lost: input.lost,
    balance: exactAmount(wallet.balance),
    held: wallet.held > 0n ? { amount: wallet.held, calls: wallet.holds } : undefined,
    owed: wallet.owed > 0n ? exactUsd(wallet.owed) : undefined,
    ...runway(input),
    allowance: input.allowance && allowanceView(input.allowance),
    topUps: topUps.map((topUp) => ({
      id: topUp.id,
      at: topUp.at,
      ...MOVEMENT_WORDS[topUp.kind],
      amount: exactAmount(topUp.amount, true),
      after: exactAmount(topUp.balanceAfter),
      // Of a code it says which one, which the source says already.
      reason: topUp.reason.replace(/^Redemption code /, ''),
      debt: debtWords(topUp.paidDebt),
    })),
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
    daysLeft === undefined || daysLeft > MOST_DAYS ? undefined : new Date(now.getTime() + daysLeft * DAY_MS);
  const finding =
    `Balance over time. ${usd(wallet.balance)} now` +
    (emptyAt ? `; at the average of the last 14 days nothing is left on ${shortDay(emptyAt, timeZone)}.` : '.');
  const showsChart = history.length > 1;
  return {
    emptyAt: wallet.balance > 0n ? emptyAt : undefined,
    lasting: daysLeft !== undefined && daysLeft > MOST_DAYS,
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

function debtWords(paidDebt: Nanos): string {
  if (paidDebt > 0n) return `${exactUsd(paidDebt)} paid what was owed`;
  return paidDebt < 0n ? `${exactUsd(-paidDebt)} is owed since` : '';
}

/** Every digit, those below a cent apart: sums of them must be those of the balance. */
export function exactAmount(amount: bigint, signed = false): { readonly head: string; readonly tail: string } {
  const text = exactUsd(amount)
    .replace(/(\.\d\d)0+$/, '$1')
    .replace(/(\.\d{2}\d*[1-9])0+$/, '$1');
  const cents = text.indexOf('.') + 3;
  return { head: (signed && amount > 0n ? '+' : '') + text.slice(0, cents), tail: text.slice(cents) };
}
