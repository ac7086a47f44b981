import type { AdmissionRequest, ExtensionResult } from '../../src/relay/billing/admission.js';
import { nanos } from '../../src/platform/shared/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';

describe('extension of a hold', () => {
  let bench: BillingBench;
  beforeEach(async () => {
    bench = await BillingBench.start();
  });
  afterEach(() => bench.stop());

  const extend = async (admission: AdmissionRequest, held: bigint, want: bigint): Promise<ExtensionResult> => {
    const [result] = await bench.repository.extend([{ admission, held, want }]);
    return result!;
  };
  const holdOf = async ({ id }: AdmissionRequest): Promise<bigint | undefined> => {
    const [row] = await bench.query<{ hold: string }>('SELECT hold FROM open_calls WHERE id = $1', [id]);
    return row && BigInt(row.hold);
  };

  it('raises the hold on the call, its wallet and its key alike', async () => {
    const call = await bench.opened(100_000_000n);
    await expect(extend(call, 100_000_000n, 50_000_000n)).resolves.toEqual({
      outcome: 'extended',
      granted: 50_000_000n,
      free: 900_000_000n,
      onHold: 100_000_000n,
      holds: 1,
    });
    await expect(holdOf(call)).resolves.toBe(150_000_000n);
    await expect(bench.wallet()).resolves.toMatchObject({ held: 150_000_000n, holds: 1 });
    await expect(bench.check()).resolves.toEqual(EXACT);
    await expect(bench.settle(finished(call, 150_000_000n))).resolves.toBe(150_000_000n);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('grants what is left of the wallet, then refuses and says what it met', async () => {
    const call = await bench.opened(700_000_000n);
    await bench.opened(200_000_000n);
    await expect(extend(call, 700_000_000n, 300_000_000n)).resolves.toMatchObject({ granted: 100_000_000n });
    await expect(extend(call, 800_000_000n, 1n)).resolves.toEqual({
      outcome: 'wallet',
      granted: 0n,
      free: 0n,
      onHold: 1_000_000_000n,
      holds: 2,
    });
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('grants what is left of the quota of the key, then says that the key refused', async () => {
    const key_id = await bench.key({ quota: nanos(150n) });
    const call = await bench.opened(100n, { key_id });
    await expect(extend(call, 100n, 80n)).resolves.toMatchObject({ outcome: 'extended', granted: 50n });
    await expect(extend(call, 150n, 80n)).resolves.toMatchObject({ outcome: 'key', free: 0n, onHold: 150n });
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('decides call by call in order of arrival: one that gets nothing takes nothing from those behind it', async () => {
    const key_id = await bench.key({ quota: nanos(100n) });
    const [full, some, rest] = [await bench.opened(100n, { key_id }), await bench.opened(1n), await bench.opened(1n)];
    const results = await bench.repository.extend([
      { admission: full, held: 100n, want: 1n },
      { admission: some, held: 1n, want: 600_000_000n },
      { admission: rest, held: 1n, want: 600_000_000n },
    ]);
    expect(results.map(({ outcome, granted }) => [outcome, granted])).toEqual([
      ['key', 0n],
      ['extended', 600_000_000n],
      ['extended', 399_999_898n],
    ]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('is not done twice when its response got lost and it is asked again', async () => {
    const call = await bench.opened(100n);
    await extend(call, 100n, 50n);
    await expect(extend(call, 100n, 50n)).resolves.toMatchObject({ outcome: 'extended', granted: 50n });
    await expect(holdOf(call)).resolves.toBe(150n);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('refuses a key or account that was disabled meanwhile, and an account that owes', async () => {
    const call = await bench.opened(100n);
    await bench.query('UPDATE wallets SET owed = 7');
    await expect(extend(call, 100n, 1n)).resolves.toMatchObject({ outcome: 'owed', granted: 0n, free: -7n });
    await bench.query(`UPDATE accounts SET state = 'disabled'`);
    await expect(extend(call, 100n, 1n)).resolves.toMatchObject({ outcome: 'account_state', granted: 0n });
    await bench.query(`UPDATE api_keys SET state = 'disabled'`);
    await expect(extend(call, 100n, 1n)).resolves.toMatchObject({ outcome: 'key_state', granted: 0n });
    await expect(bench.wallet()).resolves.toMatchObject({ held: 100n });
  });

  it('has nothing to raise on a call that was settled', async () => {
    const call = await bench.opened(100n);
    await bench.settle(finished(call, 10n));
    await expect(extend(call, 100n, 1n)).resolves.toMatchObject({ outcome: 'closed', granted: 0n });
    await expect(bench.wallet()).resolves.toMatchObject({ held: 0n, holds: 0 });
  });

  describe('of a call whose row was lost with the database', () => {
    /** What a crash of the server may do to an admission that did not wait for the disk. */
    const lose = async ({ id }: AdmissionRequest): Promise<void> => {
      await bench.query(
        `WITH gone AS (DELETE FROM open_calls WHERE id = $1 RETURNING *),
              keys AS (UPDATE api_keys k SET held = k.held - gone.hold FROM gone WHERE k.id = gone.key_id)
         UPDATE wallets w SET held = w.held - gone.hold, holds = w.holds - 1 FROM gone WHERE w.account_id = gone.account_id`,
        [id],
      );
    };

    it('inserts it again with the whole hold', async () => {
      const facts = { model: 'm1', group_name: 'g1', protocol: 'p1', stream: true, effort: 'e1', ip: 'i1' };
      const call = await bench.opened(100n, { ...facts, process_id: 'prs_1', snapshot: '{"price":"1"}' });
      const [before] = await bench.query<object>('SELECT * FROM open_calls');
      await lose(call);
      await expect(extend(call, 100n, 50n)).resolves.toMatchObject({ outcome: 'extended', granted: 50n });
      await expect(bench.query('SELECT * FROM open_calls')).resolves.toEqual([{ ...before, hold: '150' }]);
      await expect(bench.wallet()).resolves.toMatchObject({ held: 150n, holds: 1 });
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('refuses it when what it relies on is no longer there', async () => {
      const call = await bench.opened(600_000_000n);
      await lose(call);
      await bench.opened(500_000_000n);
      await expect(extend(call, 600_000_000n, 1n)).resolves.toEqual({
        outcome: 'wallet',
        granted: 0n,
        free: 500_000_000n,
        onHold: 500_000_000n,
        holds: 1,
      });
      await expect(holdOf(call)).resolves.toBeUndefined();
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('makes up for an extension that was forgotten alone', async () => {
      const call = await bench.opened(100n);
      // The process was granted 50 more, of which the database knows nothing.
      await expect(extend(call, 150n, 30n)).resolves.toMatchObject({ outcome: 'extended', granted: 30n });
      await expect(holdOf(call)).resolves.toBe(180n);
      await expect(bench.check()).resolves.toEqual(EXACT);
    });

    it('finds the row that an earlier request of the same batch has inserted again', async () => {
      const call = await bench.opened(100n);
      await lose(call);
      const twice = { admission: call, held: 100n, want: 50n };
      await expect(bench.repository.extend([twice, { ...twice, held: 150n }])).resolves.toMatchObject([
        { outcome: 'extended', granted: 50n },
        { outcome: 'extended', granted: 50n },
      ]);
      await expect(holdOf(call)).resolves.toBe(200n);
      await expect(bench.wallet()).resolves.toMatchObject({ held: 200n, holds: 1 });
    });
  });
});
