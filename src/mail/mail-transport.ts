import type { Mail } from './mail.js';

/** Takes a mail off our hands, or rejects. */
export abstract class MailTransport {
  /** @returns what the log says of it: never the address or the content */
  abstract deliver(mail: Mail): Promise<string>;
}
