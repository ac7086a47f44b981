import { Injectable } from '@nestjs/common';
import type { Delivery } from '../../../platform/mail/index.js';
import { type Flash, Form, type FormBody, type Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { TestMailForm } from './settings.form.js';
import { SettingsPages } from './settings.pages.js';
import { TestMail } from './test-mail.js';

/** Sends the test email and shows the result on the settings page. */
@Injectable()
export class TestMailPages {
  constructor(
    private readonly mail: TestMail,
    private readonly pages: SettingsPages,
  ) {}

  async send(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(TestMailForm, body);
    const delivery = await form.attempt(({ to }) => this.mail.send(to));
    if (delivery === undefined) return this.pages.show(visitor, { test: form });
    return new Redirect('/admin/settings', told(delivery));
  }
}

/** Flash messages are stored in a cookie. */
const MAX = 300;

function told(delivery: Delivery): Flash {
  if (delivery.by === 'server')
    return {
      tone: 'ok',
      title: 'Test email accepted by the mail server',
      text: `Server reply: ${delivery.answer.slice(0, MAX)}`,
    };
  return {
    tone: 'warn',
    title: 'Test email written to the outbox folder',
    text: `No SMTP server is configured, so the email was not sent: ${delivery.file.slice(-MAX)}`,
  };
}
