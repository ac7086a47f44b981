import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { Secret, SealingKey } from '../shared/index.js';
import type { PaymentSection } from './sections/payment-section.js';

const PURPOSE = 'switchboard settings v1';

type Sealed = Pick<PaymentSection, 'sealedSecretKey' | 'sealedWebhookSecret'>;
type Typed = Readonly<Record<string, unknown>>;
type Fixed = Readonly<Record<string, string>>;

/**
 * By the field that it is typed into: where it is stored, the box that removes it, what it must look like, and what is
 * said otherwise.
 */
const SECRETS = {
  secretKey: {
    stored: 'sealedSecretKey',
    removal: 'removeSecretKey',
    form: /^(sk|rk)_\w+$/,
    fault: 'Enter a secret or restricted key (sk_… or rk_…).',
  },
  webhookSecret: {
    stored: 'sealedWebhookSecret',
    removal: 'removeWebhookSecret',
    form: /^whsec_[\w+/=-]+$/,
    fault: 'Enter the signing secret of the endpoint (whsec_…).',
  },
} as const;
export type PaymentSecretName = keyof typeof SECRETS;
const NAMES = ['secretKey', 'webhookSecret'] as const satisfies readonly PaymentSecretName[];

/** What the payment provider knows us by, and signs its events with: sealed for the database, each for its place. */
@Injectable()
export class PaymentSecrets {
  private readonly key: SealingKey;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  /** By field, what is wrong with what was typed there; none of what the environment sets. */
  faults(typed: Typed, fixed: Fixed): Readonly<Record<string, string>> {
    const wrong = NAMES.flatMap((name): [string, string][] => {
      const text = textIn(typed, name);
      if (text === '' || name in fixed) return [];
      if (isRemoved(typed, name)) return [[name, 'Enter a new value or remove the stored one, not both.']];
      return SECRETS[name].form.test(text) ? [] : [[name, SECRETS[name].fault]];
    });
    return Object.fromEntries(wrong);
  }

  /**
   * The secrets that were typed, sealed, and none where its removal was asked for. Nothing typed keeps what is stored, as
   * does what the environment sets.
   * @param typed without faults
   */
  sealed(typed: Typed, before: Sealed, fixed: Fixed): Sealed {
    const sealed = (name: PaymentSecretName): string => {
      const stored = before[SECRETS[name].stored];
      if (name in fixed) return stored;
      if (isRemoved(typed, name)) return '';
      const text = textIn(typed, name);
      return text === '' ? stored : this.key.seal(new Secret(text), placeOf(name));
    };
    return { sealedSecretKey: sealed('secretKey'), sealedWebhookSecret: sealed('webhookSecret') };
  }

  /** Undefined: none is stored. @throws UnreadableSecret */
  open(name: PaymentSecretName, section: Sealed): Secret | undefined {
    const sealed = section[SECRETS[name].stored];
    return sealed === '' ? undefined : this.key.open(sealed, placeOf(name));
  }
}

const textIn = (typed: Typed, name: PaymentSecretName): string => {
  const value = typed[name];
  return typeof value === 'string' ? value.trim() : '';
};

const isRemoved = (typed: Typed, name: PaymentSecretName): boolean => typed[SECRETS[name].removal] === 'yes';

const placeOf = (name: PaymentSecretName): string => `payment\n${name}`;
