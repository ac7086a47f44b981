import { Injectable, Logger } from '@nestjs/common';
import type { Stripe } from 'stripe';
import { EnvHttpProxyAgent, fetch as fetchThrough } from 'undici';
import { Config } from '../../platform/config/index.js';
import { Settings } from '../../platform/settings/index.js';
import { AppError, Clock, reasonOf } from '../../platform/shared/index.js';
import type { CheckoutFact, ReversalFact } from './payment-facts.js';
import { checkoutFact, disputeFact, refundFact } from './stripe.wire.js';
import { RefusedEvents } from './webhook-events.repository.js';

/** Address of Stripe's API. Tests override it. */
export class StripeEndpoint {
  readonly protocol: 'https' | 'http' = 'https';
  readonly host: string = 'api.stripe.com';
  readonly port: number = 443;
  /** Timeout of a request. */
  readonly timeoutMs: number = 10_000;
  /** Retries without a response. */
  readonly retries: number = 2;
}

/** Loaded when needed: few servers take payments, and the package doubles the modules that a start must read. */
const stripePackage = async (): Promise<typeof Stripe> => (await import('stripe')).Stripe;

/** The API version this code was written for; the Stripe account's default may differ. */
const API_VERSION = '2026-10-28.endive';
/** Older signatures are rejected as replays. */
const TOLERANCE_SECONDS = 300;

/** Payments are unavailable; the message says what to do. */
export class PaymentsUnavailable extends AppError {
  constructor(message: string) {
    super('unavailable', message);
  }
}

/** Stripe's client with the current settings, directly or through the proxy. */
@Injectable()
export class StripeApi {
  private readonly logger = new Logger('Payments');
  private readonly proxied: typeof fetch | undefined;
  private known: { readonly key: string; readonly client: Stripe } | undefined;

  constructor(
    private readonly settings: Settings,
    private readonly endpoint: StripeEndpoint,
    private readonly refused: RefusedEvents,
    config: Config,
  ) {
    this.proxied = config.httpsProxy && fetchVia(config.httpsProxy.reveal(), config.noProxy.join(','));
  }

  /**
   * Calls Stripe.
   * @throws PaymentsUnavailable when there is no key or Stripe rejects the request; its message is logged
   */
  async ask<T>(question: (stripe: Stripe) => Promise<T>): Promise<T> {
    const client = await this.client();
    if (client === undefined)
      throw new PaymentsUnavailable('Payments are not configured: Stripe’s secret key is missing.');
    try {
      return await question(client);
    } catch (error) {
      const { errors } = await stripePackage();
      if (!(error instanceof errors.StripeError)) throw error;
      this.logger.error(`Stripe rejected a request: ${reasonOf(error)}`);
      throw new PaymentsUnavailable('Unexpected response from Stripe. Retry shortly.');
    }
  }

  /** Whether webhook signatures can be verified. */
  get acceptsEvents(): boolean {
    return this.settings.current().payment.webhookSecret !== undefined;
  }

  /**
   * An event with a valid and recent signature.
   * @param nowMs current time
   * @throws AppError otherwise
   */
  async eventIn(body: Buffer, signature: string | undefined, nowMs: number): Promise<Stripe.Event> {
    const secret = this.settings.current().payment.webhookSecret?.reveal() ?? '';
    const { webhooks } = await stripePackage();
    try {
      return webhooks.constructEvent(body, signature ?? '', secret, TOLERANCE_SECONDS, undefined, nowMs);
    } catch (error) {
      this.refused.note(firstLine(reasonOf(error)));
      throw new AppError('invalid_request', 'The signature is missing, wrong, or too old.');
    }
  }

  /** Undefined: no key is configured. */
  private async client(): Promise<Stripe | undefined> {
    const key = this.settings.current().payment.secretKey?.reveal();
    if (key === undefined) return undefined;
    if (this.known?.key !== key) this.known = { key, client: await this.clientFor(key) };
    return this.known.client;
  }

  private async clientFor(key: string): Promise<Stripe> {
    const { protocol, host, port, timeoutMs, retries } = this.endpoint;
    const Client = await stripePackage();
    return new Client(key, {
      apiVersion: API_VERSION,
      protocol,
      host,
      port,
      timeout: timeoutMs,
      maxNetworkRetries: retries,
      telemetry: false,
      ...(this.proxied && { httpClient: Client.createFetchHttpClient(this.proxied) }),
    });
  }
}

/** The proxy's `fetch` is the standard one plus a dispatcher. */
function fetchVia(httpsProxy: string, noProxy: string): typeof fetch {
  const dispatcher = new EnvHttpProxyAgent({ httpsProxy, noProxy });
  const ask: unknown = (address: string, init: object) => fetchThrough(address, { ...init, dispatcher });
  return ask as typeof fetch;
}

const firstLine = (text: string): string => text.split('\n', 1)[0] ?? '';

/** Stripe's max page size. */
const PAGE = 100;

/** Start of a page: a time, or the previous object. */
interface PageStart {
  readonly created: { readonly gte: number };
  readonly limit: number;
  readonly starting_after?: string;
}
interface ListPage<T> {
  readonly data: readonly T[];
  readonly has_more: boolean;
}

/** Stripe's records since a time, page by page, as facts. */
@Injectable()
export class StripeLists {
  constructor(
    private readonly stripe: StripeApi,
    private readonly clock: Clock,
  ) {}

  /** Our Checkout Sessions. @throws PaymentsUnavailable */
  async *checkouts(from: Date): AsyncGenerator<CheckoutFact> {
    for await (const session of this.pages(from, (stripe, start) => stripe.checkout.sessions.list(start))) {
      const fact = checkoutFact(session);
      if (fact !== undefined) yield fact;
    }
  }

  /** Current state of all refunds and disputes, which do not name their owner. @throws PaymentsUnavailable */
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
    list: (stripe: Stripe, start: PageStart) => PromiseLike<ListPage<T>>,
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
