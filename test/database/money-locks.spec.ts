import { type AdmissionRequest } from '../../src/relay/billing/admission.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';

const AT_ONCE = 8;
const ROUNDS = 15;

describe('the locks of money', () => {
  let bench: BillingBench;
  beforeEach(async () => {
    bench = await BillingBench.start();
  });
  afterEach(() => bench.stop());

  it('are taken in one order: batches that cross in wallets, keys and budgets never deadlock, and stay exact', async () => {
    const other = await bench.account('bob@example.com');
    const owners = [
      { account_id: bench.accountId, key_id: bench.keyId },
      { account_id: bench.accountId, key_id: await bench.key({ quota: parseUsd('0.6') }) },
      { account_id: other.accountId, key_id: other.keyId },
    ];
    await bench.query(
      'UPDATE api_keys SET daily_budget = 500000000, weekly_budget = 500000000, monthly_budget = 400000000',
    );
    // Every round has the same accounts and keys in another order, and many run at once on eight connections.
    const turned = <T>(list: readonly T[], round: number): T[] => {
      const rotated = list.map((_item, index) => list[(index + round) % list.length]!);
      return round % 2 === 0 ? rotated : rotated.toReversed();
    };
    const life = async (round: number): Promise<void> => {
      const requested = turned(owners, round).map((owner) => bench.asking(5_000_000n, owner));
      const results = await bench.repository.admit(requested);
      const admitted = requested.filter((_request, index) => results[index]?.outcome === 'admitted');
      const extensions = admitted.map((admission) => ({ admission, held: 5_000_000n, want: 3_000_000n }));
      const settlement = (cost: bigint) => (call: AdmissionRequest) => finished(call, cost);
      const swept = (call: AdmissionRequest) => finished(call, 0n, { status: 'interrupted', billing_basis: 'free' });
      await Promise.all([
        bench.repository.extend(turned(extensions, round + 1)),
        bench.repository.settle(turned(admitted, round + 2).map(settlement(2_000_000n))),
        bench.repository.settle(turned(admitted, round + 3).map(swept)),
        bench.repository.settle(turned(admitted, round).map(settlement(1_000_000n))),
      ]);
      // Whatever an extension has brought back after its call was swept.
      await bench.repository.settle(admitted.map(swept));
    };
    const lives = async (first: number): Promise<void> => {
      for (let round = 0; round < ROUNDS; round += 1) await life(first + round);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, (_, first) => lives(first)));
    await expect(bench.check()).resolves.toEqual(EXACT);
    for (const accountId of [bench.accountId, other.accountId]) {
      await expect(bench.wallet(accountId)).resolves.toMatchObject({ held: 0n, holds: 0 });
    }
    await expect(bench.query('SELECT id FROM open_calls')).resolves.toEqual([]);
  });
});
