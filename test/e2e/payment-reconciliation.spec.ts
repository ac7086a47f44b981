import { DataSource } from 'typeorm';
import { PaymentProblems, Reconciliation } from '../../src/wallet/index.js';
import { completed, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import type { StripeObject } from '../support/scripted-stripe.js';

describe('the reconciliation of payments', () => {
  const use = usePayments();
  let ann: TestCaller;
  let bob: TestCaller;
  beforeAll(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
    bob = await use.world.relay.caller({ credit: '0' });
  });

  const run = async (apply = false): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const { text, outcome } of use.world.relay.get(Reconciliation).run(30, apply))
      lines.push(`${outcome === 'left' ? '' : `${outcome}: `}${text.replaceAll(/top_\w+/g, 'TOP')}`);
    return lines;
  };
  const change = (session: StripeObject, over: object): void => {
    const { sessions } = use.world.stripe;
    sessions.splice(sessions.indexOf(session), 1, { ...session, ...over });
  };
  const begin = async (): Promise<StripeObject> => use.world.begin(await use.world.browserOf(ann), '25');

  it('finds nothing where both say the same, over all pages', async () => {
    use.world.stripe.pageSize = 1;
    for (let count = 0; count < 3; count += 1) {
      const session = await begin();
      await use.world.tell(completed(session, `pi_${session.id}`));
      change(session, { status: 'complete', payment_status: 'paid', payment_intent: `pi_${session.id}` });
    }
    expect(await run()).toEqual([]);
    expect(use.world.stripe.requests.filter(({ fields }) => 'starting_after' in fields)).toHaveLength(2);
  });

  it('lists payments, refunds and expirations whose events were missed, and enters them on request', async () => {
    const [unheard, expired] = [await begin(), await begin()];
    change(unheard, { status: 'complete', payment_status: 'paid', payment_intent: 'pi_unheard' });
    change(expired, { status: 'expired' });
    const created = Math.floor(Date.now() / 1000);
    const refund = { id: 're_unheard', amount: 1000, currency: 'usd', status: 'succeeded', created };
    use.world.stripe.refunds.push({ ...refund, payment_intent: 'pi_unheard' });
    use.world.stripe.refunds.push({ ...refund, id: 're_of_another_shop', payment_intent: 'pi_shop' });
    const found = [
      'TOP of $25 has expired at Stripe but is pending here',
      'TOP of $25 is paid at Stripe but pending here',
    ];
    expect(await run()).toEqual(found);
    expect(await use.world.money(ann)).toEqual(['75', '0']);
    expect(await run(true)).toEqual([
      ...found.map((line) => `entered: ${line}`),
      'entered: The refund re_unheard of TOP of $25 takes $10 back at Stripe but not here',
    ]);
    expect(await use.world.money(ann)).toEqual(['90', '0']);
    expect(await run()).toEqual([]);
    expect(await use.world.ledgerDifferences()).toEqual([]);
  });

  /** One of Bob’s whose process ended before Stripe had answered. */
  const unanswered = async (id: string, minutesAgo: number): Promise<void> => {
    await use.world.relay.get(DataSource).query(
      `INSERT INTO top_ups (id, account_id, provider, amount, currency, created_at)
       VALUES ($1, $2, 'stripe', 25000000000, 'usd', now() - $3 * interval '1 minute')`,
      [id, bob.accountId, minutesAgo],
    );
  };
  /** Its checkout, which Stripe has opened all the same. */
  const openedUnheard = (id: string, over: object = {}): StripeObject => {
    const like = use.world.stripe.lastSession;
    const metadata = { account_id: bob.accountId, top_up_id: id };
    const unpaid = { status: 'open', payment_status: 'unpaid', payment_intent: null };
    return { ...like, id: `cs_of_${id}`, client_reference_id: id, metadata, ...unpaid, ...over };
  };
  const standing = async (id: string): Promise<object> => {
    const sql = 'SELECT state, reason FROM top_ups WHERE id = $1';
    return (await use.world.relay.get(DataSource).query<object[]>(sql, [id]))[0]!;
  };

  it('closes orders never started at Stripe after their deadline, and credits them if they are paid nevertheless', async () => {
    await unanswered('top_just_now', 1);
    await unanswered('top_lost', 61);
    const line = 'TOP of $25 was never opened at Stripe but is created here';
    expect(await run()).toEqual([line]);
    expect(await run(true)).toEqual([`closed: ${line}`]);
    expect(await run()).toEqual([]);
    expect(await standing('top_lost')).toEqual({ state: 'failed', reason: 'The payment page could not be opened.' });
    expect(await standing('top_just_now')).toEqual({ state: 'created', reason: '' });
    expect(await use.world.tell(completed(openedUnheard('top_lost'), 'pi_of_lost'))).toBe(200);
    expect(await use.world.money(bob)).toEqual(['25', '0']);
    use.world.stripe.sessions.unshift(openedUnheard('top_lost', { status: 'complete', payment_status: 'paid' }));
  });

  it('applies the state of a session that Stripe created although its response was lost', async () => {
    for (const id of ['top_unheard_open', 'top_unheard_over']) await unanswered(id, 61);
    use.world.stripe.sessions.unshift(
      openedUnheard('top_unheard_open'),
      openedUnheard('top_unheard_over', { status: 'expired' }),
    );
    expect(await run(true)).toEqual(['entered: TOP of $25 has expired at Stripe but is created here']);
    expect(await standing('top_unheard_open')).toMatchObject({ state: 'created' });
    expect(await standing('top_unheard_over')).toMatchObject({ state: 'expired' });
    expect(await run()).toEqual([]);
    await use.world.tell(completed(openedUnheard('top_unheard_open'), 'pi_of_a_bank', { payment_status: 'unpaid' }));
    expect(await standing('top_unheard_open')).toMatchObject({ state: 'pending' });
  });

  it('enters nothing that does not match its order, and notes it for operators until they have seen to it', async () => {
    const session = await begin();
    change(session, { status: 'complete', payment_status: 'paid', payment_intent: 'pi_more', amount_total: 2600 });
    const problem = 'its amount is $26, but its order is for $25';
    const line = `The checkout ${session.id} does not match: ${problem}`;
    expect(await run()).toEqual([line]);
    expect(await use.world.problems()).toEqual([]);
    expect([await run(true), await run(true)]).toEqual([[line], [line]]);
    expect(await use.world.money(ann)).toEqual(['90', '0']);
    expect(await use.world.problems()).toEqual([{ reference: session.id, problem }]);
    const problems = use.world.relay.get(PaymentProblems);
    const [noted] = await problems.unresolved();
    await problems.resolve(noted!.id, 'Given back.');
    expect([await run(), await run(true)]).toEqual([[`resolved: ${line}`], [`resolved: ${line}`]]);
    expect(await problems.unresolved()).toEqual([]);
    use.world.stripe.sessions.shift();
  });

  it('enters no refund in another currency', async () => {
    const { payment } = await use.world.paid(ann);
    change(use.world.stripe.lastSession, { status: 'complete', payment_status: 'paid', payment_intent: payment });
    const created = Math.floor(Date.now() / 1000);
    const refund = { id: 're_euro', amount: 1000, currency: 'eur', status: 'succeeded', created };
    use.world.stripe.refunds.push({ ...refund, payment_intent: payment });
    const line = 'The refund re_euro of TOP of $25 does not match: it is in the currency “eur”, not in US dollars';
    expect(await run(true)).toEqual([line]);
    use.world.stripe.refunds.pop();
  });

  it('does not say that it enters a payment that another order was paid by', async () => {
    const [first, second] = [await begin(), await begin()];
    await use.world.tell(completed(first, 'pi_of_two'));
    for (const session of [first, second])
      change(session, { status: 'complete', payment_status: 'paid', payment_intent: 'pi_of_two' });
    const line = `The checkout ${second.id} does not match: its payment was made for the order TOP`;
    expect(await run(true)).toEqual([line]);
    expect((await use.world.order(second)).state).toBe('pending');
    use.world.stripe.sessions.shift();
  });

  it('says that Stripe does not answer', async () => {
    use.world.stripe.failure = { status: 500, message: 'Down.' };
    await expect(run()).rejects.toThrow('Unexpected response from Stripe.');
  });
});
