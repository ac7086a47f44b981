import { type AddressInfo } from 'node:net';
import { type ParsedMail, simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { eventually } from './eventually.js';

/** A mail as it arrived, with whom it was for according to the conversation. */
export interface ReceivedMail extends ParsedMail {
  readonly recipients: readonly string[];
}

/** Takes mail as a provider's server would: a real SMTP conversation on loopback. */
export class MailServer {
  readonly received: ReceivedMail[] = [];
  private readonly server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS'],
    onData: (stream, { envelope }, done) => {
      const recipients = envelope.rcptTo.map(({ address }) => address);
      simpleParser(stream).then((mail) => {
        this.received.push({ ...mail, recipients });
        done();
      }, done);
    },
  });

  static async start(): Promise<MailServer> {
    const mail = new MailServer();
    await new Promise<void>((listening) => mail.server.listen(0, '127.0.0.1', listening));
    return mail;
  }

  /** As SMTP_URL names it. */
  get url(): string {
    return `smtp://127.0.0.1:${(this.server.server.address() as AddressInfo).port}`;
  }

  /** The last mail to an address, once one has come whose subject matches. */
  mailTo(address: string, subject: RegExp): Promise<ReceivedMail> {
    return eventually(async () => {
      const mail = this.received.findLast((one) => one.recipients.includes(address) && subject.test(one.subject ?? ''));
      if (mail === undefined) throw new Error(`No mail to ${address} with the subject ${subject} has come.`);
      return Promise.resolve(mail);
    });
  }

  close(): Promise<void> {
    return new Promise((closed) => this.server.close(() => closed()));
  }
}
