import { nanos } from '../../platform/shared/index.js';
import type { TopUpOrder } from '../../wallet/payments/top-up.js';
import { paymentView } from './payment.view.js';

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

const NOW = new Date('2026-11-20T12:00:00Z');
const ADDRESS = 'https://checkout.stripe.example/c/pay/cs_1';
const anOpenOrder = (minutesAgo: number, over: Partial<TopUpOrder> = {}): TopUpOrder =>
  anOrder({
    state: 'pending',
    payment: null,
    address: ADDRESS,
    paidAt: null,
    createdAt: new Date(NOW.getTime() - minutesAgo * 60_000),
    ...over,
  });

describe('the payment page', () => {
  it('says how much was reversed and why when a payment is reversed', () => {
    const partly = paymentView(anOrder({ state: 'partly_refunded', takenBack: nanos(4n * USD) }), undefined, NOW);
    expect(partly.title).toBe('$4.00 of $50.00 reversed');
    expect(partly.text).toMatch(/^It was refunded\. /);
    const whole = paymentView(anOrder({ state: 'disputed', takenBack: nanos(50n * USD) }), undefined, NOW);
    expect(whole.title).toBe('$50.00 reversed');
    expect(whole.text).toMatch(/^Your bank has disputed the payment\. /);
  });

  it.each([
    ['that is open', anOpenOrder(59), 'Pay $50.00', 'Incomplete', ADDRESS],
    ['that is too old to be paid', anOpenOrder(61), 'Payment of $50.00 not completed', 'Incomplete', null],
    [
      'whose money is on its way',
      anOpenOrder(5, { payment: 'pi_1' }),
      'Confirming your $50.00 payment',
      'Processing',
      null,
    ],
    [
      'that was not begun',
      anOpenOrder(5, { state: 'created', address: null }),
      'Payment of $50.00 not started',
      'Not started',
      null,
    ],
  ])('shows the state and the payment link of a payment %s', (_, order, title, label, payAt) => {
    expect(paymentView(order, undefined, NOW)).toMatchObject({ title, badge: { label }, payAt });
  });
});
