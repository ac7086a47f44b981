import type { FactoryProvider } from '@nestjs/common';
import { Config } from '../config/index.js';
import { Outbox } from './outbox.js';
import { SmtpTransport } from './smtp-transport.js';
import type { Mail } from './mail.js';

/** Takes a mail off our hands, or rejects. */
export abstract class MailTransport {
  /** @returns what the log says of it: never the address or the content */
  abstract deliver(mail: Mail): Promise<string>;
}

/** The server that SMTP_URL names; without one, a folder. */
export const mailTransport: FactoryProvider<MailTransport> = {
  provide: MailTransport,
  inject: [Config],
  useFactory: ({ smtpUrl, dataDir, mailFrom }: Config) =>
    smtpUrl === undefined ? new Outbox(dataDir, mailFrom) : new SmtpTransport(smtpUrl, mailFrom),
};
