import { Controller, Headers, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { EntityManager } from 'typeorm';
import type { IncomingMessage } from 'node:http';
import { actingAs, currentActor, SYSTEM } from '../../platform/audit/index.js';
import { AppError, Clock, type Nanos, nanos, readSmallBody } from '../../platform/shared/index.js';
import { WalletService } from '../wallet.service.js';
import {
  ACCOUNT_DELETED,
  type CheckoutFact,
  mismatchOf,
  paidElsewhere,
  type PaymentFact,
  type Reversal,
  type ReversalFact,
  stateAfter,
  takenBack,
} from './payment-facts.js';
import { PaymentProblems } from './payment-problems.js';
import { StripeApi } from './stripe-api.js';
import { factOf, WEBHOOK_PATH } from './stripe.wire.js';
import type { TopUpOrder } from './top-up.js';
import { TopUpRepository } from './top-up.repository.js';
import { WebhookEvents } from './webhook-events.repository.js';

/**
 * Applies facts from the provider: each order is credited once, and reversals are debited or owed. Facts may arrive in
 * any order, repeatedly, and in several processes at once. Facts that do not match their order move no money and are
 * recorded as problems.
 */
@Injectable()
export class PaymentProcessor {
  constructor(
    private readonly topUps: TopUpRepository,
    private readonly webhookEvents: WebhookEvents,
    private readonly wallets: WalletService,
    private readonly problems: PaymentProblems,
    private readonly clock: Clock,
  ) {}

  /** @param manager transaction */
  async apply(fact: PaymentFact, manager: EntityManager): Promise<void> {
    switch (fact.kind) {
      case 'checkout':
        return this.applyCheckout(fact, manager);
      case 'decline':
        return this.topUps.noteReason(fact.topUpId, fact.reason, this.clock.date(), manager);
      case 'reversal':
        return this.applyReversal(fact, manager);
      default:
        return fact satisfies never;
    }
  }

  private async applyCheckout(fact: CheckoutFact, manager: EntityManager): Promise<void> {
    if (fact.payment !== null) await this.topUps.lockPayment(fact.payment, manager);
    const order = await this.topUps.lock(fact.topUpId, manager);
    const mismatch = mismatchOf(fact, order) ?? paidElsewhere(fact, await this.orderPaidBy(fact, manager));
    if (order === undefined || mismatch !== undefined)
      return this.problems.note(fact, mismatch ?? 'it refers to no order', order, manager);
    if (order.paidAt !== null) return;
    const now = this.clock.date();
    if (fact.outcome === 'paid') return this.applyPayment(fact, order, manager);
    await this.topUps.bind(order.id, fact.reference, fact.payment, now, manager);
    if (fact.outcome !== 'open') await this.topUps.close(order.id, fact.outcome, fact.reason, now, manager);
  }

  /** Received money is credited whatever the order's state: late is not wrong. */
  private async applyPayment(fact: CheckoutFact, order: TopUpOrder, manager: EntityManager): Promise<void> {
    const { id, accountId, amount } = order;
    await this.wallets.lock(accountId, manager);
    if (!(await this.wallets.hasOwner(accountId, manager)))
      return this.problems.note(fact, ACCOUNT_DELETED, order, manager);
    const now = this.clock.date();
    await this.topUps.bind(id, fact.reference, fact.payment, now, manager);
    const { entryId } = await this.wallets.pay(accountId, amount, `Payment ${id}`, manager);
    await this.topUps.noteEntry(id, entryId, manager);
    await this.topUps.markPaid(id, now, manager);
    if (fact.payment !== null) await this.adjust({ ...order, payment: fact.payment, paidAt: now }, undefined, manager);
  }

  private async orderPaidBy({ payment }: CheckoutFact, manager: EntityManager): Promise<TopUpOrder | undefined> {
    return payment === null ? undefined : this.topUps.lockByPayment(payment, manager);
  }

  private async applyReversal(fact: ReversalFact, manager: EntityManager): Promise<void> {
    await this.topUps.lockPayment(fact.payment, manager);
    const order = await this.topUps.lockByPayment(fact.payment, manager);
    const mismatch = mismatchOf(fact, order);
    if (mismatch !== undefined) {
      // Payments without an order are not ours: the provider account may sell other things.
      if (order !== undefined) await this.problems.note(fact, mismatch, order, manager);
      return;
    }
    // Kept for a while if the payment is not known yet: it may be reported later.
    await this.webhookEvents.put(fact, manager);
    if (order === undefined) return this.webhookEvents.deleteUnmatched(manager);
    if (order.paidAt !== null) await this.adjust(order, fact.reversal.kind, manager);
  }

  /** Adjusts the wallet to what the payer has got back. @param cause undefined: reported earlier */
  private async adjust(order: TopUpOrder, cause: Reversal['kind'] | undefined, manager: EntityManager): Promise<void> {
    const { id, amount } = order;
    const reversals = await this.webhookEvents.reversalsOf(order.payment ?? '', manager);
    const taken = takenBack(amount, reversals);
    const state = stateAfter(amount, taken, reversals);
    const difference = nanos(taken - order.takenBack);
    if (difference !== 0n) {
      const isDispute = cause === undefined ? state === 'disputed' : cause === 'dispute';
      await this.topUps.noteEntry(id, await this.move(order, difference, isDispute, manager), manager);
    }
    await this.topUps.setState(id, state, taken, this.clock.date(), manager);
  }

  /** @returns the ledger entry */
  private async move(
    { id, accountId }: TopUpOrder,
    taken: Nanos,
    isDispute: boolean,
    manager: EntityManager,
  ): Promise<string> {
    const reason =
      taken > 0n
        ? `${isDispute ? 'Dispute' : 'Refund'} of payment ${id}`
        : `${isDispute ? 'Dispute settled' : 'Refund failed'}: payment ${id} given back`;
    // The wallet's owner did not do this: the audit log says who did.
    return actingAs(currentActor() ?? SYSTEM, async () => {
      if (taken > 0n) return (await this.wallets.recordOwed(accountId, taken, reason, manager)).entryId;
      const { entryId } = await this.wallets.pay(accountId, nanos(-taken), reason, manager);
      // The balance of a deleted account went to the house account; so does what comes back later.
      if (!(await this.wallets.hasOwner(accountId, manager)))
        await this.wallets.empty(accountId, 'Account deleted', manager);
      return entryId;
    });
  }
}

/** Far larger than any event. */
const LIMITS = { what: 'event', maxBytes: 256 * 1024, withinMs: 10_000 } as const;

/** Processes Stripe's events, each once and atomically. Failures return an error, so that Stripe retries. */
@Injectable()
export class Webhook {
  constructor(
    private readonly stripe: StripeApi,
    private readonly webhookEvents: WebhookEvents,
    private readonly payments: PaymentProcessor,
    private readonly clock: Clock,
  ) {}

  /**
   * @param request with an unread body: the signature covers its bytes
   * @throws AppError when payments are not configured, or the event is not from Stripe
   */
  async receive(request: IncomingMessage, signature: string | undefined): Promise<object> {
    // Without a secret, anyone could send events.
    if (!this.stripe.acceptsEvents) throw new AppError('not_found', 'Payments are not configured.');
    const event = await this.stripe.eventIn(await readSmallBody(request, LIMITS), signature, this.clock.now());
    const fact = factOf(event);
    if (fact !== undefined)
      await this.webhookEvents.transaction(async (manager) => {
        if (await this.webhookEvents.claim(event.id, event.type, manager)) await this.payments.apply(fact, manager);
      });
    return { received: true };
  }
}

/** Receives Stripe's webhook events, which are signed. */
@Controller(WEBHOOK_PATH)
export class WebhookController {
  constructor(private readonly webhook: Webhook) {}

  @Post()
  @HttpCode(200)
  receive(@Req() { raw }: FastifyRequest, @Headers('stripe-signature') signature?: string): Promise<object> {
    return this.webhook.receive(raw, signature);
  }
}
