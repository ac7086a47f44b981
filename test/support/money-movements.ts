import { nanos } from '../../src/platform/shared/index.js';
import { AllowanceService, DebitTooLarge, WalletService } from '../../src/wallet/index.js';
import type { BillingBench } from './billing-bench.js';
import { compare, type Jobs, someAtOnce, type World } from './money-world.js';

/** What moves money other than calls do, in database and model: what operators do, and what they take back. */
export class MoneyMovements {
  private readonly wallets: WalletService;
  private readonly allowances: AllowanceService;

  constructor(private readonly bench: BillingBench) {
    this.wallets = bench.app.get(WalletService);
    this.allowances = bench.app.get(AllowanceService);
  }

  async move(jobs: Jobs<'move'>): Promise<void> {
    await someAtOnce(jobs, async ({ world, step: { amount } }) => {
      const { model } = world;
      if (amount === 0n) return;
      const refused = await this.wallets.credit(world.accountId, nanos(amount), 'test').then(
        () => false,
        (error: unknown) => {
          if (error instanceof DebitTooLarge) return true;
          throw error;
        },
      );
      compare(world, 'refused debit', refused, amount < 0n && model.free - model.owed + amount < 0n);
      if (refused) return;
      // What comes in pays debts; what is taken out leaves them as they are.
      if (amount > 0n) model.comeIn(amount);
      else model.takeOut(-amount);
    });
  }

  async takeBack(jobs: Jobs<'takeBack'>): Promise<void> {
    await someAtOnce(jobs, async ({ world, step: { amount } }) => {
      if (amount === 0n) return;
      await this.wallets.recordOwed(world.accountId, nanos(amount), 'test');
      world.model.takeBack(amount);
    });
  }

  async allow(jobs: Jobs<'allow'>): Promise<void> {
    await this.inTheirMonths(jobs, async ({ world, step: { amount } }) => {
      await this.allowances.set(world.accountId, nanos(amount));
      world.model.allow(amount);
    });
  }

  /** By two processes at the same time, as neither knows of the other. */
  async turn(jobs: Jobs<'turn'>): Promise<void> {
    for (const { world, step } of jobs) world.model.month += step.months;
    await this.inTheirMonths(jobs, async ({ world: { accountId, model } }) => {
      const turning = (): Promise<void> =>
        this.bench.sql.transaction((manager) => this.allowances.renew(accountId, manager));
      await Promise.all([turning(), turning()]);
      model.turn();
    });
  }

  /** Every world has a month of its own, and the calendar shows one after the other. */
  private async inTheirMonths<Of extends { readonly world: World }>(
    jobs: readonly Of[],
    work: (job: Of) => Promise<void>,
  ): Promise<void> {
    for (const month of new Set(jobs.map(({ world }) => world.model.month))) {
      this.bench.calendar.monthsAhead = month;
      await someAtOnce(
        jobs.filter(({ world }) => world.model.month === month),
        work,
      );
    }
  }
}
