/** A relay whose users pay at a Stripe on this machine, and the events that Stripe would tell it, signed offline. */

import { Stripe } from 'stripe';
import { DataSource } from 'typeorm';
import { formatUsd } from '../../src/platform/shared/index.js';
import { LedgerCheck, WalletService } from '../../src/wallet/index.js';
import { StripeEndpoint } from '../../src/wallet/payments/stripe-api.js';
import type { PageVisitor } from './page-visitor.js';
import { RelayApp, type TestCaller } from './relay-app.js';
import { ScriptedStripe, type StripeObject } from './scripted-stripe.js';
import { signedIn } from './signed-in.js';

export const WEBHOOK_SECRET = 'whsec_of_a_test';
export const PAYING = { STRIPE_SECRET_KEY: 'sk_test_of_a_test', STRIPE_WEBHOOK_SECRET: WEBHOOK_SECRET } as const;

let made = 0;
const nowSeconds = (): number => Math.floor(Date.now() / 1000);

/** An event as Stripe would send it. @param id of its own when absent */
export const anEvent = (type: string, object: object, over: { id?: string; created?: number } = {}): string =>
  JSON.stringify({
    id: over.id ?? `evt_${(made += 1)}`,
    object: 'event',
    type,
    created: over.created ?? nowSeconds(),
    api_version: '2026-10-28.endive',
    data: { object },
  });

export const signatureOf = (payload: string, secret = WEBHOOK_SECRET, timestamp = nowSeconds()): string =>
  Stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });

/** Of a checkout that was paid. */
export const completed = (session: StripeObject, payment: string, over: object = {}): string =>
  anEvent('checkout.session.completed', {
    ...session,
    status: 'complete',
    payment_status: 'paid',
    payment_intent: payment,
    ...over,
  });

/** What an event says beside its object's amount. */
interface StripeEventDetails {
  /** Of the event. */
  readonly type: string;
  /** Of the object. */
  readonly status: string;
  /** In seconds; now when absent. */
  readonly notifiedAt?: number;
}

const reversed =
  (object: 'refund' | 'dispute', usual: StripeEventDetails) =>
  (id: string, payment: string, cents: number, reported: Partial<StripeEventDetails> = {}): string => {
    const { type, status, toldAt: notifiedAt = nowSeconds() } = { ...usual, ...reported };
    const of = { id, object, payment_intent: payment, status, created: nowSeconds() };
    return anEvent(type, { ...of, amount: cents, currency: 'usd' }, { created: notifiedAt });
  };

/** Of a refund of a payment. */
export const refunded = reversed('refund', { type: 'refund.created', status: 'succeeded' });

/** Of a dispute of a payment. */
export const disputed = reversed('dispute', { type: 'charge.dispute.created', status: 'needs_response' });

/** An order as it is stored; amounts as dollars. */
export interface StoredOrder {
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly taken: string;
}

export class PaymentsWorld {
  private constructor(
    readonly relay: RelayApp,
    readonly stripe: ScriptedStripe,
  ) {}

  static async start(environment: Readonly<Record<string, string>> = PAYING): Promise<PaymentsWorld> {
    const [relay, stripe] = await Promise.all([RelayApp.start({}, environment), ScriptedStripe.start()]);
    Object.assign(relay.get(StripeEndpoint), stripe.endpoint);
    return new PaymentsWorld(relay, stripe);
  }

  async close(): Promise<void> {
    await this.relay.close();
    await this.stripe.close();
  }

  /** Begins a payment as a browser does; gives the checkout that Stripe has opened. */
  async begin(browser: PageVisitor, dollars = '25'): Promise<StripeObject> {
    const { text } = await browser.get('/wallet');
    const once = /name="_once" value="([^"]+)"/.exec(text)![1]!;
    const response = await browser.post('/wallet/payments', { amount: '', other: dollars, _once: once });
    if (response.status !== 303) throw new Error(`Payment not started: ${response.status} ${response.text}`);
    return this.stripe.lastSession;
  }

  async browserOf({ accountId }: TestCaller): Promise<PageVisitor> {
    return signedIn(this.relay, accountId);
  }

  /** The same with what is paid already; gives what Stripe calls the payment. */
  async paid(caller: TestCaller, dollars = '25'): Promise<{ session: StripeObject; payment: string }> {
    const session = await this.begin(await this.browserOf(caller), dollars);
    const payment = `pi_${session.id}`;
    await this.tell(completed(session, payment));
    return { session, payment };
  }

  /** What Stripe says, as it says it; gives the status of our answer. */
  async tell(payload: string, signature: string | undefined = signatureOf(payload), url = this.relay.url) {
    const response = await fetch(`${url}/webhooks/stripe`, {
      method: 'POST',
      body: payload,
      headers: { 'content-type': 'application/json', ...(signature && { 'stripe-signature': signature }) },
    });
    await response.text();
    return response.status;
  }

  /** Balance and debt, in dollars. */
  async money({ accountId }: TestCaller): Promise<readonly [balance: string, owed: string]> {
    const { balance, owed } = await this.relay.get(WalletService).balanceOf(accountId);
    return [formatUsd(balance), formatUsd(owed)];
  }

  async order(session: StripeObject): Promise<StoredOrder> {
    const [row] = await this.relay
      .get(DataSource)
      .query('SELECT id, state, reason, taken_back AS taken FROM top_ups WHERE reference = $1', [session.id]);
    return { ...row, taken: formatUsd(BigInt(row.taken)) };
  }

  problems(): Promise<readonly { readonly reference: string; readonly problem: string }[]> {
    return this.relay.get(DataSource).query('SELECT reference, problem FROM payment_problems ORDER BY found_at');
  }

  async ledgerDifferences(): Promise<readonly string[]> {
    return (await this.relay.get(LedgerCheck).run()).differences;
  }
}

/** For a spec file: one, closed at its end. */
export function usePayments(environment?: Readonly<Record<string, string>>): { readonly world: PaymentsWorld } {
  let world: PaymentsWorld;
  beforeAll(async () => {
    world = await PaymentsWorld.start(environment);
  });
  afterAll(() => world.close());
  return {
    get world() {
      return world;
    },
  };
}
