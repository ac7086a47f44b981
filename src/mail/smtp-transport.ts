import { createTransport } from 'nodemailer';
import type { Secret } from '../shared/index.js';
import type { Mail } from './mail.js';
import type { MailTransport } from './mail-transport.js';
import { messageOf } from './message.js';

/** A server that is silent for longer is taken for gone: nobody waits for it, but a retry does. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** Mail over SMTP, with TLS as the address says or the server offers. */
export class SmtpTransport implements MailTransport {
  private readonly transport;

  constructor(
    url: Secret,
    private readonly from: string,
  ) {
    this.transport = createTransport({ url: url.reveal(), ...TIMEOUTS });
  }

  async deliver(mail: Mail): Promise<string> {
    await this.transport.sendMail(messageOf(mail, this.from));
    return 'A mail was handed to the SMTP server.';
  }
}
