import { Injectable } from '@nestjs/common';
import { type Delivery, MailTemplates, Mailer } from '../../../platform/mail/index.js';
import { Settings } from '../../../platform/settings/index.js';
import { AppError, reasonOf, type Secret } from '../../../platform/shared/index.js';
import { withoutPassword } from './settings.view.js';

/** The test mail was not taken; what the server said, or what kept it from saying anything, is the message. */
export class TestMailRefused extends AppError {
  constructor(message: string) {
    super('unavailable', message, { param: 'to' });
  }
}

/** A mail that shows whether mail arrives. */
@Injectable()
export class TestMail {
  constructor(
    private readonly mailer: Mailer,
    private readonly templates: MailTemplates,
    private readonly settings: Settings,
  ) {}

  /** Sends it once, now. @throws TestMailRefused */
  async send(to: string): Promise<Delivery> {
    const { site, mail } = this.settings.current();
    const data = {
      product: site.name,
      heading: 'Mail arrives',
      preview: `${site.name} can send mail.`,
      paragraphs: [`This is a test mail of ${site.name}. Whoever runs it asked for it on the page of settings.`],
      foot: ['Not expected? Ignore this mail; nothing has changed.'],
    };
    const message = this.templates.message(data);
    try {
      return await this.mailer.deliver({ to, subject: `Test mail of ${site.name}`, ...message });
    } catch (error) {
      throw new TestMailRefused(`The mail was not taken: ${hushed(reasonOf(error), mail.smtpUrl)}`);
    }
  }
}

/** A server may repeat what it was told. */
function hushed(text: string, address: Secret | undefined): string {
  const url = address && new URL(address.reveal());
  if (!url?.password) return text;
  const { password } = withoutPassword(url.href);
  return [url.password, password].reduce((rest, secret) => rest.replaceAll(secret, '…'), text);
}
