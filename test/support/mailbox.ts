import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer, type SMTPServerSession } from 'smtp-server';
import { eventually, TIMEOUT_MS } from './eventually.js';

/** What came over the wire: the envelope as the server was told it, and the message as it was read. */
export interface ReceivedMail {
  readonly from: string;
  readonly to: readonly string[];
  readonly message: ParsedMail;
  readonly raw: string;
}

/** A real SMTP server that keeps all that it is given. */
export class Mailbox {
  readonly mails: ReceivedMail[] = [];
  /** Answers to the next messages, in order; undefined: taken. */
  readonly refusals: (number | undefined)[] = [];
  /** Happens when a message is there, before whoever sent it is told so. */
  whileTaking: () => Promise<void> = () => Promise.resolve();

  private constructor(private readonly server: SMTPServer) {}

  static async open(): Promise<Mailbox> {
    const server = new SMTPServer({
      disabledCommands: ['STARTTLS'],
      authOptional: true,
      logger: false,
      onData: (stream, session, done) => {
        const chunks: Buffer[] = [];
        stream.on('data', (chunk: Buffer) => chunks.push(chunk));
        stream.on('end', () => {
          const refusal = mailbox.refusals.shift();
          if (refusal !== undefined) return done(Object.assign(new Error('not now'), { responseCode: refusal }));
          void mailbox.arrived(session, Buffer.concat(chunks), done);
        });
      },
    });
    const mailbox = new Mailbox(server);
    server.listen(0, '127.0.0.1');
    await once(server.server, 'listening');
    return mailbox;
  }

  /** As SMTP_URL names it. */
  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  close(): Promise<void> {
    return new Promise((done) => this.server.close(() => done()));
  }

  /** The mail to an address that came last, once there are as many to it. */
  latestTo(address: string, count = 1): Promise<ReceivedMail> {
    return eventually(() => {
      const mails = this.mails.filter(({ to }) => to.includes(address));
      const latest = mails.at(-1);
      if (latest === undefined || mails.length < count)
        throw new Error(`${mails.length} mails to ${address} instead of ${count}`);
      return latest;
    }, TIMEOUT_MS);
  }

  private async arrived({ envelope }: SMTPServerSession, raw: Buffer, done: () => void): Promise<void> {
    const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address;
    const to = envelope.rcptTo.map(({ address }) => address);
    this.mails.push({ from, to, message: await simpleParser(raw), raw: raw.toString() });
    await this.whileTaking();
    done();
  }
}

/** The six digits in a mail. */
export function codeIn({ message }: ReceivedMail): string {
  const match = /\b(\d{3}) (\d{3})\b/.exec(message.text ?? '');
  if (!match) throw new Error(`No code in: ${message.text}`);
  return `${match[1]}${match[2]}`;
}

/** The one address in a mail that carries a token. */
export function linkIn({ message }: ReceivedMail): string {
  const match = /https?:\/\/\S+[?&]t=[\w-]+/.exec(message.text ?? '');
  if (!match) throw new Error(`No link in: ${message.text}`);
  return match[0];
}

/** Whom the message itself names. */
export const addressedTo = ({ message }: ReceivedMail): string =>
  [message.to]
    .flat()
    .map((to: AddressObject | undefined) => to?.text)
    .join();
