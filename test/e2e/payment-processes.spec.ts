import { DataSource } from 'typeorm';
import { completed, disputed, PAYING, refunded, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';
import { Service } from '../support/service.js';

/** So many orders at once: enough for both to be in the midst of some. */
const ORDERS = 10;

describe('a Stripe event that two processes receive at the same time', () => {
  const use = usePayments();
  let other: Service;
  let ann: TestCaller;

  beforeAll(async () => {
    other = await Service.start(undefined, {
      ...PAYING,
      DATABASE_URL: use.world.relay.databaseUrl,
      SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
      DEMO: 'off',
      LOG_LEVEL: 'error',
    });
  }, 120_000);
  afterAll(() => other.remove(), 60_000);
  beforeEach(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
  });

  const query = <Row>(sql: string, values: unknown[] = []): Promise<Row[]> =>
    use.world.relay.get(DataSource).query(sql, values);
  const orders = async (): Promise<{ readonly event: string; readonly payment: string }[]> => {
    const browser = await use.world.browserOf(ann);
    const begun = [];
    for (let count = 0; count < ORDERS; count += 1) {
      const session = await use.world.begin(browser, '10');
      const payment = `pi_${session.id}`;
      begun.push({ event: completed(session, payment), payment });
    }
    return begun;
  };
  const tellBoth = async (events: readonly string[]): Promise<void> => {
    const urls = [use.world.relay.url, other.address];
    const reported = events.flatMap((event) => urls.map((url) => use.world.tell(event, undefined, url)));
    expect(new Set(await Promise.all(reported))).toEqual(new Set([200]));
  };
  const entries = (): Promise<{ kind: string; count: number }[]> =>
    query(
      `SELECT e.kind, count(*)::int FROM ledger_entries e JOIN top_up_entries t ON t.entry_id = e.id
         JOIN top_ups o ON o.id = t.top_up_id WHERE o.account_id = $1 GROUP BY 1 ORDER BY 1`,
      [ann.accountId],
    );
  const expectExact = async (): Promise<void> => {
    expect(await use.world.ledgerDifferences()).toEqual([]);
    const [server] = await query('SELECT deadlocks::int FROM pg_stat_database WHERE datname = current_database()');
    expect(server).toEqual({ deadlocks: 0 });
    expect(other.errors).toEqual([]);
  };

  it('brings its money once: the same event at both', async () => {
    const begun = await orders();
    await tellBoth(begun.map(({ event }) => event));
    expect(await use.world.money(ann)).toEqual(['100', '0']);
    expect(await entries()).toEqual([{ kind: 'payment', count: ORDERS }]);
    await expectExact();
  });

  it('leaves what is left of each, when payments, refunds and disputes come at once, in no order', async () => {
    const begun = await orders();
    const events = begun.flatMap(({ event, payment }) => [
      refunded(`re_${payment}`, payment, 600),
      event,
      disputed(`dp_${payment}`, payment, 300),
    ]);
    await tellBoth(events);
    expect(await use.world.money(ann)).toEqual(['10', '0']);
    const states = await query<{ state: string; count: number }>(
      'SELECT state, taken_back AS taken, count(*)::int FROM top_ups WHERE account_id = $1 GROUP BY 1, 2',
      [ann.accountId],
    );
    expect(states).toEqual([{ state: 'disputed', taken: '9000000000', count: ORDERS }]);
    await expectExact();
  });
});
