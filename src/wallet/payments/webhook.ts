import { Controller, Headers, HttpCode, Injectable, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { IncomingMessage } from 'node:http';
import { AppError, Clock, readSmallBody } from '../../platform/shared/index.js';
import { PaymentBook } from './payment-book.js';
import { StripeApi } from './stripe-api.js';
import { factOf, WEBHOOK_PATH } from './stripe.wire.js';
import { WebhookEvents } from './webhook-events.repository.js';

/** Far larger than any event. */
const LIMITS = { what: 'event', maxBytes: 256 * 1024, withinMs: 10_000 } as const;

/** Processes Stripe's events, each once and atomically. Failures return an error, so that Stripe retries. */
@Injectable()
export class Webhook {
  constructor(
    private readonly stripe: StripeApi,
    private readonly told: WebhookEvents,
    private readonly book: PaymentBook,
    private readonly clock: Clock,
  ) {}

  /**
   * @param request with an unread body: the signature covers its bytes
   * @throws AppError when payments are not configured, or the event is not from Stripe
   */
  async take(request: IncomingMessage, signature: string | undefined): Promise<object> {
    // Without a secret, anyone could send events.
    if (!this.stripe.hearsEvents) throw new AppError('not_found', 'Payments are not configured.');
    const event = this.stripe.eventIn(await readSmallBody(request, LIMITS), signature, this.clock.now());
    const fact = factOf(event);
    if (fact !== undefined)
      await this.told.transaction(async (manager) => {
        if (await this.told.claim(event.id, event.type, manager)) await this.book.enter(fact, manager);
      });
    return { received: true };
  }
}

/** Where Stripe tells of what happens. It has no session: what it says is signed. */
@Controller(WEBHOOK_PATH)
export class WebhookController {
  constructor(private readonly webhook: Webhook) {}

  @Post()
  @HttpCode(200)
  take(@Req() { raw }: FastifyRequest, @Headers('stripe-signature') signature?: string): Promise<object> {
    return this.webhook.take(raw, signature);
  }
}
