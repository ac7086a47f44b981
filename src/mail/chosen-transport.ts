import type { FactoryProvider } from '@nestjs/common';
import { Config } from '../config/index.js';
import { MailTransport } from './mail-transport.js';
import { Outbox } from './outbox.js';
import { SmtpTransport } from './smtp-transport.js';

/** The server that SMTP_URL names; without one, a folder. */
export const chosenTransport: FactoryProvider<MailTransport> = {
  provide: MailTransport,
  inject: [Config],
  useFactory: ({ smtpUrl, dataDir, mailFrom }: Config) =>
    smtpUrl === undefined ? new Outbox(dataDir, mailFrom) : new SmtpTransport(smtpUrl, mailFrom),
};
