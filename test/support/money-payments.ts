import { nanos, newId } from '../../src/platform/shared/index.js';
import { PaymentProcessor } from '../../src/wallet/payments/payment-processor.js';
import type { PaymentFact } from '../../src/wallet/payments/payment-facts.js';
import { TopUpRepository } from '../../src/wallet/payments/top-up.repository.js';
import type { BillingBench } from './billing-bench.js';
import { type Jobs, type Payment, type ProviderReversal, someAtOnce, type World } from './money-world.js';
import type { ReversalReport } from './payment-model.js';

/** Before the first telling; they are a second apart. */
const BEGAN_MS = Date.UTC(2026, 0, 1);

/** Payments of all worlds, in database and model: each fact is told to two processes at the same time. */
export class MoneyPayments {
  private readonly book: PaymentProcessor;
  private readonly topUps: TopUpRepository;

  constructor(private readonly bench: BillingBench) {
    this.book = bench.app.get(PaymentProcessor, { strict: false });
    this.topUps = bench.app.get(TopUpRepository, { strict: false });
  }

  async order(jobs: Jobs<'order'>): Promise<void> {
    await someAtOnce(jobs, async ({ world, step: { amount } }) => {
      const { id } = world.order(newId('top', Date.now()), amount);
      await this.topUps.insert(id, world.accountId, nanos(amount), new Date(), this.bench.sql.manager);
    });
  }

  async pay(jobs: Jobs<'pay'>): Promise<void> {
    await this.ofPayments(jobs, async ({ world, payment: { id, model } }) => {
      await this.tell({
        kind: 'checkout',
        reference: `cs_${id}`,
        topUpId: id,
        accountId: world.accountId,
        amount: nanos(model.amount),
        currency: 'usd',
        payment: `pi_${id}`,
        outcome: 'paid',
        reason: '',
      });
      world.model.pay(model);
    });
  }

  async reverse(jobs: Jobs<'reverse'>): Promise<void> {
    await this.ofPayments(jobs, async ({ world, payment, step: { said } }) => {
      for (const { by, late, ...rest } of said) {
        const at = (payment.tellings += 1) - late;
        await this.tell(reversalFact(payment, by, { ...rest, at }));
        payment.model.tell(by, { ...rest, at });
        world.model.adjust(payment.model);
      }
    });
  }

  private async tell(fact: PaymentFact): Promise<void> {
    const telling = (): Promise<void> => this.bench.sql.transaction((manager) => this.book.apply(fact, manager));
    await Promise.all([telling(), telling()]);
  }

  private async ofPayments<Of extends { readonly world: World; readonly step: { readonly pick: number } }>(
    jobs: readonly Of[],
    work: (job: Of & { readonly payment: Payment }) => Promise<void>,
  ): Promise<void> {
    await someAtOnce(
      jobs.flatMap((job) => job.world.pickPayment(job.step.pick).map((payment) => ({ ...job, payment }))),
      work,
    );
  }
}

function reversalFact(
  { id }: Payment,
  by: ProviderReversal['by'],
  { amount, counts, at }: ReversalReport,
): PaymentFact {
  const kind = by === 'dispute' ? 'dispute' : 'refund';
  const times = { beganAt: new Date(BEGAN_MS), asOf: new Date(BEGAN_MS + at * 1000) };
  const reversal = { id: `${by}_${id}`, kind, amount: nanos(amount), counts, ...times } as const;
  return { kind: 'reversal', payment: `pi_${id}`, currency: 'usd', reversal, rank: 0 };
}
