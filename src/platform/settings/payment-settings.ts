import type { Config } from '../config/index.js';
import { type Nanos, parseUsd, type Secret, UnreadableSecret } from '../shared/index.js';
import type { PaymentSecretName, PaymentSecrets } from './payment-secrets.js';
import type { PaymentSection } from './sections/payment-section.js';

/**
 * Why people cannot pay. Without a signing secret nothing that the provider tells can be believed; switched off, what was
 * begun before is still taken.
 */
export type PaymentsOff = 'not configured' | 'unreadable secret' | 'no secret key' | 'no signing secret' | 'disabled';

/** How users pay, as it holds now. */
export interface PaymentSettings {
  /** Undefined: people cannot pay. */
  readonly secretKey: Secret | undefined;
  /** Undefined: nothing that the provider tells can be believed. Kept while payments are off: those before go on. */
  readonly webhookSecret: Secret | undefined;
  /** Those that are stored and cannot be opened: SECRET_KEY is not the one they were stored under. */
  readonly unreadable: readonly PaymentSecretName[];
  /** Undefined: people can pay. */
  readonly off: PaymentsOff | undefined;
  /** What people choose among. */
  readonly amounts: readonly Nanos[];
  /** Of another amount. */
  readonly smallest: Nanos;
  readonly largest: Nanos;
}

export function paymentSettings(section: PaymentSection, config: Config, secrets: PaymentSecrets): PaymentSettings {
  const unreadable: PaymentSecretName[] = [];
  // Each for itself: the events of payments that were made are heard with a secret key that nobody can read any more.
  const opened = (name: PaymentSecretName): Secret | undefined => {
    try {
      return secrets.open(name, section);
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      unreadable.push(name);
      return undefined;
    }
  };
  const secretKey = config.stripeSecretKey ?? opened('secretKey');
  const webhookSecret = config.stripeWebhookSecret ?? opened('webhookSecret');
  return {
    secretKey,
    webhookSecret,
    unreadable,
    off: unreadable.length > 0 ? 'unreadable secret' : whyOff(section, secretKey, webhookSecret),
    amounts: section.amounts.map(parseUsd),
    smallest: parseUsd(section.smallest),
    largest: parseUsd(section.largest),
  };
}

function whyOff(
  { enabled }: PaymentSection,
  secretKey: Secret | undefined,
  webhookSecret: Secret | undefined,
): PaymentsOff | undefined {
  if (secretKey === undefined) return webhookSecret === undefined ? 'not configured' : 'no secret key';
  if (webhookSecret === undefined) return 'no signing secret';
  return enabled ? undefined : 'disabled';
}
