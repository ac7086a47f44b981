import { Injectable } from '@nestjs/common';
import { Config } from '../config/index.js';
import { Settings } from '../settings/index.js';
import { AppError, type Secret } from '../shared/index.js';
import type { Mail } from './mail.js';
import { Outbox } from './outbox.js';
import { SmtpServer } from './smtp-server.js';

/** Who took a mail, and what was said of it: neither has the address or the content in it, but the file. */
export type Delivery =
  | {
      readonly by: 'server';
      /** As the server said it, `250 OK`. */
      readonly answer: string;
    }
  | {
      readonly by: 'outbox';
      /** Absolute path. */
      readonly file: string;
    };

/** A mail server is set and cannot be used as it is. */
export class UnusableMailServer extends AppError {
  constructor(reason: string) {
    super('unavailable', reason);
  }
}

/** Takes mail off our hands: the server that is set at this moment, or a folder when there is none. */
@Injectable()
export class MailTransport {
  private readonly outbox: Outbox;
  private server: { readonly url: string; readonly takes: SmtpServer } | undefined;

  constructor(
    config: Config,
    private readonly settings: Settings,
  ) {
    this.outbox = new Outbox(config.dataDir);
  }

  /** @throws UnusableMailServer, and what the server or the disk said */
  async deliver(mail: Mail): Promise<Delivery> {
    const { smtpUrl, from, unusable } = this.settings.current().mail;
    if (unusable !== undefined) throw new UnusableMailServer(unusable);
    if (smtpUrl === undefined) return { by: 'outbox', file: await this.outbox.put(mail, from) };
    return { by: 'server', answer: await this.serverAt(smtpUrl).hand(mail, from) };
  }

  private serverAt(address: Secret): SmtpServer {
    const url = address.reveal();
    if (this.server?.url !== url) this.server = { url, takes: new SmtpServer(address) };
    return this.server.takes;
  }
}
