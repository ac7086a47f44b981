import { DataSource } from 'typeorm';
import { operatorVisit, type OperatorVisit } from '../support/operator-visit.js';
import { completed, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import type { StripeObject } from '../support/scripted-stripe.js';

const LIST = '/admin/payments';

describe('payment problems in the admin console', () => {
  const use = usePayments();
  let operator: OperatorVisit;
  let ann: TestCaller;
  beforeAll(async () => {
    operator = await operatorVisit(use.world.relay);
    ann = await use.world.relay.caller({ credit: '0' });
  });
  beforeEach(async () => {
    await use.world.relay.get(DataSource).query('DELETE FROM payment_problems');
  });

  /** Of an order of $10 that $11 came of. */
  const mismatched = async (): Promise<{ session: StripeObject; path: string }> => {
    const session = await use.world.begin(await use.world.browserOf(ann), '10');
    await use.world.tell(completed(session, `pi_${session.id}`, { amount_total: 1100 }));
    const [row] = await use.world.relay
      .get(DataSource)
      .query<{ id: string }[]>('SELECT id FROM payment_problems WHERE reference = $1', [session.id]);
    return { session, path: `${LIST}/${row!.id}` };
  };
  const audited = (path: string): Promise<unknown[]> =>
    use.world.relay
      .get(DataSource)
      .query(
        'SELECT action, actor_name, object_owner, lines, reason FROM audit_entries WHERE object_id = $1 ORDER BY id DESC LIMIT 1',
        [path.slice(LIST.length + 1)],
      );

  it('are reported on the overview, and listed with order and user', async () => {
    const { session, path } = await mismatched();
    expect((await operator.browser.get('/admin')).text).toContain(`<a href="${LIST}">`);
    const order = await use.world.order(session);
    for (const at of [LIST, path]) {
      const { text } = await operator.browser.get(at);
      for (const reported of [session.id, 'Its amount is $11, but its order is for $10', order.id, ann.email])
        expect(text).toContain(reported);
    }
  });

  it('are removed from the list when resolved, recorded in the audit log, and move no money', async () => {
    const { session, path } = await mismatched();
    const done = await operator.browser.post(path, { reason: ' Given back at Stripe. ' });
    expect(done).toMatchObject({ status: 303, location: LIST });
    const list = await operator.browser.follow(done);
    expect(list.text).toContain('Payment problem resolved');
    expect(list.text).toContain('No payment problems');
    expect(list.text).not.toContain(session.id);
    expect((await operator.browser.get('/admin')).text).not.toContain(`<a href="${LIST}">`);
    expect(await audited(path)).toEqual([
      {
        action: 'resolved',
        actor_name: operator.email,
        object_owner: ann.accountId,
        lines: ['its amount is $11, but its order is for $10'],
        reason: 'Given back at Stripe.',
      },
    ]);
    expect(await use.world.money(ann)).toEqual(['0', '0']);
  });

  it.each(['', '   ', 'x'.repeat(201)])('report an invalid resolution: %j', async (reason) => {
    const { path } = await mismatched();
    const refused = await operator.browser.post(path, { reason });
    expect(refused.status).toBe(422);
    expect(refused.text).toContain('Enter the resolution (1 to 200 characters).');
    expect(await audited(path)).toMatchObject([{ action: 'refused' }]);
    expect((await operator.browser.get(path)).status).toBe(200);
  });

  it('report that a problem was already resolved or does not exist', async () => {
    const { path } = await mismatched();
    await operator.browser.post(path, { reason: 'First.' });
    const second = await operator.browser.follow(await operator.browser.post(path, { reason: 'Second.' }));
    expect(second.text).toContain('Nothing was resolved');
    expect(await audited(path)).toMatchObject([{ reason: 'First.' }]);
    for (const gone of [path, `${LIST}/prb_none`]) expect((await operator.browser.get(gone)).status).toBe(404);
  });

  it('stay unresolved when the audit entry cannot be written', async () => {
    const { path } = await mismatched();
    const sql = use.world.relay.get(DataSource);
    await sql.query(`ALTER TABLE audit_entries ADD CONSTRAINT no_record CHECK (action <> 'resolved') NOT VALID`);
    expect((await operator.browser.post(path, { reason: 'Done.' })).status).toBe(500);
    await sql.query('ALTER TABLE audit_entries DROP CONSTRAINT no_record');
    expect((await operator.browser.get(path)).status).toBe(200);
  });

  it('are paginated', async () => {
    await use.world.relay.get(DataSource).query(
      `INSERT INTO payment_problems (id, provider, reference, top_up_id, problem)
       SELECT 'prb_' || lpad(n::text, 3, '0'), 'stripe', 'cs_' || n, '', 'it refers to no order' FROM generate_series(1, 51) n`,
    );
    const first = await operator.browser.get(LIST);
    expect(first.text.match(/aria-label="Resolve cs_/g)).toHaveLength(50);
    expect(first.text).not.toContain('aria-label="Resolve cs_1"');
    const [, older = ''] = /<a class="btn btn--sm" href="([^"]+)" rel="next">/.exec(first.text) ?? [];
    const last = await operator.browser.get(older.replaceAll('&#x3D;', '='));
    expect(last.text.match(/aria-label="Resolve cs_\d+"/g)).toEqual(['aria-label="Resolve cs_1"']);
  });

  it('return 404 to users who are not administrators', async () => {
    const { path } = await mismatched();
    const browser = await use.world.browserOf(ann);
    await browser.get('/wallet');
    for (const at of [LIST, path]) expect((await browser.get(at)).status).toBe(404);
    expect((await browser.post(path, { reason: 'Mine.' })).status).toBe(404);
    expect((await operator.browser.get(path)).status).toBe(200);
  });
});
