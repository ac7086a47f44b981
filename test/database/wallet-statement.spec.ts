import { newId, nanos, type Nanos } from '../../src/platform/shared/index.js';
import { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import { BillingModule } from '../../src/relay/billing/index.js';
import { type Query, TimeLimitedReads, UsageRoller } from '../../src/usage/index.js';
import { RedemptionService, WalletService } from '../../src/wallet/index.js';
import {
  type ConsumptionDay,
  movedSince,
  movements,
  type TopUp,
  type TopUpPosition,
  WalletStatement,
} from '../../src/wallet/wallet-movements.js';
import { admissionOf, finished } from '../support/billing-rows.js';
import { type Owner, UsageWorld } from '../support/usage-world.js';

const DAY = 24 * 60 * 60 * 1000;
const USD = 1_000_000_000n;

describe('the statement of a wallet', () => {
  let world: UsageWorld;
  let ann: Owner;
  const now = Date.now();

  beforeEach(async () => {
    world = await UsageWorld.start([BillingModule]);
    ann = await world.owner('ann@example.com');
    const bob = await world.owner('bob@example.com');
    await world.get(WalletService).credit(bob.accountId, nanos(7n), 'another account');
    await settled(bob, 3n, new Date(now));
  });
  afterEach(() => world.close());

  /** A call that began then, paid from what the account has now. */
  const settled = async (owner: Owner, cost: bigint, at: Date, model = 'm'): Promise<void> => {
    const billing = world.get(BillingRepository);
    const request = admissionOf(owner, cost, { id: newId('req', at.getTime()), created_at: at.toISOString() });
    await billing.admit([request]);
    await billing.settle([finished(request, cost, { model })]);
  };
  const read = <T>(work: Parameters<TimeLimitedReads['read']>[0]): Promise<T> =>
    world.get(TimeLimitedReads).read(work) as Promise<T>;
  const balance = async (): Promise<Nanos> => (await world.get(WalletService).balanceOf(ann.accountId)).balance;
  const topUps = async (size = 50): Promise<TopUp[]> => {
    const all: TopUp[] = [];
    let before: TopUpPosition | undefined;
    do {
      const page = await read<Awaited<ReturnType<WalletStatement['topUps']>>>((query) =>
        world.get(WalletStatement).topUps(query, ann.accountId, before, size),
      );
      all.push(...page.topUps);
      before = page.older;
    } while (before);
    return all;
  };
  const days = async (timeZone = 'UTC'): Promise<ConsumptionDay[]> => {
    const all: ConsumptionDay[] = [];
    let before: Date | undefined;
    do {
      const page = await read<Awaited<ReturnType<WalletStatement['consumption']>>>((query) =>
        world.get(WalletStatement).consumption(query, ann.accountId, timeZone, before),
      );
      all.push(...page.days);
      before = page.before;
    } while (before);
    return all;
  };
  const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, amount) => all + amount, 0n);
  const expectExact = async (): Promise<void> => {
    const [gained, taken] = [await topUps(3), await days('Asia/Kolkata')];
    expect(sum(gained.map(({ amount }) => amount)) - sum(taken.map(({ cost }) => cost))).toBe(await balance());
    expect(taken[0]?.balanceAfter ?? (await balance())).toBe(await balance());
  };

  it('adds up to the balance, to the nano-dollar, after credits, debits, codes, refunds, debts and calls', async () => {
    const wallet = world.get(WalletService);
    const { accountId } = ann;
    await expectExact();
    await wallet.credit(accountId, nanos(10n * USD + 1n), 'first');
    for (let day = 0; day < 70; day += 3) await settled(ann, BigInt(day) * 1_234_567n + 1n, new Date(now - day * DAY));
    await expectExact();
    await wallet.credit(accountId, nanos(-USD), 'correction');
    const {
      codes: [code],
    } = await world.get(RedemptionService).create({ amount: nanos(5n), count: 1 });
    await world.get(RedemptionService).redeem(accountId, code!);
    await expectExact();
    // More than is free: the rest is owed, and what is released or comes in pays it.
    const request = admissionOf(ann, USD);
    await world.get(BillingRepository).admit([request]);
    await wallet.recordOwed(accountId, nanos(20n * USD), 'taken back');
    await expectExact();
    await world.get(BillingRepository).settle([finished(request, 1n)]);
    await expectExact();
    await wallet.credit(accountId, nanos(30n * USD), 'second');
    await world.get(UsageRoller).roll();
    await settled(ann, 99n, new Date(now - 40 * DAY));
    await expectExact();
    expect((await topUps()).map(({ kind }) => kind)).toEqual([
      'credit',
      'owed',
      'refund',
      'redemption',
      'debit',
      'credit',
    ]);
  });

  it('says of each top-up what the balance gained, what was paid of a debt, and what was there then', async () => {
    const wallet = world.get(WalletService);
    await wallet.credit(ann.accountId, nanos(100n), 'first');
    await wallet.recordOwed(ann.accountId, nanos(130n), 'taken back');
    await wallet.credit(ann.accountId, nanos(50n), 'second');
    await new Promise((resolve) => setTimeout(resolve, 5));
    await settled(ann, 5n, new Date());
    const found = await topUps(1);
    expect(found.map(({ amount, paidDebt, balanceAfter, reason }) => [amount, paidDebt, balanceAfter, reason])).toEqual(
      [
        [20n, 30n, 20n, 'second'],
        [-100n, -30n, 0n, 'taken back'],
        [100n, 0n, 100n, 'first'],
      ],
    );
    expect(found[0]!.id).toMatch(/^led_/);
  });

  it('gives each day its calls, tokens, costliest model and what was left at its end, where the reader is', async () => {
    await world.get(WalletService).credit(ann.accountId, nanos(1000n), 'first');
    const noon = new Date(Math.floor(now / DAY) * DAY - 2 * DAY + DAY / 2);
    await settled(ann, 7n, noon, 'dear');
    await settled(ann, 1n, noon, 'cheap');
    await settled(ann, 1n, noon, 'cheap');
    await settled(ann, 20n, new Date(noon.getTime() - 50 * DAY));
    const [recent, old] = await days();
    expect(recent).toMatchObject({ calls: 3, tokens: 6, topModel: 'dear', cost: 9n });
    expect(recent!.start.toISOString()).toBe(new Date(noon.getTime() - DAY / 2).toISOString());
    // The money came later than all of them.
    expect([recent!.balanceAfter, old!.balanceAfter]).toEqual([-29n, -20n]);
    const [inAuckland] = await days('Pacific/Auckland');
    expect(inAuckland!.start.getTime()).not.toBe(recent!.start.getTime());
  });

  it('reads the movements of its own account, however many others have', async () => {
    const { sql } = world;
    await sql.query(
      `WITH entries AS (
         INSERT INTO ledger_entries (id, kind, created_at)
         SELECT 'led_' || n, 'credit', now() - n * interval '1 second' FROM generate_series(1, 3000) n)
       INSERT INTO ledger_lines SELECT 'led_' || n, 'wallet:acc_' || n % 50, 5 FROM generate_series(1, 3000) n`,
    );
    for (const amount of [1n, 2n, 3n]) await world.get(WalletService).credit(ann.accountId, nanos(amount), 'own');
    await sql.query('ANALYZE');
    let touched = 0;
    const counting: Query = async (text, parameters = []) => {
      const [{ 'QUERY PLAN': plan }] = await sql.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, [...parameters]);
      touched += rowsRead(plan[0].Plan);
      return sql.query(text, [...parameters]);
    };
    const found = await movements(counting, ann.accountId, { limit: 51 });
    expect(found.map(({ amount }) => amount)).toEqual([3n, 2n, 1n]);
    expect(await movements(counting, ann.accountId, { since: new Date(now - 30 * DAY) })).toEqual(found);
    expect(await movedSince(counting, ann.accountId, [found[1]!.position, found[1]!.id])).toBe(5n);
    expect(touched).toBeLessThan(100);
  });
});

interface Plan {
  readonly 'Actual Rows': number;
  readonly 'Actual Loops': number;
  readonly 'Rows Removed by Filter'?: number;
  readonly Plans?: readonly Plan[];
}

/** By every node of a plan together, those that a filter dropped too. */
const rowsRead = (plan: Plan): number =>
  (plan['Actual Rows'] + (plan['Rows Removed by Filter'] ?? 0)) * plan['Actual Loops'] +
  (plan.Plans ?? []).reduce((sum, part) => sum + rowsRead(part), 0);
