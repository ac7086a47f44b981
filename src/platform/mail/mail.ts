import { Injectable } from '@nestjs/common';
import Handlebars from 'handlebars';
import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Config, VIEWS } from '../config/index.js';
import { Settings } from '../settings/index.js';
import { AppError, type Secret } from '../shared/index.js';
import { loadTemplates } from '../templates/index.js';

/** A message as HTML and text. */
export interface Mail {
  /** One address without a display name, never parsed as a list; or several, which see each other. */
  readonly to: string | readonly string[];
  readonly subject: string;
  readonly html: string;
  readonly text: string;
}

/** Header values must not contain line breaks, which would start another header. */
const ONE_LINE = /^[^\p{Cc}\u2028\u2029]+$/u;
const ONE_ADDRESS = /^[^\s\p{Cc}<>,;:"()[\]\\]+@[^\s\p{Cc}<>,;:"()[\]\\@]+$/u;

/** @throws AppError if the recipient or the subject contains line breaks */
export function checkMail({ to, subject }: Mail): void {
  const recipients = [to].flat();
  if (recipients.length === 0 || !recipients.every((address) => ONE_ADDRESS.test(address)))
    throw new AppError('internal', 'Invalid recipient address.');
  if (!ONE_LINE.test(subject)) throw new AppError('internal', 'The email subject contains a line break.');
}

/**
 * A message for nodemailer. Addresses are passed as objects, so that they are never parsed; files and URLs in content
 * are never opened.
 */
export const messageOf = ({ to, subject, html, text }: Mail, from: string) => ({
  from,
  to: [to].flat().map((address) => ({ name: '', address })),
  subject,
  html,
  text,
  // Suppresses automatic replies.
  headers: { 'Auto-Submitted': 'auto-generated' },
  disableFileAccess: true,
  disableUrlAccess: true,
});

/** The templates of `views/mail/`. */
@Injectable()
export class MailTemplates {
  private readonly templates = loadTemplates(Handlebars.create(), join(VIEWS, 'mail'));

  /** One message as HTML and as plain text. */
  message(data: Readonly<Record<string, unknown>>): { readonly html: string; readonly text: string } {
    return { html: this.fill('message', data), text: this.fill('message.text', data) };
  }

  private fill(name: string, data: Readonly<Record<string, unknown>>): string {
    const template = this.templates.get(name);
    if (template === undefined) throw new Error(`There is no template views/mail/${name}.hbs.`);
    return template(data);
  }
}

/** How a message was delivered. Contains neither address nor content, apart from the file. */
export type Delivery =
  | {
      readonly by: 'server';
      /** The server's reply, such as `250 OK`. */
      readonly answer: string;
    }
  | {
      readonly by: 'outbox';
      /** Absolute path. */
      readonly file: string;
    };

/** The configured mail server is not usable. */
class UnusableMailServer extends AppError {
  constructor(reason: string) {
    super('unavailable', reason);
  }
}

/** Delivers mail through the configured server, or into a folder if there is none. */
@Injectable()
export class MailTransport {
  private readonly outbox: Outbox;

  constructor(
    config: Config,
    private readonly settings: Settings,
  ) {
    this.outbox = new Outbox(config.dataDir);
  }

  /** @throws UnusableMailServer, and errors of the server or the disk */
  async deliver(mail: Mail): Promise<Delivery> {
    const { smtpUrl, from, unusable } = this.settings.current().mail;
    if (unusable !== undefined) throw new UnusableMailServer(unusable);
    if (smtpUrl === undefined) return { by: 'outbox', file: await this.outbox.put(mail, from) };
    return { by: 'server', answer: await sendTo(smtpUrl, mail, from) };
  }
}

/** Loaded with the first message. */
const nodemailer = () => import('nodemailer');

/** Anyone can trigger mail, so only the newest files are kept. */
const KEPT = 500;

/** A message, or one that a killed process left unfinished. */
const MAIL = /\.eml(?:\.tmp)?$/;

/** Stores messages as `DATA_DIR/outbox/<time>-<random>.eml`, which any mail program opens. */
class Outbox {
  private readonly folder: string;
  private latestMs = 0;

  constructor(dataDir: string) {
    this.folder = join(dataDir, 'outbox');
  }

  /** @returns the absolute path */
  async put(mail: Mail, from: string): Promise<string> {
    const { createTransport } = await nodemailer();
    const composer = createTransport({ streamTransport: true, buffer: true, newline: 'windows' });
    const { message } = await composer.sendMail(messageOf(mail, from));
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    // No two have the same time, so that names sort in the order of writing.
    this.latestMs = Math.max(Date.now(), this.latestMs + 1);
    const time = new Date(this.latestMs).toISOString().replaceAll(/[-:.]/g, '');
    const file = join(this.folder, `${time}-${randomBytes(4).toString('hex')}.eml`);
    // Renamed when complete, so that no partial message is visible.
    await writeFile(`${file}.tmp`, message, { mode: 0o600, flag: 'wx' });
    await rename(`${file}.tmp`, file);
    await this.prune();
    return file;
  }

  /** Names start with the time: the first are the oldest. */
  private async prune(): Promise<void> {
    const mails = (await readdir(this.folder)).filter((name) => MAIL.test(name)).toSorted();
    for (const name of mails.slice(0, -KEPT)) await rm(join(this.folder, name), { force: true });
  }
}

/** A server that is silent for longer counts as down; a retry follows. */
const TIMEOUTS = { dnsTimeout: 5_000, connectionTimeout: 10_000, greetingTimeout: 10_000, socketTimeout: 20_000 };

/**
 * Sends through SMTP, with TLS according to the URL or to the server's offer.
 * @returns the server's reply. @throws its rejection, or the connection error
 */
async function sendTo(server: Secret, mail: Mail, from: string): Promise<string> {
  const { createTransport } = await nodemailer();
  const { response } = await createTransport({ url: server.reveal(), ...TIMEOUTS }).sendMail(messageOf(mail, from));
  return response;
}
