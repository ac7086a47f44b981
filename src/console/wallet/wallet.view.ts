import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { exactParts, exactUsd, type MoneyParts, price, shortDay, usd } from '../../platform/format/index.js';
import { dayOf, formatUsd, type Nanos, ZERO } from '../../platform/shared/index.js';
import {
  type AllowanceOutlook,
  allowanceView,
  type BalanceAt,
  type ConsumptionDay,
  isPayable,
  lastingBalance,
  payableAt,
  payableText,
  type PaymentOffer,
  type PaymentOfMovement,
  type TopUp,
  type WalletBalance,
} from '../../wallet/index.js';
import { balanceForecast, type FieldValue, Form, type FormBody, typedAmount } from '../web/index.js';
import { badgeOf, unpaidReason } from './payment.view.js';

interface WalletInput extends AddFundsInput {
  readonly wallet: WalletBalance;
  readonly history: readonly BalanceAt[];
  /** Nano-dollars a day. */
  readonly pace: Nanos | undefined;
  readonly allowance: AllowanceOutlook | undefined;
  readonly topUps: readonly TopUp[];
  readonly days: readonly ConsumptionDay[];
  /** Local dates of `days`: `2026-11-20`. */
  readonly dayNames: readonly string[];
  /** Sealed cursors. */
  readonly olderTopUps: string | undefined;
  readonly olderDays: string | undefined;
  /** Whether these are not the first pages. */
  readonly topUpsTurned: boolean;
  readonly daysTurned: boolean;
  /** Whether a cursor was invalid. */
  readonly lost: boolean;
  readonly now: Date;
  readonly timeZone: string;
}

interface AddFundsInput {
  /** Undefined if payments are off. */
  readonly offer: PaymentOffer | undefined;
  readonly code: Form<RedeemForm> | undefined;
  readonly payment: Form<TopUpForm> | undefined;
  /** Whether the reader may add funds. */
  readonly mayPay: boolean;
}

const DAY_MS = 24 * 60 * 60 * 1000;
/** Longer forecasts are not shown. */
const MAX_DAYS = 366;

