import { Injectable } from '@nestjs/common';
import { Matches } from 'class-validator';
import type { Visitor } from '../../../auth/index.js';
import { type Delivery, MailTemplates, Mailer } from '../../../platform/mail/index.js';
import { Settings, withoutPassword } from '../../../platform/settings/index.js';
import { AppError, reasonOf, type Secret } from '../../../platform/shared/index.js';
import { type Flash, Form, type FormBody, type Page, Redirect } from '../../web/index.js';
import { pathOf, SettingsPages } from './settings.pages.js';

class TestMailForm {
  @Matches(/^[^\s\p{Cc}<>,;:"()[\]\\@]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u, {
    message: 'Enter an email address, such as name@example.com.',
  })
  readonly to: string = '';
}

/** The test email was not accepted; the message has the server’s reply or the connection error. */
class TestMailRefused extends AppError {
  constructor(message: string) {
    super('unavailable', message, { param: 'to' });
  }
}

/** Sends the test email and shows the result on the email settings page. */
@Injectable()
export class TestMail {
  constructor(
    private readonly mailer: Mailer,
    private readonly templates: MailTemplates,
    private readonly settings: Settings,
    private readonly pages: SettingsPages,
  ) {}

  async send(visitor: Visitor, body: FormBody): Promise<Page | Redirect> {
    const form = Form.read(TestMailForm, body);
    const delivery = await form.attempt(({ to }) => this.deliver(to));
    if (delivery === undefined) return this.pages.show(visitor, 'mail', { test: form });
    return new Redirect(pathOf('mail'), deliveryFlash(delivery));
  }

  /** Sends once, without retries. @throws TestMailRefused */
  private async deliver(to: string): Promise<Delivery> {
    const { site, mail } = this.settings.current();
    const data = {
      product: site.name,
      heading: 'Email delivery works',
      preview: `${site.name} can send email.`,
      paragraphs: [`This is a test email from ${site.name}. An administrator sent it from the settings page.`],
      foot: ['If you did not expect this email, you can ignore it.'],
    };
    const message = this.templates.message(data);
    try {
      return await this.mailer.deliver({ to, subject: `Test email from ${site.name}`, ...message });
    } catch (error) {
      throw new TestMailRefused(`The test email was not sent: ${hushed(reasonOf(error), mail.smtpUrl)}`);
    }
  }
}

/** Removes the password: a server may echo what it received. */
function hushed(text: string, address: Secret | undefined): string {
  const url = address && new URL(address.reveal());
  if (!url?.password) return text;
  const { password } = withoutPassword(url.href);
  return [url.password, password].reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}

/** Flash messages are stored in a cookie. */
const MAX = 300;

function deliveryFlash(delivery: Delivery): Flash {
  if (delivery.by === 'server')
    return {
      tone: 'ok',
      title: 'Test email accepted by the mail server',
      text: `Server reply: ${delivery.answer.slice(0, MAX)}`,
    };
  return {
    tone: 'warn',
    title: 'Test email not sent',
    text: `No SMTP server is configured. The email was saved to ${delivery.file.slice(-MAX)}`,
  };
}
