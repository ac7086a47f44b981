import { DataSource } from 'typeorm';
import { parseUsd } from '../../src/platform/shared/index.js';
import { CheckoutService } from '../../src/wallet/payments/checkout.service.js';
import { anEvent, completed, signatureOf, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import type { StripeObject } from '../support/scripted-stripe.js';

describe('a payment', () => {
  const use = usePayments();
  let ann: TestCaller;
  beforeEach(async () => {
    ann = await use.world.relay.caller({ credit: '1' });
  });

  const begin = async (dollars?: string): Promise<StripeObject> =>
    use.world.begin(await use.world.browserOf(ann), dollars);
  /** That the wallet is as it was, and nothing but its first credit stands in its books. */
  const expectNoMoney = async (): Promise<void> => {
    expect(await use.world.money(ann)).toEqual(['1', '0']);
    expect(await use.world.ledgerDifferences()).toEqual([]);
  };

  it('is created at Stripe as it is stored: amount, currency, account and return address', async () => {
    const session = await begin('7.50');
    const request = use.world.stripe.requests.find(({ path }) => path === '/v1/checkout/sessions')!;
    const order = await use.world.order(session);
    expect(request.fields).toMatchObject({
      mode: 'payment',
      client_reference_id: order.id,
      'metadata[top_up_id]': order.id,
      'metadata[account_id]': ann.accountId,
      'payment_intent_data[metadata][top_up_id]': order.id,
      'line_items[0][quantity]': '1',
      'line_items[0][price_data][unit_amount]': '750',
      'line_items[0][price_data][currency]': 'usd',
      success_url: expect.stringMatching(new RegExp(`/wallet/payments/${order.id}\\?from=paid$`)),
      cancel_url: expect.stringMatching(new RegExp(`/wallet/payments/${order.id}\\?from=cancelled$`)),
    });
    expect(request.headers).toMatchObject({
      authorization: 'Bearer sk_test_of_a_test',
      'idempotency-key': order.id,
      'stripe-version': '2026-10-28.endive',
    });
    expect(request.headers).not.toHaveProperty('x-stripe-client-telemetry');
    expect(order.state).toBe('pending');
    await expectNoMoney();
  });

  it('brings its money once Stripe says that it was paid, and not before', async () => {
    const session = await begin('25');
    expect(await use.world.tell(completed(session, 'pi_late', { payment_status: 'unpaid' }))).toBe(200);
    await expectNoMoney();
    const paid = anEvent('checkout.session.async_payment_succeeded', {
      ...session,
      status: 'complete',
      payment_status: 'paid',
      payment_intent: 'pi_late',
    });
    expect(await use.world.tell(paid)).toBe(200);
    expect(await use.world.money(ann)).toEqual(['26', '0']);
    expect((await use.world.order(session)).state).toBe('paid');
    expect(await use.world.ledgerDifferences()).toEqual([]);
  });

  it('credits it once, however often it is reported: by the same event, and by others', async () => {
    const session = await begin();
    const event = completed(session, `pi_${session.id}`);
    for (const reported of [event, event, completed(session, `pi_${session.id}`)])
      expect(await use.world.tell(reported)).toBe(200);
    expect(await use.world.money(ann)).toEqual(['26', '0']);
  });

  it.each([
    ['unsigned', () => ''],
    ['signed with another secret', (event: string) => signatureOf(event, 'whsec_of_another')],
    ['signed as something else', () => signatureOf('{}')],
    ['signed more than five minutes ago', (event: string) => signatureOf(event, undefined, Date.now() / 1000 - 301)],
    ['signed by nothing that is a signature', () => 't=1,v1=00'],
  ])('is refused when it is %s, and moves no money', async (_, signature) => {
    const event = completed(await begin(), 'pi_forged');
    expect(await use.world.tell(event, signature(event))).toBe(400);
    await expectNoMoney();
  });

  it('is refused when what is signed was changed on its way', async () => {
    const event = completed(await begin(), 'pi_changed');
    expect(await use.world.tell(event.replace('2500', '250000'), signatureOf(event))).toBe(400);
    await expectNoMoney();
  });

  it('is refused when its event is larger than any, even signed', async () => {
    const event = completed(await begin(), 'pi_large', { padding: 'x'.repeat(256 * 1024) });
    expect(await use.world.tell(event)).toBe(413);
    await expectNoMoney();
  });

  it.each([
    ['amount', { amount_total: 2501 }, 'its amount is $25.01, but its order is for $25'],
    ['amount, which is none', { amount_total: null }, 'its amount is no amount, but its order is for $25'],
    ['currency', { currency: 'eur' }, 'it is in the currency “eur”, not in US dollars'],
    ['checkout', { id: 'cs_of_another' }, /^its order was given the checkout cs_test_/],
    ['order', { client_reference_id: 'top_of_another' }, 'it refers to a different account than its order'],
  ])('moves no money when it names another %s, and operators are told', async (_, over, problem) => {
    const session = await begin();
    expect(await use.world.tell(completed(session, `pi_${session.id}`, over))).toBe(200);
    await expectNoMoney();
    expect((await use.world.order(session)).state).toBe('pending');
    expect((await use.world.problems()).at(-1)!.problem).toEqual(
      typeof problem === 'string' ? problem : expect.stringMatching(problem),
    );
  });

  it('moves no money when it names another account, or an order that is not here', async () => {
    const session = await begin();
    const { accountId } = await use.world.relay.caller();
    const metadata = session['metadata'] as object;
    for (const over of [{ account_id: accountId }, { top_up_id: 'top_unknown' }])
      await use.world.tell(completed(session, 'pi_other', { metadata: { ...metadata, ...over } }));
    await expectNoMoney();
    expect((await use.world.problems()).slice(-2).map(({ problem }) => problem)).toEqual([
      'it refers to a different account than its order',
      expect.stringContaining('unknown order'),
    ]);
  });

  it('is none of ours when its checkout names no order: an account at Stripe may sell other things too', async () => {
    const before = await use.world.problems();
    const event = anEvent('checkout.session.completed', { id: 'cs_shop', metadata: {}, payment_status: 'paid' });
    expect(await use.world.tell(event)).toBe(200);
    expect(await use.world.tell(anEvent('customer.created', { id: 'cus_1' }))).toBe(200);
    expect(await use.world.problems()).toEqual(before);
  });

  it('shows why it was not credited: it failed, or expired unpaid', async () => {
    const [failed, expired] = [await begin(), await begin()];
    await use.world.tell(anEvent('checkout.session.async_payment_failed', { ...failed, status: 'complete' }));
    const pay = {
      id: 'pi_1',
      metadata: expired['metadata'],
      last_payment_error: { message: 'Your card was declined.' },
    };
    await use.world.tell(anEvent('payment_intent.payment_failed', pay));
    expect(await use.world.order(expired)).toMatchObject({ state: 'pending', reason: 'Your card was declined.' });
    await use.world.tell(anEvent('checkout.session.expired', { ...expired, status: 'expired' }));
    expect(await use.world.order(failed)).toMatchObject({ state: 'failed', reason: 'The payment failed.' });
    expect(await use.world.order(expired)).toMatchObject({ state: 'expired', reason: 'Your card was declined.' });
    const { text } = await (await use.world.browserOf(ann)).get('/wallet');
    expect(text).toContain('The payment failed. You were not charged.');
    expect(text).toContain('Your card was declined. You were not charged.');
    await expectNoMoney();
  });

  it('is refused while twenty are open, and none the less once these are too old to be paid, whatever was told', async () => {
    const { accountId } = ann;
    await use.world.relay.get(DataSource).query(
      `INSERT INTO top_ups (id, account_id, provider, amount, currency, state)
       SELECT 'top_open_' || n, $1, 'stripe', 5000000000, 'usd', 'pending' FROM generate_series(1, 20) n`,
      [accountId],
    );
    await expect(begin()).rejects.toThrow('Too many payments were started within an hour.');
    await use.world.relay
      .get(DataSource)
      .query(`UPDATE top_ups SET created_at = now() - interval '61 minutes' WHERE account_id = $1`, [accountId]);
    expect((await use.world.order(await begin())).state).toBe('pending');
  });

  it('is one of at most twenty that are begun at the same moment, those that Stripe does not open included', async () => {
    const { stripe, relay } = use.world;
    const payer = { accountId: ann.accountId, email: 'ann@example.com' };
    const beginMany = (count: number) =>
      Promise.allSettled(Array.from({ length: count }, () => relay.get(CheckoutService).begin(payer, parseUsd('25'))));
    stripe.failure = { status: 500, message: 'Down.' };
    await beginMany(5);
    stripe.failure = undefined;
    const opened = stripe.sessions.length;
    const begun = await beginMany(25);
    expect(stripe.sessions).toHaveLength(opened + 15);
    expect(begun.filter(({ status }) => status === 'rejected')).toHaveLength(10);
  });

  it('brings its money also where it was thought to have come to nothing: late is not wrong', async () => {
    const session = await begin();
    await use.world.tell(anEvent('checkout.session.expired', { ...session, status: 'expired' }));
    await use.world.tell(completed(session, `pi_${session.id}`));
    await use.world.tell(anEvent('checkout.session.expired', { ...session, status: 'expired' }));
    expect(await use.world.order(session)).toMatchObject({ state: 'paid', reason: '' });
    expect(await use.world.money(ann)).toEqual(['26', '0']);
  });
});

describe('without a signing secret', () => {
  const use = usePayments({ STRIPE_SECRET_KEY: 'sk_test_of_a_test', STRIPE_WEBHOOK_SECRET: '' });

  it('disables checkout, and the webhook address is a 404', async () => {
    const ann = await use.world.relay.caller({ credit: '1' });
    const browser = await use.world.browserOf(ann);
    expect((await browser.get('/wallet')).text).not.toContain('Continue to payment');
    const event = anEvent('checkout.session.completed', { id: 'cs_1' });
    expect(await use.world.tell(event, signatureOf(event, 'whsec_guessed'))).toBe(404);
    // An empty secret signs what anybody can sign.
    expect(await use.world.tell(event, 't=1,v1=00')).toBe(404);
    expect(await use.world.money(ann)).toEqual(['1', '0']);
  });
});