export function walletView(input: WalletInput) {
  const { wallet, topUps, days, dayNames, now, timeZone } = input;
  const today = dayOf(now, timeZone);
  return {
    ...addFunds(input),
    lost: input.lost,
    balance: usd(wallet.balance),
    // The figure has no room for fractions of a cent on a phone.
    exactBalance: price(wallet.balance) === usd(wallet.balance) ? undefined : price(wallet.balance),
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

/** Forecast of when the balance is used up; without calls on three days, only the chart. */
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

export const MOVEMENT_LABELS: Readonly<
  Record<TopUp['kind'], { source: string; badge: { tone: string; label: string } }>
> = {
  credit: { source: 'Administrator credit', badge: { tone: 'ok', label: 'Credited' } },
  debit: { source: 'Administrator debit', badge: { tone: 'warn', label: 'Debited' } },
  redemption: { source: 'Redemption code', badge: { tone: 'ok', label: 'Credited' } },
  payment: { source: 'Payment', badge: { tone: 'ok', label: 'Reinstated' } },
  refund: { source: 'Payment', badge: { tone: 'bad', label: 'Reversed' } },
  allowance: { source: 'Monthly allowance', badge: { tone: 'ok', label: 'Credited' } },
  expiry: { source: 'Monthly allowance', badge: { tone: '', label: 'Expired' } },
  owed: { source: 'Unused hold returned', badge: { tone: 'warn', label: 'Applied to debt' } },
};

function topUpRow(topUp: TopUp, now: Date) {
  if (topUp.payment?.isOrder) return orderRow(topUp, topUp.payment, now);
  return {
    id: topUp.id,
    at: topUp.at,
    ...MOVEMENT_LABELS[topUp.kind],
    amount: exactAmount(topUp.amount, true),
    after: exactAmount(topUp.balanceAfter),
    // The source column already says that it is a code.
    reason: topUp.reason.replace(/^Redemption code /, ''),
    debt: debtText(topUp.paidDebt),
  };
}

/** A payment, shown by its order ID; until it moves money, with its amount and the reason. */
function orderRow(topUp: TopUp, order: PaymentOfMovement, now: Date) {
  const moved = topUp.id !== order.id;
  return {
    id: order.id,
    at: topUp.at,
    href: `/wallet/payments/${order.id}`,
    source: MOVEMENT_LABELS.payment.source,
    badge: badgeOf(order),
    amount: exactAmount(moved ? topUp.amount : order.amount, moved),
    unmoved: !moved,
    after: moved ? exactAmount(topUp.balanceAfter) : undefined,
    reason: '',
    why: unpaidReason(order),
    payAt: payableAt(order, now),
    debt: debtText(topUp.paidDebt),
  };
}

function debtText(paidDebt: Nanos): string {
  if (paidDebt > 0n) return `${exactUsd(paidDebt)} applied to debt`;
  return paidDebt < 0n ? `${exactUsd(-paidDebt)} added to debt` : '';
}

/** All digits, with those below a cent apart: amounts must add up to the balance. */
export function exactAmount(amount: bigint, signed = false): MoneyParts {
  const { head, tail } = exactParts(amount);
  return { head: signed && amount > 0n ? `+${head}` : head, tail: tail.replace(/0+$/, '') };
}

function addFunds({ offer, code, payment, mayPay }: AddFundsInput) {
  const rejected = payment ?? code;
  return {
    mayPay,
    // The submitted form, for the error summary.
    ...(rejected && { form: rejected }),
    ids: payment && offer && { amount: 'amount-0' },
    code: code ?? Form.empty<RedeemForm>(),
    pay: offer && payView(offer, payment ?? Form.empty<TopUpForm>()),
  };
}

function payView({ amounts, smallest, largest }: PaymentOffer, form: Form<TopUpForm>) {
  const { amount, other } = form.values;
  const options = amounts.map((one) => ({ value: formatUsd(one), label: usd(one).replace(/\.00$/, '') }));
  const middle = options[Math.floor(options.length / 2)]?.value;
  // A custom amount overrides the choice, which browsers submit regardless.
  const chosen = other ? undefined : (amount ?? middle);
  return {
    form,
    choices: options.map((option, index) => ({
      ...option,
      id: `amount-${index}`,
      checked: option.value === chosen,
    })),
    range: `${usd(smallest)} to ${usd(largest)}`,
  };
}

export class RedeemForm {
  @MaxLength(200, { message: 'Enter the full code: 28 letters and digits.' })
  @IsNotEmpty({ message: 'Enter your code.' })
  @IsString({ message: 'Enter one code at a time.' })
  readonly code: string = '';
}

const CHOOSE = 'Choose or enter an amount.';

/** A custom amount overrides the choice. */
export class TopUpForm {
  @IsString({ message: CHOOSE })
  readonly amount: string = '';

  @IsString({ message: 'Enter a single amount under Other amount, or leave it empty.' })
  readonly other: string = '';
}

/** Zero if no valid amount was submitted. */
export const amountIn = ({ amount, other }: TopUpForm): Nanos => typedAmount(isEmpty(other) ? amount : other) ?? ZERO;

/** Errors by field. An invalid custom amount also reports an invalid choice: the user may clear it or correct it. */
export function paymentErrors(
  { amount = '', other = '' }: FormBody,
  offer: PaymentOffer,
): readonly (readonly [field: keyof TopUpForm, message: string])[] {
  if (isEmpty(other)) return isEmpty(amount) ? [['amount', CHOOSE]] : choiceErrors(amount, offer);
  const typed = amountOf(other);
  if (typed !== undefined && isPayable(typed, offer)) return [];
  return [...(isEmpty(amount) ? [] : choiceErrors(amount, offer)), ['other', payableText(offer)]];
}

function choiceErrors(choice: FieldValue, { amounts }: PaymentOffer): readonly (readonly ['amount', string])[] {
  const chosen = amountOf(choice);
  return chosen !== undefined && amounts.includes(chosen) ? [] : [['amount', CHOOSE]];
}

/** Undefined for repeated fields. */
const amountOf = (sent: FieldValue): Nanos | undefined => (typeof sent === 'string' ? typedAmount(sent) : undefined);

const isEmpty = (sent: FieldValue): boolean => typeof sent === 'string' && sent.trim() === '';
