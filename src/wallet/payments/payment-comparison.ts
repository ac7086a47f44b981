import { Injectable } from '@nestjs/common';
import { formatUsd } from '../../platform/shared/index.js';
import { WalletService } from '../wallet.service.js';
import { ACCOUNT_DELETED, mismatchOf, paidElsewhere } from './mismatch.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { PaymentProblems } from './payment-problems.js';
import { WebhookEvents } from './webhook-events.repository.js';
import { nameOf, type TopUpOrder } from './top-up.js';
import { TopUpRepository } from './top-up.repository.js';

/** What a fact says that is not so here. */
export interface Finding {
  readonly text: string;
  /** Whether it can be entered. */
  readonly canApply: boolean;
  /** Why it cannot be, where that is noted for operators. */
  readonly problem?: string;
  /** Whether an operator has seen to that. */
  readonly isResolved?: boolean;
}

/** Holds what the provider lists against the orders that are here. Changes nothing. */
@Injectable()
export class PaymentComparison {
  constructor(
    private readonly topUps: TopUpRepository,
    private readonly told: WebhookEvents,
    private readonly wallets: WalletService,
    private readonly problems: PaymentProblems,
  ) {}

  /** Undefined: it is so here, or none of our business. */
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
    if (fact.outcome === 'paid' && order.paidAt === null) return this.unheard(order);
    if (fact.outcome !== 'paid' && order.paidAt !== null)
      return { text: `${nameOf(order)} is paid here but not at Stripe`, canApply: false };
    const isOver = fact.outcome === 'expired' && (order.state === 'pending' || order.state === 'created');
    return isOver
      ? { text: `${nameOf(order)} has expired at Stripe but is ${order.state} here`, canApply: true }
      : undefined;
  }

  private async unheard(order: TopUpOrder): Promise<Finding> {
    return (await this.wallets.hasOwner(order.accountId))
      ? { text: `${nameOf(order)} is paid at Stripe but ${order.state} here`, canApply: true }
      : {
          text: `${nameOf(order)} is paid at Stripe, but its account was deleted`,
          canApply: false,
          problem: ACCOUNT_DELETED,
        };
  }

  /** Those of payments that are not ours are none of our business. */
  private async ofReversal(fact: ReversalFact): Promise<Finding | undefined> {
    const order = await this.topUps.byPayment(fact.payment);
    if (order === undefined) return undefined;
    const { id, kind, amount, counts } = fact.reversal;
    const problem = mismatchOf(fact, order);
    if (problem !== undefined)
      return { text: `The ${kind} ${id} of ${nameOf(order)} does not match: ${problem}`, canApply: false, problem };
    const known = (await this.told.reversalsOf(fact.payment)).find((one) => one.id === id);
    if (known?.amount === amount && known.counts === counts) return undefined;
    // What came to nothing before anybody heard of it makes no difference.
    if (known === undefined && !counts) return undefined;
    const said = counts ? `takes $${formatUsd(amount)} back` : 'reverses nothing';
    return { text: `The ${kind} ${id} of ${nameOf(order)} ${said} at Stripe but not here`, canApply: true };
  }
}
