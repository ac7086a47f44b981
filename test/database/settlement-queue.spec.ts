import pg from 'pg';
import { DatabasePools } from '../../src/platform/database/index.js';
import { POOL_SIZES } from '../../src/platform/database/pools.js';
import { Metrics } from '../../src/platform/metrics/index.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { SettlementQueue } from '../../src/relay/billing/settlement-queue.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { eventually } from '../support/eventually.js';

/** Violates a constraint of the rows of calls. */
const REFUSED = { billing_basis: 'guessed' as CallRow['billing_basis'] };

describe('the queue of settlements', () => {
  let bench: BillingBench;
  let queue: SettlementQueue;
  beforeEach(async () => {
    bench = await BillingBench.start();
    queue = bench.app.get(SettlementQueue, { strict: false });
  });
  afterEach(() => bench.stop());

  const rows = (): Promise<Record<string, unknown>[]> =>
    bench.query('SELECT status, cost, billing_basis, error_reason, prompt_tokens FROM calls ORDER BY id');

  it('puts a call aside that the database refuses, and settles those around it', async () => {
    const [good, bad, other] = [await bench.opened(100n), await bench.opened(100n), await bench.opened(100n)];
    const refused = finished(bad, 30n, { ...REFUSED, channel: 'nul \0' });
    const results = await Promise.allSettled([
      queue.settle(finished(good, 10n)),
      queue.settle(refused),
      queue.settle(finished(other, 20n)),
    ]);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'fulfilled']);
    await expect(
      bench.query(`SELECT call_id, error, call ->> 'channel' AS channel, resolved_at FROM settlement_failures`),
    ).resolves.toEqual([
      {
        call_id: bad.id,
        error: expect.stringContaining('call_billing_basis_is_known'),
        channel: 'nul ',
        resolved_at: null,
      },
    ]);
    await expect(bench.wallet()).resolves.toMatchObject({ balance: 999_999_970n });
    await expect(bench.check()).resolves.toMatchObject({
      differences: [expect.stringContaining(`The amount collected for call ${bad.id}`)],
    });
  });

  it('holds nothing for a call that was put aside, and lets it be settled by hand', async () => {
    const call = await bench.opened(100n);
    const refused = finished(call, 30n, REFUSED);
    await expect(queue.settle(refused)).rejects.toThrow('could not be recorded');
    await expect(bench.wallet()).resolves.toMatchObject({ balance: 1_000_000_000n, held: 0n, holds: 0 });
    await expect(bench.query('SELECT id FROM open_calls')).resolves.toEqual([]);
    await expect(rows()).resolves.toMatchObject([{ status: 'interrupted', cost: '0', billing_basis: 'free' }]);

    await expect(bench.settle(finished(call, 30n))).resolves.toBe(30n);
    await bench.query('UPDATE settlement_failures SET resolved_at = now()');
    await expect(rows()).resolves.toMatchObject([{ status: 'succeeded', cost: '30' }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('counts a call once that is put aside', async () => {
    const refused = finished(await bench.opened(100n), 30n, REFUSED);
    await expect(queue.enqueue(refused, { trace: undefined })).rejects.toThrow('could not be recorded');
    const { registry } = bench.app.get(Metrics, { strict: false });
    const counted = await registry.getSingleMetric('switchboard_calls_total')?.get();
    expect(counted?.values).toMatchObject([{ value: 1, labels: { status: 'failed', reason: 'unavailable' } }]);
  });

  describe('without a database', () => {
    let outage: DatabaseOutage;
    beforeEach(async () => {
      outage = await DatabaseOutage.of(bench.database.url);
    });
    afterEach(() => outage.close());

    it('charges a stream as partial, and an unstreamed response not at all, when their ends could not be sent', async () => {
      const [stream, whole] = [await bench.opened(100n), await bench.opened(100n)];
      await outage.begin();
      const reported = await Promise.allSettled([
        queue.settle(finished(stream, 30n, { stream: true }), 300),
        queue.settle(finished(whole, 40n), 300),
      ]);
      expect(reported.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
      await outage.end();
      await eventually(async () => expect(await rows()).toHaveLength(2));
      const failed = { status: 'failed', error_reason: 'unavailable' };
      await expect(rows()).resolves.toEqual([
        { ...failed, cost: '30', billing_basis: 'partial', prompt_tokens: '1' },
        { ...failed, cost: '0', billing_basis: 'free', prompt_tokens: null },
      ]);
      await expect(bench.check()).resolves.toEqual(EXACT);
      await expect(bench.wallet()).resolves.toMatchObject({ held: 0n, holds: 0 });
    });

    it('charges as its client was told a call that is given up before its patience is over', async () => {
      const [whole, other] = [await bench.opened(100n), await bench.opened(100n)];
      await outage.begin();
      const [reported, patient] = [queue.settle(finished(whole, 40n)), queue.settle(finished(other, 30n))];
      queue.giveUp(whole.id);
      await expect(reported).rejects.toThrow('could not be recorded');
      await outage.end();
      await expect(patient).resolves.toBe(30n);
      await eventually(async () => expect(await rows()).toHaveLength(2));
      await expect(rows()).resolves.toMatchObject([
        { status: 'failed', cost: '0', billing_basis: 'free', error_reason: 'unavailable' },
        { status: 'succeeded', cost: '30', billing_basis: 'reported' },
      ]);
      // It has been settled: nothing is left to give up.
      queue.giveUp(other.id);
    });

    it('settles in the end a failure as the failure that it was', async () => {
      const call = await bench.opened(100n);
      await outage.begin();
      const row = finished(call, 30n, { status: 'failed', billing_basis: 'partial', error_reason: 'timeout' });
      await expect(queue.settle(row, 100)).rejects.toThrow('could not be recorded');
      await outage.end();
      await eventually(async () => expect(await rows()).toHaveLength(1));
      await expect(rows()).resolves.toMatchObject([{ status: 'failed', cost: '30', error_reason: 'timeout' }]);
    });
  });

  it('charges as its client was told a call that was still waiting for a connection then', async () => {
    const call = await bench.opened(100n);
    const { settlement } = bench.app.get(DatabasePools, { strict: false });
    const taken = await Promise.all(Array.from({ length: POOL_SIZES.settlement }, () => settlement.connect()));
    await expect(queue.settle(finished(call, 30n), 100)).rejects.toThrow('could not be recorded');
    for (const client of taken) client.release();
    await eventually(async () => expect(await rows()).toHaveLength(1));
    await expect(rows()).resolves.toMatchObject([{ status: 'failed', cost: '0', billing_basis: 'free' }]);
  });

  describe('behind a statement that the database does not answer', () => {
    let blocker: pg.Client;
    beforeEach(async () => {
      blocker = new pg.Client({ connectionString: bench.database.url });
      await blocker.connect();
    });
    afterEach(() => blocker.end());

    const block = (): Promise<unknown> => blocker.query('BEGIN; SELECT * FROM wallets FOR UPDATE');
    const waitingForLock = async (): Promise<void> =>
      eventually(async () => {
        const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
        await expect(bench.query(waiting)).resolves.toHaveLength(1);
      });

    it('leaves a call as it was recorded, when that happened while its client was told otherwise', async () => {
      const call = await bench.opened(100n);
      await block();
      // The statement has reached the database and waits there for the wallet.
      await expect(queue.settle(finished(call, 30n), 500)).rejects.toThrow('could not be recorded');
      await blocker.query('COMMIT');
      await eventually(async () => expect(await rows()).toHaveLength(1));
      await expect(rows()).resolves.toMatchObject([{ status: 'succeeded', cost: '30', billing_basis: 'reported' }]);
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('charges as its client was told a call that was not sent to the database by then', async () => {
      const [sent, behind] = [await bench.opened(100n), await bench.opened(100n)];
      await block();
      const first = queue.settle(finished(sent, 30n));
      await waitingForLock();
      await expect(queue.settle(finished(behind, 40n), 100)).rejects.toThrow('could not be recorded');
      await blocker.query('COMMIT');
      await expect(first).resolves.toBe(30n);
      await eventually(async () => expect(await rows()).toHaveLength(2));
      await expect(rows()).resolves.toMatchObject([
        { status: 'succeeded', cost: '30', billing_basis: 'reported' },
        { status: 'failed', cost: '0', billing_basis: 'free' },
      ]);
      await expect(bench.check()).resolves.toEqual(EXACT);
    });
  });
});
