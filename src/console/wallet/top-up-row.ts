import { exactUsd } from '../../platform/format/index.js';
import type { Nanos } from '../../platform/shared/index.js';
import { payableAt, type PaymentOfMovement, type TopUp } from '../../wallet/index.js';
import { badgeOf, whyNotPaid } from './payment.view.js';

export const MOVEMENT_WORDS: Readonly<
  Record<TopUp['kind'], { source: string; badge: { tone: string; label: string } }>
> = {
  credit: { source: 'Credit by an administrator', badge: { tone: 'ok', label: 'Credited' } },
  debit: { source: 'Debit by an administrator', badge: { tone: 'warn', label: 'Debited' } },
  redemption: { source: 'Redemption code', badge: { tone: 'ok', label: 'Credited' } },
  payment: { source: 'Payment', badge: { tone: 'ok', label: 'Returned' } },
  refund: { source: 'Payment', badge: { tone: 'bad', label: 'Reversed' } },
  allowance: { source: 'Monthly allowance', badge: { tone: 'ok', label: 'Credited' } },
  expiry: { source: 'Monthly allowance', badge: { tone: '', label: 'Expired' } },
  owed: { source: 'Released by calls', badge: { tone: 'warn', label: 'Debt paid' } },
};

/** A wallet movement or a payment order as a table row. */
export function topUpRow(topUp: TopUp, now: Date) {
  if (topUp.payment?.isOrder) return orderRow(topUp, topUp.payment, now);
  return {
    id: topUp.id,
    at: topUp.at,
    ...MOVEMENT_WORDS[topUp.kind],
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
    source: MOVEMENT_WORDS.payment.source,
    badge: badgeOf(order),
    amount: exactAmount(moved ? topUp.amount : order.amount, moved),
    unmoved: !moved,
    after: moved ? exactAmount(topUp.balanceAfter) : undefined,
    reason: '',
    why: whyNotPaid(order),
    payAt: payableAt(order, now),
    debt: debtText(topUp.paidDebt),
  };
}

function debtText(paidDebt: Nanos): string {
  if (paidDebt > 0n) return `${exactUsd(paidDebt)} applied to debt`;
  return paidDebt < 0n ? `${exactUsd(-paidDebt)} added to debt` : '';
}

/** Every digit, those below a cent apart: sums of them must be those of the balance. */
export function exactAmount(amount: bigint, signed = false): { readonly head: string; readonly tail: string } {
  const text = exactUsd(amount)
    .replace(/(\.\d\d)0+$/, '$1')
    .replace(/(\.\d{2}\d*[1-9])0+$/, '$1');
  const cents = text.indexOf('.') + 3;
  return { head: (signed && amount > 0n ? '+' : '') + text.slice(0, cents), tail: text.slice(cents) };
}
