import { Injectable } from '@nestjs/common';
import { Clock, formatUsd } from '../../shared/index.js';
import { mismatchOf } from './mismatch.js';
import { PaymentBook } from './payment-book.js';
import type { CheckoutFact, PaymentFact, ReversalFact } from './payment-facts.js';
import { StripeLists } from './stripe-lists.js';
import { ToldRepository } from './told.repository.js';
import { NOT_OPENED, PAYABLE_MS, type TopUpOrder } from './top-up.js';
import { TopUpRepository } from './top-up.repository.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** What is not the same here and at the provider. */
export interface PaymentDifference {
  /** In a sentence. */
  readonly text: string;
  /** Whether what the provider says was done here now. */
  readonly applied: boolean;
}

/** Compares orders with what the provider lists, for events that never came; what it says can be done as if it had told. */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly lists: StripeLists,
    private readonly topUps: TopUpRepository,
    private readonly told: ToldRepository,
    private readonly book: PaymentBook,
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
      yield* this.compared(fact, await this.ofCheckout(fact), apply);
    }
    for await (const fact of this.lists.reversals(from)) yield* this.compared(fact, await this.ofReversal(fact), apply);
    for (const order of await this.topUps.since(from)) {
      if (order.paidAt !== null && (order.reference === null || !listed.has(order.reference)))
        yield { text: `${nameOf(order)} is paid here, and Stripe does not list it`, applied: false };
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
    yield { text: `${nameOf(order)} was never begun at Stripe, and is created here`, applied: apply };
  }

  private async *compared(
    fact: PaymentFact,
    difference: { readonly text: string; readonly canApply: boolean } | undefined,
    apply: boolean,
  ): AsyncGenerator<PaymentDifference> {
    if (difference === undefined) return;
    const applied = apply && difference.canApply;
    if (applied) await this.told.transaction((manager) => this.book.enter(fact, manager));
    yield { text: difference.text, applied };
  }

  private async ofCheckout(fact: CheckoutFact) {
    const order = await this.topUps.byId(fact.topUpId);
    const mismatch = mismatchOf(fact, order);
    if (mismatch !== undefined || order === undefined)
      return { text: `The checkout ${fact.reference} does not match: ${mismatch}`, canApply: false };
    if (fact.outcome === 'paid' && order.paidAt === null) return this.unheard(order);
    if (fact.outcome !== 'paid' && order.paidAt !== null)
      return { text: `${nameOf(order)} is paid here, and not at Stripe`, canApply: false };
    const isOver = fact.outcome === 'expired' && (order.state === 'pending' || order.state === 'created');
    return isOver
      ? { text: `${nameOf(order)} has expired at Stripe, and is ${order.state} here`, canApply: true }
      : undefined;
  }

  private async unheard(order: TopUpOrder) {
    return (await this.topUps.hasAccount(order.accountId))
      ? { text: `${nameOf(order)} is paid at Stripe, and ${order.state} here`, canApply: true }
      : { text: `${nameOf(order)} is paid at Stripe, and its account was deleted`, canApply: false };
  }

  /** Those of payments that are not ours are none of our business. */
  private async ofReversal(fact: ReversalFact) {
    const order = await this.topUps.byPayment(fact.payment);
    if (order === undefined) return undefined;
    const { id, kind, amount, counts } = fact.reversal;
    const known = (await this.told.reversalsOf(fact.payment)).find((one) => one.id === id);
    if (known?.amount === amount && known.counts === counts) return undefined;
    // What came to nothing before anybody heard of it makes no difference.
    if (known === undefined && !counts) return undefined;
    const said = counts ? `takes $${formatUsd(amount)} back` : 'takes nothing back';
    return { text: `The ${kind} ${id} of ${nameOf(order)} ${said} at Stripe, and not here`, canApply: true };
  }
}

const nameOf = ({ id, amount }: TopUpOrder): string => `${id} of $${formatUsd(amount)}`;
