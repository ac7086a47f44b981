import { Controller, Headers, HttpCode, Post, Req } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { WEBHOOK_PATH } from './stripe.wire.js';
import { Webhook } from './webhook.js';

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
