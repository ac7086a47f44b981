import { type BeforeApplicationShutdown, Injectable, Logger, Module } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { SettingsModule } from '../settings/index.js';
import { AppError, codeOf, within } from '../shared/index.js';
import { type Delivery, MailTransport } from './mail-transport.js';
import { checkMail, type Mail, MailTemplates } from './mail.js';

/** When a mail that could not be handed over is tried again, in ms after each failure. Tests take shorter ones. */
export class MailRetries {
  readonly afterMs: readonly number[] = [5_000, 30_000, 120_000];
}

/** More mails at once are told as failed: a server that is away for long must not fill the memory. */
const MAX_CONCURRENT = 1000;
/** How long a process that ends waits for mail that is being handed over. */
const FAREWELL_MS = 10_000;

/** What became of a mail: `away` when the same may succeed later. */
export type Offered = 'sent' | 'refused' | 'away';

/** Sends mail. Nobody who asked for a page waits for it. */
@Injectable()
export class Mailer implements BeforeApplicationShutdown {
  private readonly logger = new Logger('Mail');
  private readonly underWay = new Set<Promise<void>>();
  private readonly ending = new AbortController();
  private givenUp = 0;

  constructor(
    private readonly transport: MailTransport,
    private readonly retries: MailRetries,
  ) {}

  /** How many mails in a row this process has given up; 0 when the last one was sent. */
  get lost(): number {
    return this.givenUp;
  }

  /** Sends it in the background, several times if need be; a failure stands in the log, without what it was about. */
  send(mail: Mail): void {
    checkMail(mail);
    if (this.underWay.size >= MAX_CONCURRENT)
      return this.logger.error('Email dropped: too many messages are waiting for the server.');
    const sending = this.persist(mail).finally(() => this.underWay.delete(sending));
    this.underWay.add(sending);
  }

  /** Sends it once, now. @throws what the server or the disk said */
  async deliver(mail: Mail): Promise<Delivery> {
    checkMail(mail);
    const delivery = await this.transport.deliver(mail);
    this.givenUp = 0;
    this.logger.log(told(delivery));
    return delivery;
  }

  /** The same for what its sender keeps until it is sent. Why it could not be stands in the log. */
  async offer(mail: Mail): Promise<Offered> {
    try {
      await this.deliver(mail);
      return 'sent';
    } catch (error) {
      const refused = isFinal(error);
      this.logger.warn(`A mail could not be sent (${causeOf(error)}); it is ${refused ? 'given up' : 'kept'}.`);
      if (refused) this.givenUp += 1;
      return refused ? 'refused' : 'away';
    }
  }

  /** What is being handed over may end; what waits for another try does not hold up the process. */
  async beforeApplicationShutdown(): Promise<void> {
    this.ending.abort();
    await within(Promise.all(this.underWay), FAREWELL_MS);
  }

  private async persist(mail: Mail): Promise<void> {
    for (const pauseMs of [...this.retries.afterMs, undefined]) {
      try {
        await this.deliver(mail);
        return;
      } catch (error) {
        const again = pauseMs !== undefined && !this.ending.signal.aborted && !isFinal(error);
        this.logger.warn(`A mail could not be sent (${causeOf(error)}); it is ${again ? 'tried again' : 'given up'}.`);
        if (!again) {
          this.givenUp += 1;
          return;
        }
        await sleep(pauseMs, undefined, { signal: this.ending.signal, ref: false }).catch(() => undefined);
      }
    }
  }
}

const told = (delivery: Delivery): string =>
  delivery.by === 'server'
    ? 'Email delivered to the SMTP server.'
    : `No SMTP server is configured: email written to ${delivery.file}.`;

/** A server that says 5xx means it: the address is wrong, or we are not welcome. */
const isFinal = (error: unknown): boolean => (responseOf(error) ?? 0) >= 500;

const responseOf = (error: unknown): number | undefined => {
  const code = (error as { readonly responseCode?: unknown }).responseCode;
  return typeof code === 'number' ? code : undefined;
};

/** What a server answers may quote the address, and a message what it was about: the log gets codes alone. */
const causeOf = (error: unknown): string =>
  error instanceof AppError
    ? error.message
    : [codeOf(error), responseOf(error)].filter(Boolean).join(' ') || (error instanceof Error ? error.name : 'unknown');

@Module({
  imports: [SettingsModule],
  providers: [MailTransport, MailRetries, MailTemplates, Mailer],
  exports: [MailTemplates, Mailer],
})
export class MailModule {}
