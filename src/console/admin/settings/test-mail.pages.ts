import { Injectable } from '@nestjs/common';
import type { Delivery } from '../../../platform/mail/index.js';
import { type Flash, Form, type FormBody, type Page, Redirect } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { TestMailForm } from './settings.form.js';
import { SettingsPages } from './settings.pages.js';
import { TestMail } from './test-mail.js';

/** What becomes of a test mail, on the page of settings. */
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

/** What is told travels in a cookie. */
const MOST = 300;

function told(delivery: Delivery): Flash {
  if (delivery.by === 'server')
    return {
      tone: 'ok',
      title: 'The mail server took the test mail',
      text: `It said: ${delivery.answer.slice(0, MOST)}`,
    };
  return {
    tone: 'warn',
    title: 'The test mail is in the outbox folder',
    text: `No mail server is set, so it was sent to nobody: ${delivery.file.slice(-MOST)}`,
  };
}
