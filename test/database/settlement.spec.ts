import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import type { CallRow } from '../../src/relay/billing/call-row.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { attemptOf, finished } from '../support/billing-rows.js';

describe('settlement', () => {
  let bench: BillingBench;
  beforeEach(async () => {
    bench = await BillingBench.start();
  });
  afterEach(() => bench.stop());

  /** As whoever finds the call of a dead process closes it. */
  const swept = (request: AdmissionRequest): CallRow =>
    finished(request, 0n, { status: 'interrupted', billing_basis: 'free' });
  const rows = (): Promise<unknown> => bench.query('SELECT status, cost, billing_basis FROM calls ORDER BY id');

  describe('after a sweep', () => {
    it('replaces it, attempts and all, and charges once', async () => {
      const call = await bench.opened(100n);
      await expect(
        bench.settle({ ...swept(call), attempt_rows: [attemptOf(call, { channel: 'swept' })] }),
      ).resolves.toBe(0n);
      await expect(
        bench.settle(finished(call, 30n, { attempt_rows: [attemptOf(call, { channel: 'real' })] })),
      ).resolves.toBe(30n);
      await expect(rows()).resolves.toEqual([{ status: 'succeeded', cost: '30', billing_basis: 'reported' }]);
      await expect(bench.query('SELECT channel FROM call_attempts')).resolves.toEqual([{ channel: 'real' }]);
      await expect(bench.settle(finished(call, 30n))).resolves.toBeUndefined();
      await expect(bench.wallet()).resolves.toMatchObject({ balance: 999_999_970n, held: 0n, holds: 0 });
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('replaces nothing but a sweep, and a sweep replaces nothing', async () => {
      const [failed, twice] = [await bench.opened(100n), await bench.opened(100n)];
      await bench.settle(finished(failed, 10n, { status: 'failed', billing_basis: 'partial' }));
      await expect(bench.settle(finished(failed, 30n))).resolves.toBeUndefined();
      await expect(bench.settle(swept(failed))).resolves.toBeUndefined();
      await bench.settle(swept(twice));
      await expect(bench.settle(swept(twice))).resolves.toBeUndefined();
      await expect(rows()).resolves.toEqual([
        { status: 'failed', cost: '10', billing_basis: 'partial' },
        { status: 'interrupted', cost: '0', billing_basis: 'free' },
      ]);
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('collects only what is free by then', async () => {
      const call = await bench.opened(600_000_000n);
      await bench.settle(swept(call));
      await bench.opened(900_000_000n);
      await expect(bench.settle(finished(call, 600_000_000n))).resolves.toBe(100_000_000n);
      await expect(bench.query('SELECT cost, uncollected FROM calls')).resolves.toEqual([
        { cost: '100000000', uncollected: '500000000' },
      ]);
      await expect(bench.check()).resolves.toEqual(EXACT);
    });
  });

  describe('overtaking its admission', () => {
    /** The process gave the admission up and settled; then the database carried it out. */
    const overtaken = async (): Promise<{ call: AdmissionRequest; row: CallRow }> => {
      const call = bench.asking(100n);
      const row = finished(call, 0n, { status: 'refused', billing_basis: 'free' });
      await expect(bench.settle(row)).resolves.toBe(0n);
      await expect(bench.admit(call)).resolves.toMatchObject({ outcome: 'admitted' });
      return { call, row };
    };
    const nothingHeld = async (): Promise<void> => {
      await expect(bench.wallet()).resolves.toEqual({ balance: 1_000_000_000n, held: 0n, holds: 0, owed: 0n });
      await expect(bench.query('SELECT id FROM open_calls')).resolves.toEqual([]);
      await expect(bench.query('SELECT id FROM calls')).resolves.toHaveLength(1);
      await expect(bench.check()).resolves.toEqual(EXACT);
    };

    it('releases the hold when the settlement is tried again, whatever else is in the batch', async () => {
      const { row } = await overtaken();
      const other = await bench.opened(100n);
      await expect(bench.repository.settle([finished(other, 0n), row])).resolves.toEqual([0n, undefined]);
      await bench.query('DELETE FROM calls WHERE id = $1', [other.id]);
      await nothingHeld();
    });

    it('releases the hold when it is swept', async () => {
      const { call } = await overtaken();
      await expect(bench.settle(swept(call))).resolves.toBeUndefined();
      await nothingHeld();
    });

    it('is looked for: such holds are released after a minute, and no other', async () => {
      await overtaken();
      await expect(bench.repository.releaseSettledHolds()).resolves.toBe(0);
      const open = await bench.opened(100n);
      await bench.query(`UPDATE open_calls SET created_at = created_at - interval '61 seconds'`);
      await bench.query(`UPDATE calls SET created_at = created_at - interval '61 seconds'`);
      await expect(bench.repository.releaseSettledHolds()).resolves.toBe(1);
      await expect(bench.query('SELECT id FROM open_calls')).resolves.toEqual([{ id: open.id }]);
      await bench.repository.settle([finished({ ...open, created_at: open.created_at }, 0n)]);
      await bench.query('DELETE FROM calls WHERE id = $1', [open.id]);
      await nothingHeld();
    });
  });

  describe('of an account that owes', () => {
    /** A payment of a dollar is taken back while the wallet has so much less: the rest is owed. */
    const takeBack = async (owed: bigint): Promise<void> => {
      const { balance, held } = await bench.wallet();
      const free = balance - held;
      await bench.query(`INSERT INTO ledger_entries (id, kind) VALUES ('led_back', 'refund')`);
      await bench.query(
        `INSERT INTO ledger_lines SELECT 'led_back', a, n FROM unnest($1::text[], $2::bigint[]) AS l (a, n) WHERE n <> 0`,
        [
          [`wallet:${bench.accountId}`, `owed:${bench.accountId}`, 'payments'],
          [-free, -owed, free + owed],
        ],
      );
      await bench.query('UPDATE wallets SET balance = balance - $1::bigint, owed = $2', [free, owed]);
      await expect(bench.check()).resolves.toEqual(EXACT);
    };

    it('admits nothing and says what is owed', async () => {
      await takeBack(5n);
      await expect(bench.admit(bench.asking(1n))).resolves.toMatchObject({ outcome: 'owed', free: -5n });
    });

    it('pays it from what every release leaves, after the call itself, until nothing is owed', async () => {
      const [one, other] = [await bench.opened(100n), await bench.opened(100n)];
      await takeBack(150n);
      await expect(bench.settle(finished(one, 30n))).resolves.toBe(30n);
      await expect(bench.wallet()).resolves.toEqual({ balance: 100n, held: 100n, holds: 1, owed: 80n });
      await expect(bench.check()).resolves.toEqual(EXACT);
      await expect(bench.settle(swept(other))).resolves.toBe(0n);
      await expect(bench.wallet()).resolves.toEqual({ balance: 20n, held: 0n, holds: 0, owed: 0n });
      await expect(
        bench.query(
          `SELECT l.ledger_account, sum(l.amount)::text AS amount
             FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id WHERE e.kind = 'owed' GROUP BY 1 ORDER BY 1`,
        ),
      ).resolves.toEqual([
        { ledger_account: `owed:${bench.accountId}`, amount: '150' },
        { ledger_account: `wallet:${bench.accountId}`, amount: '-150' },
      ]);
      await expect(bench.check()).resolves.toEqual(EXACT);
      await expect(bench.admit(bench.asking(1n))).resolves.toMatchObject({ outcome: 'admitted' });
    });
  });

  it('says in the ledger check what is owed by no entry, and what could not be settled', async () => {
    await bench.query('UPDATE wallets SET owed = 7000000000');
    const call = bench.asking(1n);
    await bench.repository.recordFailure(finished(call, 30_000_000n, { model: 'a\0b' }), new Error('why\0'));
    await expect(bench.check()).resolves.toEqual({
      exact: false,
      differences: [
        `The debt of account ${bench.accountId} is $7, but its ledger account shows $0`,
        `The amount collected for call ${call.id} is $0, but its settlement failed, and it cost $0.03`,
      ],
    });
    await expect(bench.query(`SELECT error, call ->> 'model' AS model FROM settlement_failures`)).resolves.toEqual([
      { error: 'why', model: 'ab' },
    ]);
    await bench.query('UPDATE wallets SET owed = 0');
    await bench.query('UPDATE settlement_failures SET resolved_at = now()');
    await expect(bench.check()).resolves.toEqual(EXACT);
  });
});
