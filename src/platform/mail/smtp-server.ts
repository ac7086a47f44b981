import { createTransport } from 'nodemailer';
import type { Secret } from '../shared/index.js';
import type { Mail } from './mail.js';
import { messageOf } from './message.js';

/** A server that is silent for longer is taken for gone: nobody waits for it, but a retry does. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** A server that takes mail over SMTP, with TLS as its address says or the server offers. */
export class SmtpServer {
  private readonly transport;

  constructor(url: Secret) {
    this.transport = createTransport({ url: url.reveal(), ...TIMEOUTS });
  }

  /** @returns what the server said to it. @throws what it said against it, or what kept it from saying anything */
  async hand(mail: Mail, from: string): Promise<string> {
    const { response } = await this.transport.sendMail(messageOf(mail, from));
    return response;
  }
}
