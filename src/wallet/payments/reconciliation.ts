import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/shared/index.js';
import { PaymentBook } from './payment-book.js';
import { PaymentComparison } from './payment-comparison.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { StripeLists } from './stripe-lists.js';
import { nameOf, NOT_OPENED, PAYABLE_MS, type TopUpOrder } from './top-up.js';
import { TopUpRepository } from './top-up.repository.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is not the same here and at the provider. */
export interface PaymentDifference {
  /** In a sentence. */
  readonly text: string;
  /**
   * `entered`: what the provider says was done here now. `closed`: nothing comes of an order any more. `resolved`: it cannot
   * be entered, and an operator has seen to it.
   */
  readonly outcome: 'left' | 'entered' | 'closed' | 'resolved';
}

/** Compares orders with what the provider lists, for events that never came; what it says can be done as if it had told. */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly lists: StripeLists,
    private readonly topUps: TopUpRepository,
    private readonly book: PaymentBook,
    private readonly comparison: PaymentComparison,
    private readonly clock: Clock,
  ) {}

  /**
   * @param days how far back
   * @param apply whether what is missing here is entered, in the way that events are
   * @throws PaymentsUnavailable
   */
  async *run(days: number, apply: boolean): AsyncGenerator<PaymentDifference> {
    const from = new Date(this.clock.now() - days * DAY_MS);
    const listed = new Set<string>();
    for await (const fact of this.lists.checkouts(from)) {
      listed.add(fact.reference).add(fact.topUpId);
      yield* this.compared(fact, apply);
    }
    for await (const fact of this.lists.reversals(from)) yield* this.compared(fact, apply);
    for (const order of await this.topUps.since(from)) {
      if (order.paidAt !== null && (order.reference === null || !listed.has(order.reference)))
        yield { text: `${nameOf(order)} is paid here but not listed by Stripe`, outcome: 'left' };
      if (order.state === 'created' && !listed.has(order.id)) yield* this.notOpened(order, apply);
    }
  }

  /**
   * One whose process ended before Stripe had answered. Stripe may have opened its checkout all the same: then it lists
   * that, by the order's name. Paid after all, it is credited: late is not wrong.
   */
  private async *notOpened(order: TopUpOrder, apply: boolean): AsyncGenerator<PaymentDifference> {
    const now = this.clock.date();
    // Somebody may be about to open it.
    if (now.getTime() - order.createdAt.getTime() < PAYABLE_MS) return;
    if (apply && !(await this.topUps.closeUnopened(order.id, NOT_OPENED, now))) return;
    yield {
      text: `${nameOf(order)} was never opened at Stripe but is created here`,
      outcome: apply ? 'closed' : 'left',
    };
  }

  private async *compared(fact: CheckoutFact | ReversalFact, apply: boolean): AsyncGenerator<PaymentDifference> {
    const finding = await this.comparison.of(fact);
    if (finding === undefined) return;
    const { text, canApply, problem, isResolved } = finding;
    if (isResolved) {
      yield { text, outcome: 'resolved' };
      return;
    }
    // What does not match is noted by that, as if it had been told.
    if (apply && (canApply || problem !== undefined))
      await this.topUps.transaction((manager) => this.book.enter(fact, manager));
    yield { text, outcome: apply && canApply ? 'entered' : 'left' };
  }
}
