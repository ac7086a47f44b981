import { formatUsd } from '../../platform/shared/index.js';
import { Form } from '../web/index.js';
import { usd } from '../../platform/format/index.js';
import type { PaymentOffer } from '../../wallet/index.js';
import type { PaymentForm } from './payment.form.js';
import type { RedeemForm } from './redeem.form.js';

interface AddFundsInput {
  readonly offer: PaymentOffer | undefined;
  readonly code: Form<RedeemForm> | undefined;
  readonly payment: Form<PaymentForm> | undefined;
}

/** The ways to add funds, each with the form that is filled in there. */
export function addFunds({ offer, code, payment }: AddFundsInput) {
  const returned = payment ?? code;
  return {
    // What a page says of refused fields on top is of the form that was sent.
    ...(returned && { form: returned }),
    ids: payment && offer && { amount: 'amount-0' },
    code: code ?? Form.empty<RedeemForm>(),
    pay: offer && payView(offer, payment ?? Form.empty<PaymentForm>()),
  };
}

function payView({ amounts, smallest, largest }: PaymentOffer, form: Form<PaymentForm>) {
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
