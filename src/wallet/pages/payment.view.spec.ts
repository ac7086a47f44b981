import { nanos } from '../../shared/index.js';
import type { TopUpOrder } from '../payments/top-up.js';
import { paymentPage } from './payment.view.js';

const USD = 1_000_000_000n;

const anOrder = (over: Partial<TopUpOrder>): TopUpOrder => ({
  id: 'top_1',
  accountId: 'acc_1',
  reference: 'cs_1',
  payment: 'pi_1',
  address: null,
  amount: nanos(50n * USD),
  state: 'paid',
  reason: '',
  takenBack: nanos(0n),
  createdAt: new Date(0),
  paidAt: new Date(0),
  ...over,
});

describe('the page of a payment', () => {
  it('says how much of it was taken back, and by whom', () => {
    const partly = paymentPage(anOrder({ state: 'partly_refunded', takenBack: nanos(4n * USD) }), undefined);
    expect(partly.title).toBe('$4.00 of $50.00 taken back');
    expect(partly.text).toMatch(/^It was given back to you\. /);
    const whole = paymentPage(anOrder({ state: 'disputed', takenBack: nanos(50n * USD) }), undefined);
    expect(whole.title).toBe('$50.00 taken back');
    expect(whole.text).toMatch(/^Your bank has disputed the payment\. /);
  });
});
