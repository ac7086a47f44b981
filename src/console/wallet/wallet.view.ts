import { IsNotEmpty, IsString, MaxLength } from 'class-validator';
import { exactUsd, shortDay, usd } from '../../platform/format/index.js';
import { dayOf, formatUsd, type Nanos, ZERO } from '../../platform/shared/index.js';
import {
  type AllowanceOutlook,
  allowanceView,
  type BalanceAt,
  type ConsumptionDay,
  isPayable,
  lastingBalance,
  payableText,
  type PaymentOffer,
  type TopUp,
  type WalletBalance,
} from '../../wallet/index.js';
import { balanceForecast, Form, type FormBody, typedAmount } from '../web/index.js';
import { exactAmount, topUpRow } from './top-up-row.js';

interface WalletInput {
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
  readonly payment: Form<TopUpForm> | undefined;
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

interface AddFundsInput {
  readonly offer: PaymentOffer | undefined;
  readonly code: Form<RedeemForm> | undefined;
  readonly payment: Form<TopUpForm> | undefined;
}

/** The ways to add funds, each with the form that is filled in there. */
function addFunds({ offer, code, payment }: AddFundsInput) {
  const returned = payment ?? code;
  return {
    // What a page says of refused fields on top is of the form that was sent.
    ...(returned && { form: returned }),
    ids: payment && offer && { amount: 'amount-0' },
    code: code ?? Form.empty<RedeemForm>(),
    pay: offer && payView(offer, payment ?? Form.empty<TopUpForm>()),
  };
}

function payView({ amounts, smallest, largest }: PaymentOffer, form: Form<TopUpForm>) {
  const { amount, other } = form.values;
  const options = amounts.map((one) => ({ value: formatUsd(one), label: usd(one).replace(/\.00$/, '') }));
  // In the middle is what most people take.
  const usual = options[Math.floor(options.length / 2)]?.value;
  // Another amount wins over a choice, which the browser sends all the same.
  const chosen = other ? undefined : (amount ?? usual);
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

/** A redemption code, however it is typed. */
export class RedeemForm {
  @MaxLength(200, { message: 'Enter the full code: 28 letters and digits.' })
  @IsNotEmpty({ message: 'Enter your code.' })
  @IsString({ message: 'Enter one code at a time.' })
  readonly code: string = '';
}

const CHOOSE = 'Choose or enter an amount.';
/** Not sent by our form as it is now. */
const NOT_OFFERED = 'Choose or enter an amount.';

/** How much to pay: one of the amounts that are offered, unless another one is typed. */
export class TopUpForm {
  @IsString({ message: CHOOSE })
  readonly amount: string = '';

  @IsString({ message: 'Enter one custom amount, or leave empty.' })
  readonly other: string = '';
}

/** What is to be paid; nothing, where that is no amount. */
export const amountIn = ({ amount, other }: TopUpForm): Nanos => typedAmount(isEmpty(other) ? amount : other) ?? ZERO;

/**
 * By field, what to enter there instead. A choice counts for nothing beside another amount that can be paid; beside one
 * that cannot, both are told of at once, since that may be emptied as well as mended.
 */
export function paymentErrors(
  { amount = '', other = '' }: FormBody,
  offer: PaymentOffer,
): readonly (readonly [field: keyof TopUpForm, message: string])[] {
  if (isEmpty(other)) return isEmpty(amount) ? [['amount', CHOOSE]] : choiceErrors(amount, offer);
  const typed = amountOf(other);
  if (typed !== undefined && isPayable(typed, offer)) return [];
  return [...(isEmpty(amount) ? [] : choiceErrors(amount, offer)), ['other', payableText(offer)]];
}

function choiceErrors(choice: Sent, { amounts }: PaymentOffer): readonly (readonly ['amount', string])[] {
  const chosen = amountOf(choice);
  return chosen !== undefined && amounts.includes(chosen) ? [] : [['amount', NOT_OFFERED]];
}

type Sent = FormBody[string];

/** Undefined also of a field that was sent several times. */
const amountOf = (sent: Sent): Nanos | undefined => (typeof sent === 'string' ? typedAmount(sent) : undefined);

const isEmpty = (sent: Sent): boolean => typeof sent === 'string' && sent.trim() === '';
