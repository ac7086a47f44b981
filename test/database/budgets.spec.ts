import type { AdmissionRequest } from '../../src/relay/billing/admission.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { finished } from '../support/billing-rows.js';

interface Budget {
  period: string;
  period_start: string;
  used: bigint;
  held: bigint;
}

describe('budgets of a key', () => {
  let bench: BillingBench;
  beforeEach(async () => {
    bench = await BillingBench.start();
  });
  afterEach(() => bench.stop());

  const limit = async (budgets: Partial<Record<'daily' | 'weekly' | 'monthly', bigint>>): Promise<void> => {
    for (const [name, amount] of Object.entries(budgets)) {
      await bench.query(`UPDATE api_keys SET ${name}_budget = $1`, [amount]);
    }
  };
  const budgets = async (): Promise<Budget[]> => {
    const rows = await bench.query<Record<keyof Budget, string>>(
      'SELECT period, period_start::text, used, held FROM budgets ORDER BY period, period_start',
    );
    return rows.map((row) => ({ ...row, used: BigInt(row.used), held: BigInt(row.held) }));
  };
  /** Everything that is on record happened a month and more ago. */
  const passTime = async (): Promise<void> => {
    await bench.query(
      `UPDATE open_calls SET budget_day = budget_day - 40, budget_week = budget_week - 42,
                             budget_month = budget_month - interval '2 months'`,
    );
    await bench.query(
      `UPDATE budgets SET period_start = CASE period WHEN 'day' THEN period_start - 40 WHEN 'week' THEN period_start - 42
                                             ELSE (period_start - interval '2 months')::date END`,
    );
  };
  const lose = async ({ id }: AdmissionRequest): Promise<void> => {
    await bench.query(
      `WITH gone AS (DELETE FROM open_calls WHERE id = $1 RETURNING *),
            keys AS (UPDATE api_keys k SET held = k.held - gone.hold FROM gone WHERE k.id = gone.key_id),
            none AS (DELETE FROM budgets)
       UPDATE wallets w SET held = w.held - gone.hold, holds = w.holds - 1 FROM gone WHERE w.account_id = gone.account_id`,
      [id],
    );
  };

  it('begin at midnight, on Monday and on the first of the month, in UTC', async () => {
    const starts = (moment: string): Promise<unknown> =>
      bench.query(
        `SELECT budget_period_start(period, $1)::text AS start FROM unnest('{day,week,month}'::text[]) AS period`,
        [moment],
      );
    // The first of March 2026 is a Sunday; in New York it is still February.
    await expect(starts('2026-02-28T22:00:00-05:00')).resolves.toEqual([
      { start: '2026-03-01' },
      { start: '2026-02-23' },
      { start: '2026-03-01' },
    ]);
    await expect(starts('2026-03-02T00:00:00Z')).resolves.toEqual([
      { start: '2026-03-02' },
      { start: '2026-03-02' },
      { start: '2026-03-01' },
    ]);
  });

  it('are held against and used up as the quota is, each for itself', async () => {
    await limit({ daily: 100n, monthly: 250n });
    const call = await bench.opened(80n);
    await expect(budgets()).resolves.toMatchObject([
      { period: 'day', used: 0n, held: 80n },
      { period: 'month', used: 0n, held: 80n },
    ]);
    await expect(bench.settle(finished(call, 60n))).resolves.toBe(60n);
    await expect(budgets()).resolves.toMatchObject([
      { period: 'day', used: 60n, held: 0n },
      { period: 'month', used: 60n, held: 0n },
    ]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('refuse a call by the one that has the least left, naming it, what is free in it and what is on hold', async () => {
    await limit({ daily: 100n, weekly: 90n, monthly: 200n });
    await bench.opened(60n);
    await expect(bench.admit(bench.asking(31n))).resolves.toMatchObject({
      outcome: 'budget',
      period: 'week',
      free: 30n,
      onHold: 60n,
    });
    await expect(bench.admit(bench.asking(30n))).resolves.toMatchObject({ outcome: 'admitted', hold: 30n });
  });

  it('hold back one call of a batch and not another, nor a key that has none', async () => {
    await limit({ daily: 100n });
    const free = await bench.account('bob@example.com');
    const other = { account_id: free.accountId, key_id: free.keyId };
    const batch = [bench.asking(60n), bench.asking(60n), bench.asking(60n, other), bench.asking(40n)];
    const results = await bench.repository.admit(batch);
    expect(results.map(({ outcome }) => outcome)).toEqual(['admitted', 'budget', 'admitted', 'admitted']);
    await expect(budgets()).resolves.toMatchObject([{ period: 'day', held: 100n }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('bound what an extension gets and what a settlement collects', async () => {
    await limit({ weekly: 100n });
    const [call, other] = [await bench.opened(50n), await bench.opened(20n)];
    const more = { admission: call, held: 50n, want: 40n };
    await expect(bench.repository.extend([more])).resolves.toMatchObject([{ outcome: 'extended', granted: 30n }]);
    await expect(bench.repository.extend([{ ...more, held: 80n }])).resolves.toMatchObject([
      { outcome: 'budget', period: 'week', granted: 0n, free: 0n, onHold: 100n },
    ]);
    await expect(bench.settle(finished(other, 10n))).resolves.toBe(10n);
    await expect(bench.settle(finished(call, 200n))).resolves.toBe(90n);
    await expect(bench.query('SELECT cost, uncollected FROM calls ORDER BY cost')).resolves.toEqual([
      { cost: '10', uncollected: '0' },
      { cost: '90', uncollected: '110' },
    ]);
    await expect(budgets()).resolves.toMatchObject([{ period: 'week', used: 100n, held: 0n }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('reset with their period, while a call is counted in the period of its admission', async () => {
    await limit({ daily: 100n, weekly: 100n, monthly: 100n });
    const call = await bench.opened(80n);
    await passTime();
    const next = await bench.opened(100n);
    const more = { admission: call, held: 80n, want: 40n };
    await expect(bench.repository.extend([more])).resolves.toMatchObject([{ outcome: 'extended', granted: 20n }]);
    await expect(bench.settle(finished(call, 150n))).resolves.toBe(100n);
    await expect(bench.settle(finished(next, 1n))).resolves.toBe(1n);
    const [before, after] = [
      { used: 100n, held: 0n },
      { used: 1n, held: 0n },
    ];
    await expect(budgets()).resolves.toMatchObject([before, after, before, after, before, after]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('keep the period of a call that was swept, when its settlement comes after all', async () => {
    await limit({ daily: 100n });
    const call = await bench.opened(80n);
    await passTime();
    await bench.settle(finished(call, 0n, { status: 'interrupted', billing_basis: 'free' }));
    await expect(bench.settle(finished(call, 70n))).resolves.toBe(70n);
    await expect(budgets()).resolves.toMatchObject([{ used: 70n, held: 0n }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('count a call whose admission was lost in the period in which the database learns of it again', async () => {
    await limit({ daily: 100n });
    const [settled, extended] = [await bench.opened(40n), await bench.opened(40n)];
    await lose(settled);
    await lose(extended);
    await expect(bench.settle(finished(settled, 40n))).resolves.toBe(40n);
    const more = { admission: extended, held: 40n, want: 30n };
    await expect(bench.repository.extend([more])).resolves.toMatchObject([{ outcome: 'extended', granted: 20n }]);
    await expect(budgets()).resolves.toMatchObject([{ used: 40n, held: 60n }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('that are lifted, or set while calls run, count only what is admitted under them', async () => {
    const before = await bench.opened(80n);
    await limit({ daily: 100n });
    const call = await bench.opened(100n);
    await bench.query('UPDATE api_keys SET daily_budget = NULL');
    await bench.query('UPDATE budgets SET "limit" = NULL');
    const after = await bench.opened(300n);
    for (const [request, cost] of [
      [before, 80n],
      [call, 120n],
      [after, 300n],
    ] as const) {
      await expect(bench.settle(finished(request, cost))).resolves.toBe(cost);
    }
    await expect(budgets()).resolves.toMatchObject([{ used: 120n, held: 0n }]);
    await expect(bench.check()).resolves.toEqual(EXACT);
  });

  it('are checked: the ledger check finds a figure that is not what its calls say', async () => {
    await limit({ daily: 100_000_000n });
    await bench.opened(50_000_000n);
    await bench.query('UPDATE budgets SET used = 10000000, held = 40000000');
    const [{ period_start: start }] = (await budgets()) as [Budget];
    await expect(bench.check()).resolves.toMatchObject({
      differences: [
        `The amount on hold on the budget of ${bench.keyId}, day from ${start} is $0.04, but its open calls hold $0.05`,
        `The usage of the budget of ${bench.keyId}, day from ${start} is $0.01, but its calls cost $0`,
      ],
    });
  });

  it('are kept by the database itself', async () => {
    await limit({ daily: 100n });
    await bench.opened(50n);
    await expect(bench.query('UPDATE budgets SET used = 51')).rejects.toThrow('budget_use_is_within_limit');
    await expect(bench.query('UPDATE budgets SET "limit" = 49')).rejects.toThrow('budget_use_is_within_limit');
    await expect(bench.query('UPDATE budgets SET held = -1')).rejects.toThrow('budget_held_is_not_negative');
    await expect(bench.query('UPDATE api_keys SET daily_budget = -1')).rejects.toThrow('key_budget_is_not_negative');
  });
});
