import { Injectable } from '@nestjs/common';
import type { Stripe } from 'stripe';
import { Clock } from '../../platform/shared/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { StripeApi } from './stripe-api.js';
import { checkoutFact, disputeFact, refundFact } from './stripe.wire.js';

/** So many Stripe lists at once. */
const PAGE = 100;

/** What begins a page: from when on, and behind which object. */
interface PageStart {
  readonly created: { readonly gte: number };
  readonly limit: number;
  readonly starting_after?: string;
}
interface Listed<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** What Stripe has of a time, page by page, as facts. */
@Injectable()
export class StripeLists {
  constructor(
    private readonly stripe: StripeApi,
    private readonly clock: Clock,
  ) {}

  /** Checkouts of ours. @throws PaymentsUnavailable */
  async *checkouts(from: Date): AsyncGenerator<CheckoutFact> {
    for await (const session of this.pages(from, (stripe, start) => stripe.checkout.sessions.list(start))) {
      const fact = checkoutFact(session);
      if (fact !== undefined) yield fact;
    }
  }

  /** All refunds and disputes: they do not say whose they are. As they are now. @throws PaymentsUnavailable */
  async *reversals(from: Date): AsyncGenerator<ReversalFact> {
    const now = Math.floor(this.clock.now() / 1000);
    for await (const refund of this.pages(from, (stripe, start) => stripe.refunds.list(start))) {
      const fact = refundFact(refund, now);
      if (fact !== undefined) yield fact;
    }
    for await (const dispute of this.pages(from, (stripe, start) => stripe.disputes.list(start))) {
      const fact = disputeFact(dispute, now);
      if (fact !== undefined) yield fact;
    }
  }

  private async *pages<T extends { readonly id: string }>(
    from: Date,
    list: (stripe: Stripe, start: PageStart) => PromiseLike<Listed<T>>,
  ): AsyncGenerator<T> {
    const created = { gte: Math.floor(from.getTime() / 1000) };
    let behind: string | undefined;
    for (;;) {
      const start = { created, limit: PAGE, ...(behind !== undefined && { starting_after: behind }) };
      const page = await this.stripe.ask(async (stripe) => list(stripe, start));
      yield* page.data;
      behind = page.data.at(-1)?.id;
      if (!page.has_more || behind === undefined) return;
    }
  }
}
