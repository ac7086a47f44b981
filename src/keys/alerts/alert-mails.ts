import { Injectable } from '@nestjs/common';
import { MailWriter } from '../../auth/index.js';
import type { Mail } from '../../platform/mail/index.js';
import type { DueAlert } from './alert.js';
import { wordsOf } from './alert-text.js';

const FOOT = 'You receive this email because of your alert settings.';
const MANAGE = { label: 'Manage alerts', path: '/account/alerts' } as const;

/** Writes the mails of alerts. */
@Injectable()
export class AlertMails {
  constructor(private readonly writer: MailWriter) {}

  mailOf(alert: DueAlert): Mail {
    const { button, ...words } = wordsOf(alert);
    const said = { ...words, action: button.label, foot: FOOT, manage: MANAGE };
    return this.writer.write(alert.email, () => said, { path: button.path });
  }
}
