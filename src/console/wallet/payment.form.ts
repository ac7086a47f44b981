import { IsString } from 'class-validator';
import { type Nanos, ZERO } from '../../platform/shared/index.js';
import { type FormBody, typedAmount } from '../web/index.js';
import { isPayable, payableText, type PaymentOffer } from '../../wallet/index.js';

const CHOOSE = 'Choose or enter an amount.';
/** Not sent by our form as it is now. */
const NOT_OFFERED = 'Choose or enter an amount.';

/** How much to pay: one of the amounts that are offered, unless another one is typed. */
export class PaymentForm {
  @IsString({ message: CHOOSE })
  readonly amount: string = '';

  @IsString({ message: 'Enter one custom amount, or leave empty.' })
  readonly other: string = '';
}

/** What is to be paid; nothing, where that is no amount. */
export const amountIn = ({ amount, other }: PaymentForm): Nanos => typedAmount(isEmpty(other) ? amount : other) ?? ZERO;

/**
 * By field, what to enter there instead. A choice counts for nothing beside another amount that can be paid; beside one
 * that cannot, both are told of at once, since that may be emptied as well as mended.
 */
export function paymentErrors(
  { amount = '', other = '' }: FormBody,
  offer: PaymentOffer,
): readonly (readonly [field: keyof PaymentForm, message: string])[] {
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
