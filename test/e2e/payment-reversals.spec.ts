import { DataSource } from 'typeorm';
import { anEvent, completed, disputed, refunded, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';

describe('a payment that is taken back', () => {
  const use = usePayments();
  let ann: TestCaller;
  beforeEach(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
  });
  afterEach(async () => expect(await use.world.ledgerDifferences()).toEqual([]));

  const call = async () => {
    const response = await use.world.relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello' });
    return { status: response.status, text: await response.text() };
  };
  const later = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds;

  it('takes what is free, leaves the rest owed, blocks calls saying so, until the next top-up clears it', async () => {
    const { payment, session } = await use.world.paid(ann, '25');
    expect((await call()).status).toBe(200);
    const [balance] = await use.world.money(ann);
    expect(Number(balance)).toBeLessThan(25);
    await use.world.tell(refunded('re_all', payment, 2500));
    const [left, owed] = await use.world.money(ann);
    expect([left, Number(owed)]).toEqual(['0', expect.closeTo(25 - Number(balance), 9)]);
    expect(await use.world.order(session)).toMatchObject({ state: 'refunded', taken: '25' });
    const refused = await call();
    expect(refused.status).toBe(429);
    expect(refused.text).toContain('owes');
    expect(refused.text).toContain('insufficient_quota');
    await use.world.paid(ann, '10');
    expect((await use.world.money(ann))[1]).toBe('0');
    expect((await call()).status).toBe(200);
  });

  it('goes in parts, each once, told singly and altogether', async () => {
    const { payment, session } = await use.world.paid(ann);
    const charge = { id: `ch_${payment}`, object: 'charge', payment_intent: payment, currency: 'usd' };
    await use.world.tell(refunded(`re_1_${payment}`, payment, 500));
    await use.world.tell(anEvent('charge.refunded', { ...charge, amount_refunded: 500 }));
    expect(await use.world.money(ann)).toEqual(['20', '0']);
    expect((await use.world.order(session)).state).toBe('partly_refunded');
    await use.world.tell(anEvent('charge.refunded', { ...charge, amount_refunded: 800 }, { created: later(1) }));
    await use.world.tell(refunded(`re_2_${payment}`, payment, 300, { type: 'refund.updated' }));
    expect(await use.world.money(ann)).toEqual(['17', '0']);
  });

  it('comes back when the refund fails, and stays so when an older event comes late', async () => {
    const { payment, session } = await use.world.paid(ann);
    const id = `re_f_${payment}`;
    await use.world.tell(refunded(id, payment, 700, { status: 'pending' }));
    expect(await use.world.money(ann)).toEqual(['18', '0']);
    await use.world.tell(refunded(id, payment, 700, { type: 'refund.failed', status: 'failed', notifiedAt: later(2) }));
    await use.world.tell(
      refunded(id, payment, 700, { type: 'refund.updated', status: 'pending', notifiedAt: later(1) }),
    );
    expect(await use.world.money(ann)).toEqual(['25', '0']);
    expect(await use.world.order(session)).toMatchObject({ state: 'paid', taken: '0' });
  });

  it('may be taken back before anybody has told that it was paid', async () => {
    const session = await use.world.begin(await use.world.browserOf(ann));
    const payment = `pi_${session.id}`;
    await use.world.tell(refunded(`re_${payment}`, payment, 1000));
    expect(await use.world.money(ann)).toEqual(['0', '0']);
    await use.world.tell(completed(session, payment));
    expect(await use.world.money(ann)).toEqual(['15', '0']);
    expect((await use.world.order(session)).state).toBe('partly_refunded');
  });

  it('is given back when a dispute is won, and kept when it is lost', async () => {
    const [won, lost] = [await use.world.paid(ann), await use.world.paid(ann)];
    for (const { payment } of [won, lost]) await use.world.tell(disputed(`dp_${payment}`, payment, 2500));
    expect(await use.world.money(ann)).toEqual(['0', '0']);
    expect((await use.world.order(won.session)).state).toBe('disputed');
    const reinstated = { type: 'charge.dispute.funds_reinstated', status: 'won', toldAt: later(1) };
    await use.world.tell(disputed(`dp_${won.payment}`, won.payment, 2500, reinstated));
    const closed = { type: 'charge.dispute.closed', toldAt: later(1) };
    await use.world.tell(disputed(`dp_${won.payment}`, won.payment, 2500, { ...closed, status: 'won' }));
    await use.world.tell(disputed(`dp_${lost.payment}`, lost.payment, 2500, { ...closed, status: 'lost' }));
    expect(await use.world.money(ann)).toEqual(['25', '0']);
    expect((await use.world.order(won.session)).state).toBe('paid');
    expect((await use.world.order(lost.session)).state).toBe('disputed');
  });

  it('is not taken back by a mere inquiry', async () => {
    const { payment } = await use.world.paid(ann);
    await use.world.tell(disputed(`dp_${payment}`, payment, 2500, { status: 'warning_needs_response' }));
    expect(await use.world.money(ann)).toEqual(['25', '0']);
  });

  it('is ignored when it belongs to no payment here: the Stripe account may sell other things, in other currencies', async () => {
    const before = await use.world.problems();
    const refund = { id: 're_shop', amount: 900, currency: 'eur', payment_intent: 'pi_shop', status: 'succeeded' };
    expect(await use.world.tell(anEvent('refund.created', { ...refund, created: later(0) }))).toBe(200);
    expect(await use.world.problems()).toEqual(before);
  });

  it('is kept for 90 days when it belongs to no payment here, and without limit otherwise', async () => {
    const sql = use.world.relay.get(DataSource);
    const age = (id: string, days: number): Promise<unknown> =>
      sql.query(`UPDATE payment_reversals SET told_at = now() - $2 * interval '1 day' WHERE id = $1`, [id, days]);
    const kept = async (): Promise<readonly string[]> =>
      (await sql.query<{ id: string }[]>(`SELECT id FROM payment_reversals WHERE id LIKE 're_kept_%' ORDER BY id`)).map(
        ({ id }) => id.slice('re_kept_'.length),
      );
    const { payment } = await use.world.paid(ann);
    await use.world.tell(refunded('re_kept_ours', payment, 500));
    for (const id of ['late', 'old', 'older']) await use.world.tell(refunded(`re_kept_${id}`, `pi_shop_${id}`, 500));
    await age('re_kept_ours', 400);
    await age('re_kept_late', 89);
    await age('re_kept_old', 91);
    await age('re_kept_older', 91);
    await sql.transaction(async (manager) => {
      await manager.query(`SELECT 1 FROM payment_reversals WHERE id = 're_kept_older' FOR SHARE`);
      // Nobody waits for whoever looks at one.
      await use.world.tell(refunded('re_of_ours', payment, 100));
      expect(await kept()).toEqual(['late', 'old', 'older', 'ours']);
      await use.world.tell(refunded('re_shop_1', 'pi_shop', 500));
      expect(await kept()).toEqual(['late', 'older', 'ours']);
    });
    await use.world.tell(refunded('re_shop_2', 'pi_shop', 500));
    expect(await kept()).toEqual(['late', 'ours']);
    expect(await use.world.money(ann)).toEqual(['19', '0']);
  });

  it('debits nothing when its currency differs from its payment’s, and notifies administrators', async () => {
    const { payment } = await use.world.paid(ann);
    const refund = { id: `re_${payment}`, amount: 900, currency: 'eur', payment_intent: payment, status: 'succeeded' };
    await use.world.tell(anEvent('refund.created', { ...refund, created: later(0) }));
    expect(await use.world.money(ann)).toEqual(['25', '0']);
    expect((await use.world.problems()).at(-1)!.problem).toBe('it is in the currency “eur”, not in US dollars');
  });

  it('is done once when every event comes many times at once', async () => {
    const session = await use.world.begin(await use.world.browserOf(ann));
    const payment = `pi_${session.id}`;
    const events = [
      completed(session, payment),
      completed(session, payment),
      refunded(`re_${payment}`, payment, 600),
      disputed(`dp_${payment}`, payment, 300),
    ];
    const statuses = await Promise.all([...events, ...events, ...events].map((event) => use.world.tell(event)));
    expect(new Set(statuses)).toEqual(new Set([200]));
    expect(await use.world.money(ann)).toEqual(['16', '0']);
  });
});
