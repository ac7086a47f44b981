import { DatabaseOutage } from '../support/database-outage.js';
import { eventually } from '../support/eventually.js';
import { completed, refunded, usePayments } from '../support/payments-world.js';
import type { TestCaller } from '../support/relay-app.js';

describe('a Stripe event while the database is unavailable', () => {
  const use = usePayments();
  let ann: TestCaller;
  let outage: DatabaseOutage;

  beforeAll(async () => {
    ann = await use.world.relay.caller({ credit: '0' });
    outage = await DatabaseOutage.of(use.world.relay.databaseUrl);
  });
  afterEach(() => outage.end());
  afterAll(() => outage.close());

  it('is answered with an error, and accepted when it is sent again', async () => {
    const session = await use.world.begin(await use.world.browserOf(ann), '25');
    const payment = `pi_${session.id}`;
    const events = [completed(session, payment), refunded(`re_${payment}`, payment, 1000)];
    await outage.begin();
    for (const event of events) expect(await use.world.tell(event)).toBeGreaterThanOrEqual(500);
    await outage.end();
    for (const event of events) await eventually(async () => expect(await use.world.tell(event)).toBe(200), 10_000);
    expect(await use.world.money(ann)).toEqual(['15', '0']);
    expect(await use.world.ledgerDifferences()).toEqual([]);
  });
});
