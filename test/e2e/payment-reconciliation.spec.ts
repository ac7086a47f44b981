import { Reconciliation } from '../../src/wallet/index.js';
import { completed, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import type { StripeObject } from '../support/scripted-stripe.js';

describe('the reconciliation of payments', () => {
  const use = usePayments();
  let ann: TestCaller;
  beforeAll(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
  });

  const run = async (apply = false): Promise<readonly string[]> => {
    const lines: string[] = [];
    for await (const { text, applied } of use.world.relay.get(Reconciliation).run(30, apply))
      lines.push(`${applied ? 'entered: ' : ''}${text.replaceAll(/top_\w+/g, 'TOP')}`);
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

  it('names what was paid, refunded or expired without anybody here having heard of it, and enters it when told to', async () => {
    const [unheard, expired] = [await begin(), await begin()];
    change(unheard, { status: 'complete', payment_status: 'paid', payment_intent: 'pi_unheard' });
    change(expired, { status: 'expired' });
    const created = Math.floor(Date.now() / 1000);
    const refund = { id: 're_unheard', amount: 1000, currency: 'usd', status: 'succeeded', created };
    use.world.stripe.refunds.push({ ...refund, payment_intent: 'pi_unheard' });
    use.world.stripe.refunds.push({ ...refund, id: 're_of_another_shop', payment_intent: 'pi_shop' });
    const found = [
      'TOP of $25 has expired at Stripe, and is pending here',
      'TOP of $25 is paid at Stripe, and pending here',
    ];
    expect(await run()).toEqual(found);
    expect(await use.world.money(ann)).toEqual(['75', '0']);
    expect(await run(true)).toEqual([
      ...found.map((line) => `entered: ${line}`),
      'entered: The refund re_unheard of TOP of $25 takes $10 back at Stripe, and not here',
    ]);
    expect(await use.world.money(ann)).toEqual(['90', '0']);
    expect(await run()).toEqual([]);
    expect(await use.world.ledgerDifferences()).toEqual([]);
  });

  it('enters nothing that does not match its order', async () => {
    const session = await begin();
    change(session, { status: 'complete', payment_status: 'paid', payment_intent: 'pi_more', amount_total: 2600 });
    const line = `The checkout ${session.id} does not match: it is of $26, and its order of $25`;
    expect([await run(true), await run(true)]).toEqual([[line], [line]]);
    expect(await use.world.money(ann)).toEqual(['90', '0']);
  });

  it('says that Stripe does not answer', async () => {
    use.world.stripe.failure = { status: 500, message: 'Down.' };
    await expect(run()).rejects.toThrow('Stripe does not answer as it should.');
  });
});
