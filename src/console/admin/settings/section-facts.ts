import { Injectable } from '@nestjs/common';
import type { Visitor } from '../../../auth/index.js';
import { BaseAddress } from '../../../platform/config/index.js';
import { calendarDate } from '../../../platform/format/index.js';
import { type PaymentsOff, type SectionName, Settings } from '../../../platform/settings/index.js';
import { CallRetention } from '../../../usage/index.js';
import { EVENT_TYPES, WEBHOOK_PATH } from '../../../wallet/index.js';
import { Form, type Notice } from '../../web/index.js';

/** Without a tone: informational. */
type SectionNotice = Omit<Notice, 'tone'> & { readonly tone?: Notice['tone'] };

/** Content of a settings page besides the fields of its section. */
@Injectable()
export class SectionFacts {
  constructor(
    private readonly settings: Settings,
    private readonly kept: CallRetention,
    private readonly address: BaseAddress,
  ) {}

  /** @param test the rejected form of the test email, if any */
  of(name: SectionName, visitor: Visitor, test: Form<object> | undefined): Readonly<Record<string, unknown>> {
    switch (name) {
      case 'mail':
        return { notice: this.mailNotice(), test: test ?? Form.empty({ to: visitor.email }) };
      case 'payment':
        return this.payment();
      case 'retention':
        return { retention: this.retention() };
      default:
        return {};
    }
  }

  private mailNotice(): SectionNotice | undefined {
    const { unusable } = this.settings.current().mail;
    return unusable === undefined
      ? undefined
      : { tone: 'bad', title: 'Email cannot be sent', text: `Reason: ${unusable}.` };
  }

  private payment() {
    const { off } = this.settings.current().payment;
    return {
      notice: off && PAYMENTS_OFF[off],
      payment: { endpoint: `${this.address.current()}${WEBHOOK_PATH}`, events: EVENT_TYPES },
    };
  }

  /** First day whose calls are kept; undefined: all are kept. */
  private retention() {
    const time = this.kept.keptFrom();
    return { keptFrom: time && calendarDate(time, 'UTC') };
  }
}

/** Notices of the payment page when payments are off. */
const PAYMENTS_OFF: Readonly<Record<PaymentsOff, SectionNotice>> = {
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
