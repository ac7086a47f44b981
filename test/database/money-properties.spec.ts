import fc from 'fast-check';
import { newId } from '../../src/platform/shared/index.js';
import { BillingBench, EXACT } from '../support/billing-bench.js';
import { createWorlds, storedStates } from '../support/money-state.js';
import { MoneyStepper } from '../support/money-stepper.js';
import { ModelMismatchError, type Start, stateText, type Step, World } from '../support/money-world.js';

/** How many accounts go through a life of their own; 100,000 take some hours. */
const RUNS = Number(process.env['MONEY_RUNS'] ?? 2000);
const SEED = process.env['MONEY_SEED'] === undefined ? undefined : Number(process.env['MONEY_SEED']);
/** So many accounts live at the same time and share every batch. */
const AT_ONCE = 250;

interface AccountHistory {
  readonly start: Start;
  readonly steps: readonly Step[];
}

// Amounts are small, so that wallets, quotas and budgets are met exactly, and run out.
const amount = (max: number): fc.Arbitrary<bigint> => fc.bigInt({ min: 0n, max: BigInt(max) });
const limit = fc.option(amount(150), { freq: 2 });
const key = fc.nat({ max: 1 });
const pick = fc.nat({ max: 30 });
const few = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T[]> => fc.array(one, { minLength: 1, maxLength: 3 });
/** A member without a team, a team's service key, both, or neither. */
const holders = fc.constantFrom([0], [1], [0, 1], []);
const wish = fc
  .record({ key, minimum: amount(30), more: amount(30), extra: amount(60), prompt: amount(20) })
  .map(({ more, extra, ...rest }) => {
    const base = rest.minimum + more;
    return { ...rest, base, ceiling: base + extra };
  });
const status = fc.constantFrom('succeeded' as const, 'failed' as const, 'cancelled' as const);
const said = fc.record({
  by: fc.constantFrom('refund' as const, 'another' as const, 'dispute' as const),
  amount: amount(90),
  counts: fc.boolean(),
  late: fc.nat({ max: 2 }),
});

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('admit' as const), wishes: few(wish) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('overtaken' as const), wish }) },
  {
    weight: 5,
    arbitrary: fc.record({
      kind: fc.constant('extend' as const),
      calls: few(fc.record({ pick, want: amount(40).map((want) => want + 1n), received: fc.boolean() })),
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('settle' as const),
      calls: few(fc.record({ pick, cost: amount(90), status })),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('sweep' as const), calls: few(fc.record({ pick })) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('move' as const), amount: fc.bigInt({ min: -60n, max: 90n }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('takeBack' as const), amount: amount(60) }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('allow' as const), amount: fc.oneof(fc.constant(0n), amount(90)) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('turn' as const), months: fc.integer({ min: -1, max: 2 }) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('order' as const), amount: amount(90).map((paid) => paid + 1n) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('pay' as const), pick }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('reverse' as const),
      pick,
      said: few(said),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('quota' as const), key, amount: limit }) },
  {
    weight: 2,
    arbitrary: fc.record({ kind: fc.constant('limit' as const), key, period: fc.nat({ max: 2 }), amount: limit }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('limitHolder' as const),
      holder: fc.nat({ max: 1 }),
      period: fc.nat({ max: 3 }),
      amount: limit,
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('handOver' as const), key, holders }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('crash' as const),
      pick,
      what: fc.constantFrom('all' as const, 'extensions' as const),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('release' as const, 'passTime' as const) }) },
);

const limits = fc.array(limit, { minLength: 3, maxLength: 3 });
const life: fc.Arbitrary<AccountHistory> = fc.record({
  start: fc.record({
    balance: amount(300),
    keys: fc.tuple(
      fc.record({ quota: fc.option(amount(200)), limits }),
      fc.record({ quota: fc.option(amount(200)), limits: fc.constant([null, null, null]) }),
    ),
    organization: fc.option(
      fc.record({
        limits: fc.array(fc.array(limit, { minLength: 4, maxLength: 4 }), { minLength: 2, maxLength: 2 }),
        keys: fc.tuple(holders, holders),
      }),
      { nil: undefined, freq: 2 },
    ),
  }),
  steps: fc.array(step, { minLength: 1, maxLength: 30, size: 'max' }),
});

describe('money under any interleaving', () => {
  let bench: BillingBench;
  beforeAll(async () => {
    bench = await BillingBench.start();
  });
  afterAll(() => bench.stop());

  /** M1 and M6 by the model and the constraints, M2 by the sums of the ledger, after every step; at the end all of it. */
  const live = async (lives: readonly AccountHistory[]): Promise<void> => {
    // Those of the worlds before, which nobody looks at any more.
    await bench.repository.releaseSettledHolds();
    const worlds = lives.map(({ start }) => new World(start));
    const firstEntry = newId('led', Date.now());
    await createWorlds(bench, worlds);
    const stepper = new MoneyStepper(bench, worlds);
    const longest = Math.max(...lives.map(({ steps }) => steps.length));
    for (let at = 0; at < longest; at += 1) {
      try {
        await stepper.step(lives.map(({ steps }) => steps[at]));
        await compareStates(worlds, firstEntry);
      } catch (error) {
        throw explained(error, lives, worlds, at);
      }
    }
    await expect(bench.check()).resolves.toEqual(EXACT);
  };

  const compareStates = async (worlds: readonly World[], firstEntry: string): Promise<void> => {
    const stored = await storedStates(bench, worlds);
    worlds.forEach((world, index) => {
      if (stored[index] !== world.expected) throw new ModelMismatchError(world, 'state', stored[index], world.expected);
    });
    const uneven = await bench.query(
      'SELECT entry_id FROM ledger_lines WHERE entry_id >= $1 GROUP BY entry_id HAVING sum(amount) <> 0 LIMIT 1',
      [firstEntry],
    );
    if (uneven.length > 0) throw new Error(`an entry does not sum to zero: ${JSON.stringify(uneven)}`);
  };

  it(
    `is what a plain model says, after each step of ${RUNS} accounts (M1, M2, M6)`,
    async () => {
      const property = fc.asyncProperty(fc.array(life, { minLength: AT_ONCE, maxLength: AT_ONCE }), live);
      const run = await fc.check(property, {
        numRuns: Math.ceil(RUNS / AT_ONCE),
        ...(SEED !== undefined && { seed: SEED }),
        // What failed is told with the life of its account alone; smaller ones would take an hour to find.
        endOnFailure: true,
      });
      const fault = run.failed ? `MONEY_SEED=${run.seed} fails: ${String(run.errorInstance)}` : undefined;
      expect(fault).toBeUndefined();
    },
    Math.max(120_000, RUNS * 200),
  );
});

function explained(error: unknown, lives: readonly AccountHistory[], worlds: readonly World[], at: number): unknown {
  if (!(error instanceof ModelMismatchError)) return error;
  const { start, steps } = lives[worlds.indexOf(error.world)]!;
  return new Error(`${error.message}\n  after    ${stateText({ start, steps: steps.slice(0, at + 1) })}`);
}
