import { withApp } from '../../src/app/cli/index.js';
import { StripeEndpoint } from '../../src/wallet/payments/stripe-api.js';
import { ask, BackupWorld, OLD_SECRET_KEY } from '../support/backups.js';
import { commandIn, type Outcome } from '../support/command-line.js';
import { completed, PAYING, refunded, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';

describe('the commands about payments', () => {
  const use = usePayments();
  const environment = { ...process.env };
  let ann: TestCaller;

  beforeAll(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
    Object.assign(process.env, PAYING, { DATABASE_URL: use.world.relay.databaseUrl, SECRET_KEY: OLD_SECRET_KEY });
  });
  afterAll(() => {
    process.env = { ...environment };
  });
  afterEach(() => {
    use.world.stripe.failure = undefined;
  });

  /** On the command line, with the Stripe of this machine. */
  const payments = (...args: string[]): Promise<Outcome> =>
    commandIn(
      (work) =>
        withApp((app) => {
          Object.assign(app.get(StripeEndpoint, { strict: false }), use.world.stripe.endpoint);
          return work(app);
        }),
      'payments',
      ...args,
    );

  it('name what Stripe has and is missing here, enter it when told to, and then find that both agree', async () => {
    const session = await use.world.begin(await use.world.browserOf(ann), '25');
    const { sessions } = use.world.stripe;
    const paid = { status: 'complete', payment_status: 'paid', payment_intent: 'pi_unheard' };
    sessions.splice(0, 1, { ...session, ...paid });
    const { id } = await use.world.order(session);
    const line = `${id} of $25 is paid at Stripe but pending here`;
    expect(await payments('reconcile')).toEqual({
      code: 1,
      stdout: `${line}\n`,
      stderr: 'error: Stripe and this service differ in 1 entry.\n',
    });
    expect(await use.world.money(ann)).toEqual(['0', '0']);
    const agree = 'payments agree\n';
    expect(await payments('reconcile', '--apply')).toEqual({
      code: 0,
      stdout: `${line}: entered\n${agree}`,
      stderr: '',
    });
    expect(await use.world.money(ann)).toEqual(['25', '0']);
    expect(await payments('reconcile', '--days', '1')).toEqual({ code: 0, stdout: agree, stderr: '' });
    const [lists] = use.world.stripe.requests.filter(({ fields }) => 'created[gte]' in fields).slice(-3);
    expect(Number(lists!.fields['created[gte]'])).toBeCloseTo(Date.now() / 1000 - 24 * 60 * 60, -2);
  });

  it('fail in one line when Stripe does not answer, and are used wrongly where a number is none', async () => {
    use.world.stripe.failure = { status: 500, message: 'Down.' };
    const silent = await payments('reconcile');
    expect(silent).toMatchObject({ code: 1, stdout: '' });
    expect(silent.stderr).toMatch(/^error: Unexpected response from Stripe\..*$/m);
    expect(await payments('reconcile', '--days', 'many')).toMatchObject({ code: 2, stdout: '' });
    expect(await payments('resolve', 'prb_1')).toMatchObject({ code: 2, stdout: '' });
  });

  it('list unmatched payments until they are resolved, which is recorded', async () => {
    const session = await use.world.begin(await use.world.browserOf(ann), '10');
    await use.world.tell(completed(session, 'pi_more', { amount_total: 1100 }));
    const problem = 'its amount is $11, but its order is for $10';
    const listed = await payments('problems');
    expect(listed).toMatchObject({ code: 0, stderr: '' });
    const [, id = ''] = /^(prb_\w+)\s/.exec(listed.stdout) ?? [];
    expect(listed.stdout).toContain(`${session.id}  `);
    expect(listed.stdout).toContain(problem);
    expect(await payments('resolve', id, '--reason', 'Refunded by hand.')).toEqual({ code: 0, stdout: '', stderr: '' });
    expect(await payments('problems')).toEqual({ code: 0, stdout: '', stderr: '' });
    const { sessions } = use.world.stripe;
    sessions.splice(0, 1, { ...session, status: 'complete', payment_status: 'paid', amount_total: 1100 });
    const line = `The checkout ${session.id} does not match: ${problem}`;
    expect(await payments('reconcile')).toEqual({ code: 0, stdout: `${line}: resolved\npayments agree\n`, stderr: '' });
    const again = await payments('resolve', id, '--reason', 'Refunded by hand.');
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toContain(`No unresolved problem ${id}`);
    const audited = await ask(
      use.world.relay.databaseUrl,
      'SELECT action, reason FROM audit_entries WHERE object_id = $1 ORDER BY id',
      [id],
    );
    expect(audited).toEqual([
      { action: 'refused', reason: '' },
      { action: 'resolved', reason: 'Refunded by hand.' },
    ]);
  });
});

describe('the books of payments', () => {
  const use = usePayments();
  const world = new BackupWorld();
  const orders = `SELECT id, state, amount, taken_back FROM top_ups ORDER BY id`;
  let ann: TestCaller;
  let order: string;

  beforeAll(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
    const { session, payment } = await use.world.paid(ann, '25');
    await use.world.tell(refunded(`re_${payment}`, payment, 500));
    order = (await use.world.order(session)).id;
  });
  afterEach(() => world.clear());
  afterAll(() => world.remove());

  const check = (url: string): Promise<Outcome> => world.command({ DATABASE_URL: url }, 'ledger', 'check');

  it.each([
    ['its amount', 'amount = amount + 1', '$20.000000001'],
    ['what was reversed of it', 'taken_back = 0', '$25'],
    ['that it was paid', `paid_at = NULL, state = 'expired', taken_back = 0`, '$0'],
  ])('are not exact when somebody has altered %s', async (_, change, figure) => {
    const url = use.world.relay.databaseUrl;
    const [before] = await ask<object>(url, 'SELECT amount, taken_back, paid_at, state FROM top_ups WHERE id = $1', [
      order,
    ]);
    await ask(url, `UPDATE top_ups SET ${change} WHERE id = $1`, [order]);
    const { code, stdout } = await check(url);
    await ask(url, 'UPDATE top_ups SET amount = $2, taken_back = $3, paid_at = $4, state = $5 WHERE id = $1', [
      order,
      ...Object.values(before!),
    ]);
    expect(code).toBe(1);
    expect(stdout).toContain(`The amount received by payment ${order} is ${figure}, but its ledger entries sum to $20`);
    expect((await check(url)).code).toBe(0);
  });

  it('are what they were where a backup is restored: orders, entries, and what Stripe has told', async () => {
    const file = world.file('payments.backup');
    const from = use.world.relay.databaseUrl;
    expect(await world.command({ DATABASE_URL: from }, 'backup', file)).toMatchObject({ code: 0 });
    const { url } = await world.emptyDatabase();
    expect(await world.command({ DATABASE_URL: url }, 'restore', file)).toMatchObject({ code: 0 });
    for (const table of ['top_up_entries', 'payment_events', 'payment_reversals']) {
      const rows = await ask(from, `SELECT * FROM ${table} ORDER BY 1, 2`);
      expect(rows.length).toBeGreaterThan(0);
      expect(await ask(url, `SELECT * FROM ${table} ORDER BY 1, 2`)).toEqual(rows);
    }
    expect(await ask(url, orders)).toEqual(await ask(from, orders));
    expect(await check(url)).toMatchObject({ code: 0 });
  });
});
