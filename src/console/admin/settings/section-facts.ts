import { Injectable } from '@nestjs/common';
import { RecentSignIn, type Visitor } from '../../../auth/index.js';
import { type Sections, Settings } from '../../../platform/settings/index.js';
import { CallRetention } from '../../../usage/index.js';
import { EVENT_TYPES, WEBHOOK_PATH } from '../../../wallet/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import { calendarDate } from '../../../platform/format/index.js';
import { PAYMENTS_OFF, secretHint } from './payment-text.js';

/** What the settings page shows besides the fields of a section. */
@Injectable()
export class SectionFacts {
  constructor(
    private readonly settings: Settings,
    private readonly recent: RecentSignIn,
    private readonly kept: CallRetention,
    private readonly address: BaseAddress,
  ) {}

  mail(visitor: Visitor, { sealedPassword }: Sections['mail']) {
    const { unusable } = this.settings.current().mail;
    return { hasPassword: sealedPassword !== '', confirm: this.recent.needed(visitor), unusable };
  }

  payment(visitor: Visitor, { sealedSecretKey, sealedWebhookSecret }: Sections['payment']) {
    const { off, unreadable } = this.settings.current().payment;
    const [hasSecretKey, hasWebhookSecret] = [sealedSecretKey !== '', sealedWebhookSecret !== ''];
    return {
      hasSecretKey,
      secretKeyHint: secretHint('secretKey', hasSecretKey, unreadable),
      hasWebhookSecret,
      webhookSecretHint: secretHint('webhookSecret', hasWebhookSecret, unreadable),
      confirm: this.recent.needed(visitor),
      /** Why payments are off; undefined if they are on. */
      off: off && PAYMENTS_OFF[off],
      endpoint: `${this.address.current()}${WEBHOOK_PATH}`,
      events: EVENT_TYPES,
    };
  }

  /** First day whose calls are kept; undefined: all are kept. */
  retention() {
    const time = this.kept.keptFrom();
    return { keptFrom: time && calendarDate(time, 'UTC') };
  }
}
