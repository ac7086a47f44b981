import { Injectable } from '@nestjs/common';
import { Clock, formatUsd } from '../../platform/shared/index.js';
import { WalletService } from '../wallet.service.js';
import { PaymentProcessor } from './payment-processor.js';
import { ACCOUNT_DELETED, type CheckoutFact, mismatchOf, paidElsewhere, type ReversalFact } from './payment-facts.js';
import { PaymentProblems } from './payment-problems.js';
import { StripeLists } from './stripe-api.js';
import { nameOf, NOT_OPENED, PAYABLE_MS, type TopUpOrder } from './top-up.js';
import { TopUpRepository } from './top-up.repository.js';
import { WebhookEvents } from './webhook-events.repository.js';

/** A fact that is not reflected here. */
interface Finding {
  readonly text: string;
  /** Whether it can be applied. */
  readonly canApply: boolean;
  /** Why it cannot, if that is recorded as a problem. */
  readonly problem?: string;
  /** Whether an administrator has resolved it. */
  readonly isResolved?: boolean;
}

/** Compares the provider's records with our orders. Changes nothing. */
@Injectable()
export class PaymentComparison {
  constructor(
    private readonly topUps: TopUpRepository,
    private readonly webhookEvents: WebhookEvents,
    private readonly wallets: WalletService,
    private readonly problems: PaymentProblems,
  ) {}

  /** Undefined: consistent, or not ours. */
  async of(fact: CheckoutFact | ReversalFact): Promise<Finding | undefined> {
    const finding = await (fact.kind === 'checkout' ? this.ofCheckout(fact) : this.ofReversal(fact));
    if (finding?.problem === undefined) return finding;
    return { ...finding, isResolved: await this.problems.wasResolved(fact, finding.problem) };
  }

  private async ofCheckout(fact: CheckoutFact): Promise<Finding | undefined> {
    const order = await this.topUps.byId(fact.topUpId);
    const paid = fact.payment === null ? undefined : await this.topUps.byPayment(fact.payment);
    const problem = mismatchOf(fact, order) ?? paidElsewhere(fact, paid);
    if (problem !== undefined)
      return { text: `The checkout ${fact.reference} does not match: ${problem}`, canApply: false, problem };
    if (order === undefined) return undefined;
    if (fact.outcome === 'paid' && order.paidAt === null) return this.missedPayment(order);
    if (fact.outcome !== 'paid' && order.paidAt !== null)
      return { text: `${nameOf(order)} is paid here but not at Stripe`, canApply: false };
    const isOver = fact.outcome === 'expired' && (order.state === 'pending' || order.state === 'created');
    return isOver
      ? { text: `${nameOf(order)} has expired at Stripe but is ${order.state} here`, canApply: true }
      : undefined;
  }

  private async missedPayment(order: TopUpOrder): Promise<Finding> {
    return (await this.wallets.hasOwner(order.accountId))
      ? { text: `${nameOf(order)} is paid at Stripe but ${order.state} here`, canApply: true }
      : {
          text: `${nameOf(order)} is paid at Stripe, but its account was deleted`,
          canApply: false,
          problem: ACCOUNT_DELETED,
        };
  }

  /** Payments that are not ours are ignored. */
  private async ofReversal(fact: ReversalFact): Promise<Finding | undefined> {
    const order = await this.topUps.byPayment(fact.payment);
    if (order === undefined) return undefined;
    const { id, kind, amount, counts } = fact.reversal;
    const problem = mismatchOf(fact, order);
    if (problem !== undefined)
      return { text: `The ${kind} ${id} of ${nameOf(order)} does not match: ${problem}`, canApply: false, problem };
    const known = (await this.webhookEvents.reversalsOf(fact.payment)).find((one) => one.id === id);
    if (known?.amount === amount && known.counts === counts) return undefined;
    // A reversal that ended before it was reported makes no difference.
    if (known === undefined && !counts) return undefined;
    const effect = counts ? `takes $${formatUsd(amount)} back` : 'reverses nothing';
    return { text: `The ${kind} ${id} of ${nameOf(order)} ${effect} at Stripe but not here`, canApply: true };
  }
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** A difference between our orders and the provider. */
interface PaymentDifference {
  /** One sentence. */
  readonly text: string;
  /**
   * `entered`: applied now. `closed`: the order will not be paid. `resolved`: cannot be applied, and an administrator
   * has resolved it.
   */
  readonly outcome: 'left' | 'entered' | 'closed' | 'resolved';
}

/**
 * Compares orders with the provider's lists, to find events that were never delivered, and can apply them as if they
 * had been.
 */
@Injectable()
export class Reconciliation {
  constructor(
    private readonly lists: StripeLists,
    private readonly topUps: TopUpRepository,
    private readonly payments: PaymentProcessor,
    private readonly comparison: PaymentComparison,
    private readonly clock: Clock,
  ) {}

  /**
   * @param days how far back
   * @param apply whether to apply missing facts, in the same way as events
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
   * An order whose process ended before Stripe responded. Stripe may have created its session anyway; then it lists it
   * under the order's ID, and a payment is credited.
   */
  private async *notOpened(order: TopUpOrder, apply: boolean): AsyncGenerator<PaymentDifference> {
    const now = this.clock.date();
    // It may still be in progress.
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
    // Applying a fact that does not match records it as a problem.
    if (apply && (canApply || problem !== undefined))
      await this.topUps.transaction((manager) => this.payments.apply(fact, manager));
    yield { text, outcome: apply && canApply ? 'entered' : 'left' };
  }
}
