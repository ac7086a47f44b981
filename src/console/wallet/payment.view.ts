import { usd } from '../../platform/format/index.js';
import { payableAt, type TopUpOrder, type TopUpState } from '../../wallet/index.js';

interface PaymentLabels {
  readonly badge: { readonly tone: string; readonly label: string };
  readonly title: string;
  readonly text: string;
}

const BADGES: Readonly<Record<TopUpState, PaymentLabels['badge']>> = {
  created: { tone: '', label: 'Not started' },
  pending: { tone: 'warn', label: 'Incomplete' },
  paid: { tone: 'ok', label: 'Paid' },
  failed: { tone: 'bad', label: 'Failed' },
  expired: { tone: '', label: 'Expired' },
  partly_refunded: { tone: 'warn', label: 'Partly refunded' },
  refunded: { tone: 'warn', label: 'Refunded' },
  disputed: { tone: 'bad', label: 'Disputed' },
};

/** Submitted by the user, not yet confirmed by Stripe or the bank. */
const BEING_CONFIRMED: PaymentLabels['badge'] = { tone: 'warn', label: 'Processing' };

export const badgeOf = ({ state, payment }: Pick<TopUpOrder, 'state' | 'payment'>): PaymentLabels['badge'] =>
  state === 'pending' && payment !== null ? BEING_CONFIRMED : BADGES[state];

/** Why a payment did not succeed, as sentences; empty if nothing is wrong. */
export function unpaidReason({ state, payment, reason }: Pick<TopUpOrder, 'state' | 'payment' | 'reason'>): string {
  if (state === 'created') return 'The payment page could not be opened. You were not charged.';
  if (state === 'failed' || state === 'expired') return `${reason ? `${sentence(reason)} ` : ''}You were not charged.`;
  return state === 'pending' && payment === null && reason !== '' ? `${sentence(reason)} You can try again.` : '';
}

export const paymentLabels = (order: Pick<TopUpOrder, 'state' | 'payment' | 'reason'>): string =>
  [`${badgeOf(order).label}.`, unpaidReason(order)].filter(Boolean).join(' ');

const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** @param from `paid` or `cancelled`: set in the return URL from Stripe */
export function paymentView(order: TopUpOrder, from: unknown, now: Date) {
  // Does not offer to pay again right after a payment.
  const payAt = from === 'paid' ? null : payableAt(order, now);
  const { title, text, badge } = labelsOf(order, from, payAt !== null);
  return {
    title,
    text,
    badge,
    id: order.id,
    amount: order.amount,
    createdAt: order.createdAt,
    paidAt: order.paidAt,
    payAt,
    lookAgain: order.state === 'pending' && from === 'paid' ? `/wallet/payments/${order.id}?from=paid` : '',
    takenBack: order.takenBack > 0n ? order.takenBack : undefined,
  };
}

function labelsOf(order: TopUpOrder, from: unknown, isPayable: boolean): PaymentLabels {
  const badge = badgeOf(order);
  const amount = usd(order.amount);
  switch (order.state) {
    case 'created':
      return {
        badge,
        title: `Payment of ${amount} not started`,
        text: `${unpaidReason(order)} You can start a new payment.`,
      };
    case 'pending':
      return pendingLabels(order, from, isPayable);
    case 'paid':
      return { badge, title: `${amount} added`, text: 'It is available immediately. Stripe has emailed the receipt.' };
    case 'failed':
    case 'expired':
      return { badge, title: `Payment of ${amount} not completed`, text: unpaidReason(order) };
    case 'partly_refunded':
    case 'refunded':
    case 'disputed':
      return { badge, ...reversedText(order) };
    default:
      return order.state satisfies never;
  }
}

function pendingLabels(order: TopUpOrder, from: unknown, isPayable: boolean): PaymentLabels {
  const badge = badgeOf(order);
  const amount = usd(order.amount);
  if (order.payment !== null)
    return {
      badge,
      title: `Confirming your ${amount} payment`,
      text: 'Your bank is still confirming the payment. This can take a few days; we add the money as soon as it is confirmed.',
    };
  if (from === 'paid')
    return {
      badge: BEING_CONFIRMED,
      title: `Confirming your ${amount} payment`,
      text: 'Stripe usually confirms a payment within a few seconds. Your balance is updated as soon as it does.',
    };
  if (!isPayable || from === 'cancelled')
    return {
      badge,
      title: `Payment of ${amount} not completed`,
      text: isPayable
        ? 'You were not charged. The payment page stays open for one hour.'
        : 'The payment page expired after one hour. Start a new payment to add funds.',
    };
  return {
    badge,
    title: `Pay ${amount}`,
    text: unpaidReason(order) || 'You pay on Stripe’s page and return here. Your card details stay with Stripe.',
  };
}

function reversedText({ takenBack, amount, state }: TopUpOrder): Omit<PaymentLabels, 'badge'> {
  const part = takenBack < amount ? ` of ${usd(amount)}` : '';
  const how = state === 'disputed' ? 'Your bank has disputed the payment.' : 'It was refunded.';
  return {
    title: `${usd(takenBack)}${part} reversed`,
    text: `${how} The amount was deducted from your balance. If your balance didn’t cover it, the remainder comes out of your next top-up.`,
  };
}
