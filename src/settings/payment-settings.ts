import type { Config } from '../config/index.js';
import { type Nanos, parseUsd, type Secret } from '../shared/index.js';
import type { PaymentSecrets } from './payment-secrets.js';
import type { PaymentSection } from './sections/payment-section.js';

/** How users pay, as it holds now. */
export interface PaymentSettings {
  /** Undefined: people cannot pay. */
  readonly secretKey: Secret | undefined;
  /** Undefined: nothing that the provider tells can be believed. Kept while payments are off: those before go on. */
  readonly webhookSecret: Secret | undefined;
  /** Why people cannot pay, in a sentence; undefined: they can. */
  readonly off: string | undefined;
  /** What people choose among. */
  readonly amounts: readonly Nanos[];
  /** Of another amount. */
  readonly smallest: Nanos;
  readonly largest: Nanos;
}

export function paymentSettings(section: PaymentSection, config: Config, secrets: PaymentSecrets): PaymentSettings {
  const offered = {
    amounts: section.amounts.map(parseUsd),
    smallest: parseUsd(section.smallest),
    largest: parseUsd(section.largest),
  };
  try {
    const secretKey = config.stripeSecretKey ?? secrets.open('secretKey', section);
    const webhookSecret = config.stripeWebhookSecret ?? secrets.open('webhookSecret', section);
    return { secretKey, webhookSecret, off: whyOff(section, secretKey, webhookSecret), ...offered };
  } catch {
    return { secretKey: undefined, webhookSecret: undefined, off: UNREADABLE, ...offered };
  }
}

const UNREADABLE =
  'The secrets of Stripe cannot be opened: SECRET_KEY is not the one they were stored under. Enter them again.';

function whyOff(
  { enabled }: PaymentSection,
  secretKey: Secret | undefined,
  webhookSecret: Secret | undefined,
): string | undefined {
  if (secretKey === undefined) return 'Stripe’s secret key is missing.';
  if (webhookSecret === undefined)
    return 'The signing secret is missing: without it nothing that Stripe tells can be believed, and its endpoint here is closed.';
  return enabled ? undefined : 'Payments are switched off. What was begun before is still taken.';
}
