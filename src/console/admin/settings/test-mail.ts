import { Injectable } from '@nestjs/common';
import { type Delivery, MailTemplates, Mailer } from '../../../platform/mail/index.js';
import { Settings } from '../../../platform/settings/index.js';
import { AppError, reasonOf, type Secret } from '../../../platform/shared/index.js';
import { withoutPassword } from './settings.view.js';

/** The test email was not accepted; the message has the server’s reply or the connection error. */
export class TestMailRefused extends AppError {
  constructor(message: string) {
    super('unavailable', message, { param: 'to' });
  }
}

@Injectable()
export class TestMail {
  constructor(
    private readonly mailer: Mailer,
    private readonly templates: MailTemplates,
    private readonly settings: Settings,
  ) {}

  /** Sends once, without retries. @throws TestMailRefused */
  async send(to: string): Promise<Delivery> {
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
      throw new TestMailRefused(`The email was not accepted: ${hushed(reasonOf(error), mail.smtpUrl)}`);
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
