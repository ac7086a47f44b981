import { Injectable, Logger, type OnModuleDestroy, type OnModuleInit } from '@nestjs/common';
import { Notifications, ReconnectingCopy, TOPICS } from '../database/index.js';
import { Secret, UnreadableSecret } from '../shared/index.js';
import { readSection, SectionValues } from './section-values.js';
import { type CurrentSections, type SectionName, sectionOf, type Sections } from './sections/index.js';
import { SettingsRepository, type StoredSection } from './settings.repository.js';

/**
 * Why users cannot pay. Without a signing secret, Stripe's events cannot be verified. While payments are disabled,
 * those already started are still credited.
 */
export type PaymentsOff = 'not configured' | 'unreadable secret' | 'no secret key' | 'no signing secret' | 'disabled';

export type PaymentSettings = CurrentSections['payment'] & {
  /** Undefined: users cannot pay. */
  readonly secretKey: Secret | undefined;
  /** Undefined: Stripe's events are rejected. Kept while payments are off. */
  readonly webhookSecret: Secret | undefined;
  /** Undefined: users can pay. */
  readonly off: PaymentsOff | undefined;
};

type MailSettings = Omit<CurrentSections['mail'], 'from'> & {
  /** Includes the password. Undefined: mail is written to the outbox folder. */
  readonly smtpUrl: Secret | undefined;
  readonly from: string;
  /** Why mail cannot be sent, for the log. */
  readonly unusable: string | undefined;
};

/** Settings in effect: the stored ones, unless the environment overrides them. */
export type CurrentSettings = Omit<CurrentSections, 'mail' | 'payment'> & {
  readonly mail: MailSettings;
  readonly payment: PaymentSettings;
};

/** The settings in memory: reading them needs no query. They are current within a notification's time, or a second. */
@Injectable()
export class Settings implements OnModuleInit, OnModuleDestroy {
  private readonly logger = new Logger('Settings');
  private readonly copy: ReconnectingCopy<CurrentSettings>;
  private settings: CurrentSettings;

  constructor(
    private readonly values: SectionValues,
    repository: SettingsRepository,
    notifications: Notifications,
  ) {
    this.settings = currentSettings([], values);
    this.copy = new ReconnectingCopy(notifications, {
      topic: TOPICS.settings,
      read: async () => currentSettings(await repository.all(), this.values),
      use: (settings) => (this.settings = settings),
      warn: (reason) => this.logger.warn(`Failed to reload settings; using the previous ones: ${reason}`),
    });
  }

  onModuleInit(): Promise<void> {
    return this.copy.open();
  }

  onModuleDestroy(): Promise<void> {
    return this.copy.close();
  }

  /** A consistent snapshot. Call again for each operation. */
  current(): CurrentSettings {
    return this.settings;
  }

  /** Resolves once everything that was committed before the call is visible. */
  reload(): Promise<void> {
    return this.copy.reload();
  }
}

export function currentSettings(stored: readonly StoredSection[], values: SectionValues): CurrentSettings {
  const section = <Name extends SectionName>(name: Name): Sections[Name] =>
    readSection(name, stored.find((row) => row.section === name)?.value ?? {});
  const current = <Name extends SectionName>(name: Name): CurrentSections[Name] => values.current(name, section(name));
  const site = current('site');
  return {
    site,
    signUp: current('signUp'),
    organizations: current('organizations'),
    mail: mailSettings(section('mail'), values, site.name),
    payment: paymentSettings(section('payment'), values),
    retention: current('retention'),
  };
}

const UNREADABLE =
  'cannot decrypt the mail server password: SECRET_KEY has changed. Enter the password again in the settings';

function mailSettings(stored: Sections['mail'], values: SectionValues, siteName: string): MailSettings {
  const mail = values.current('mail', stored);
  const from = mail.from ?? senderNamed(siteName);
  const fixed = values.override(sectionOf('mail').settings['server']);
  if (fixed !== undefined) return { ...mail, from, smtpUrl: new Secret(fixed), unusable: undefined };
  if (mail.server === undefined) return { ...mail, from, smtpUrl: undefined, unusable: undefined };
  try {
    const url = new URL(mail.server);
    const password = values.secret('mail', 'sealedPassword', stored);
    if (password !== undefined) url.password = encodeURIComponent(password.reveal());
    const smtpUrl = new Secret(password === undefined ? mail.server : url.href);
    return { ...mail, from, smtpUrl, unusable: undefined };
  } catch (error) {
    if (!(error instanceof UnreadableSecret)) throw error;
    return { ...mail, from, smtpUrl: undefined, unusable: UNREADABLE };
  }
}

/** Recipients cannot reply to it, but see who wrote. */
const senderNamed = (name: string): string => `"${name.replaceAll(/["\\]/g, '\\$&')}" <switchboard@localhost>`;

function paymentSettings(stored: Sections['payment'], values: SectionValues): PaymentSettings {
  let unreadable = false;
  // One by one: events of earlier payments are still verified when the secret key cannot be decrypted.
  const opened = (key: 'sealedSecretKey' | 'sealedWebhookSecret'): Secret | undefined => {
    try {
      return values.secret('payment', key, stored);
    } catch (error) {
      if (!(error instanceof UnreadableSecret)) throw error;
      unreadable = true;
      return undefined;
    }
  };
  const payment = values.current('payment', stored);
  const secretKey = opened('sealedSecretKey');
  const webhookSecret = opened('sealedWebhookSecret');
  const off = unreadable ? 'unreadable secret' : whyOff(payment.enabled, secretKey, webhookSecret);
  return { ...payment, secretKey, webhookSecret, off };
}

function whyOff(
  enabled: boolean,
  secretKey: Secret | undefined,
  webhookSecret: Secret | undefined,
): PaymentsOff | undefined {
  if (secretKey === undefined) return webhookSecret === undefined ? 'not configured' : 'no secret key';
  if (webhookSecret === undefined) return 'no signing secret';
  return enabled ? undefined : 'disabled';
}
