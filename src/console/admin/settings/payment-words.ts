import type { PaymentSecretName, PaymentsOff } from '../../../platform/settings/index.js';
import type { Notice } from '../../web/index.js';

/** Without a tone nothing is wrong. */
type PaymentsOffNotice = Omit<Notice, 'tone'> & { readonly tone?: Notice['tone'] };

/** Why nobody can pay, as the page of settings says it. */
export const PAYMENTS_OFF: Readonly<Record<PaymentsOff, PaymentsOffNotice>> = {
  'not set up': {
    title: 'Payments are not set up',
    text: 'Users cannot pay yet. Add the endpoint below at Stripe, and enter here what it signs with and your secret key.',
    action: { href: '#secretKey', label: 'Enter the secrets' },
  },
  'unreadable secret': {
    tone: 'bad',
    title: 'Nobody can pay',
    text: 'A stored secret of Stripe cannot be opened: SECRET_KEY is not the one it was stored under. Enter again what is marked below.',
  },
  'no secret key': {
    tone: 'warn',
    title: 'Nobody can pay',
    text: 'Stripe’s secret key is missing.',
    action: { href: '#secretKey', label: 'Enter the secret key' },
  },
  'no signing secret': {
    tone: 'warn',
    title: 'Nobody can pay',
    text: 'The signing secret is missing: without it nothing that Stripe tells can be believed, and its endpoint here is closed.',
    action: { href: '#webhookSecret', label: 'Enter the signing secret' },
  },
  'switched off': {
    title: 'Payments are switched off',
    text: 'Nobody can begin one. What was begun before is still taken.',
  },
};

const NONE_STORED: Readonly<Record<PaymentSecretName, string>> = {
  secretKey: 'A secret or restricted key. Stored sealed, and never shown again.',
  webhookSecret: 'Stripe shows it beside the endpoint. Stored sealed, and never shown again.',
};

/** What helps below the field of a secret. */
export function secretHint(name: PaymentSecretName, isStored: boolean, unreadable: readonly string[]): string {
  if (!isStored) return NONE_STORED[name];
  if (unreadable.includes(name)) return 'The one that is stored cannot be opened any more. Enter it again.';
  return 'One is stored. Leave this empty to keep it.';
}
