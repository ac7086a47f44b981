import { Injectable } from '@nestjs/common';
import { createTransport } from 'nodemailer';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Config } from '../config/index.js';
import { Settings } from '../settings/index.js';
import { AppError, type Secret } from '../shared/index.js';
import { type Mail, messageOf } from './mail.js';

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
class UnusableMailServer extends AppError {
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

/** Strangers can have mail written: only the latest of it is kept. */
const KEPT = 500;

/** A mail, or what was to be one when the process died. */
const MAIL = /\.eml(?:\.tmp)?$/;

/** Where mail goes that no server takes: files that any mail program opens, `DATA_DIR/outbox/<time>-<random>.eml`. */
class Outbox {
  private readonly folder: string;
  private readonly composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'outbox');
  }

  /** @returns the file, absolute */
  async put(mail: Mail, from: string): Promise<string> {
    const { message } = await this.composer.sendMail(messageOf(mail, from));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    const time = new Date().toISOString().replaceAll(/[-:.]/g, '');
    const file = join(this.folder, `${time}-${randomBytes(4).toString('hex')}.eml`);
    // Whole before it has its name: nobody ever reads half a mail.
    await writeFile(`${file}.tmp`, message, { mode: 0o600, flag: 'wx' });
    await rename(`${file}.tmp`, file);
    await this.prune();
    return file;
  }

  /** Names begin with the time, so the first are the oldest. */
  private async prune(): Promise<void> {
    const mails = (await readdir(this.folder)).filter((name) => MAIL.test(name)).toSorted();
    for (const name of mails.slice(0, -KEPT)) await rm(join(this.folder, name), { force: true });
  }
}

/** A server that is silent for longer is taken for gone: nobody waits for it, but a retry does. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/** A server that takes mail over SMTP, with TLS as its address says or the server offers. */
class SmtpServer {
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
