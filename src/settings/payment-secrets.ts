import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { Secret, SealingKey } from '../shared/index.js';
import type { PaymentSection } from './sections/payment-section.js';
import { InvalidSettings } from './settings.errors.js';

const PURPOSE = 'switchboard settings v1';

type Sealed = Pick<PaymentSection, 'sealedSecretKey' | 'sealedWebhookSecret'>;

/** By the field that it is typed into: where it is stored, what it must look like, and what is said otherwise. */
const SECRETS = {
  secretKey: {
    stored: 'sealedSecretKey',
    form: /^(sk|rk)_\w+$/,
    fault: 'Enter a secret or restricted key: it begins with sk_ or rk_.',
  },
  webhookSecret: {
    stored: 'sealedWebhookSecret',
    form: /^whsec_[\w+/=-]+$/,
    fault: 'Enter the signing secret of the endpoint: it begins with whsec_.',
  },
} as const;
type SecretName = keyof typeof SECRETS;

/** What the payment provider knows us by, and signs its events with: sealed for the database, each for its place. */
@Injectable()
export class PaymentSecrets {
  private readonly key: SealingKey;

  constructor({ secretKey }: Config) {
    this.key = new SealingKey(secretKey, PURPOSE);
  }

  /**
   * The secrets that were typed, sealed. Nothing typed keeps what is stored, as does what the environment sets.
   * @throws InvalidSettings when one does not look like what it is to be
   */
  sealed(typed: Readonly<Record<string, unknown>>, before: Sealed, fixed: Readonly<Record<string, string>>): Sealed {
    const sealed = (name: SecretName): string => {
      const { stored, form, fault } = SECRETS[name];
      const value = typed[name];
      const text = typeof value === 'string' ? value.trim() : '';
      if (text === '' || name in fixed) return before[stored];
      if (!form.test(text)) throw new InvalidSettings({ [name]: fault });
      return this.key.seal(new Secret(text), placeOf(name));
    };
    return { sealedSecretKey: sealed('secretKey'), sealedWebhookSecret: sealed('webhookSecret') };
  }

  /** Undefined: none is stored. @throws UnreadableSecret */
  open(name: SecretName, section: Sealed): Secret | undefined {
    const sealed = section[SECRETS[name].stored];
    return sealed === '' ? undefined : this.key.open(sealed, placeOf(name));
  }
}

const placeOf = (name: SecretName): string => `payment\n${name}`;
