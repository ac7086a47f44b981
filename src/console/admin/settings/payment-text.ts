import type { PaymentSecretName, PaymentsOff } from '../../../platform/settings/index.js';
import type { Notice } from '../../web/index.js';

/** Without a tone: informational. */
type PaymentsOffNotice = Omit<Notice, 'tone'> & { readonly tone?: Notice['tone'] };

/** Notices for the payment section when payments are off. */
export const PAYMENTS_OFF: Readonly<Record<PaymentsOff, PaymentsOffNotice>> = {
  'not configured': {
    title: 'Payments are not set up',
    text: 'Users cannot pay yet. Add the webhook endpoint below in Stripe, then enter its signing secret and your secret key here.',
    action: { href: '#secretKey', label: 'Enter the secrets' },
  },
  'unreadable secret': {
    tone: 'bad',
    title: 'Users cannot pay',
    text: 'A stored Stripe secret cannot be decrypted because SECRET_KEY has changed. Enter the secrets marked below again.',
  },
  'no secret key': {
    tone: 'warn',
    title: 'Users cannot pay',
    text: 'Stripe’s secret key is missing.',
    action: { href: '#secretKey', label: 'Enter the secret key' },
  },
  'no signing secret': {
    tone: 'warn',
    title: 'Users cannot pay',
    text: 'The signing secret is missing. Stripe events cannot be verified, so the webhook endpoint is disabled.',
    action: { href: '#webhookSecret', label: 'Enter the signing secret' },
  },
  disabled: {
    title: 'Payments are disabled',
    text: 'Users cannot start new payments. Payments already started are still credited.',
  },
};

const NONE_STORED: Readonly<Record<PaymentSecretName, string>> = {
  secretKey: 'A secret or restricted key. Stored encrypted and never shown again.',
  webhookSecret: 'Shown in Stripe next to the endpoint. Stored encrypted and never shown again.',
};

/** Hint of a secret’s field. */
export function secretHint(name: PaymentSecretName, isStored: boolean, unreadable: readonly string[]): string {
  if (!isStored) return NONE_STORED[name];
  if (unreadable.includes(name)) return 'The stored secret cannot be decrypted. Enter it again.';
  return 'A secret is stored. Leave empty to keep it.';
}
