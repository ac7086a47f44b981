import { type BeforeApplicationShutdown, Injectable, Logger, Module } from '@nestjs/common';
import { setTimeout as sleep } from 'node:timers/promises';
import { SettingsModule } from '../settings/index.js';
import { AppError, codeOf, within } from '../shared/index.js';
import { checkMail, type Delivery, type Mail, MailTemplates, MailTransport } from './mail.js';

/** Delays before retries, in ms. Tests override them. */
export class MailRetries {
  readonly afterMs: readonly number[] = [5_000, 30_000, 120_000];
}

/** Further messages fail at once: a long outage of the server must not exhaust memory. */
const MAX_CONCURRENT = 1000;
/** Max wait for running deliveries at shutdown. */
const FAREWELL_MS = 10_000;

/** `away`: a later attempt may succeed. */
export type DeliveryOutcome = 'sent' | 'refused' | 'away';

/** Sends mail in the background. */
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

  /** Consecutive messages given up by this process; 0 after a success. */
  get lost(): number {
    return this.givenUp;
  }

  /** Sends in the background with retries. Failures are logged without recipient and content. */
  send(mail: Mail): void {
    checkMail(mail);
    if (this.underWay.size >= MAX_CONCURRENT)
      return this.logger.error('Email dropped: too many messages are waiting for the server.');
    const sending = this.persist(mail).finally(() => this.underWay.delete(sending));
    this.underWay.add(sending);
  }

  /** Sends once, now. @throws errors of the server or the disk */
  async deliver(mail: Mail): Promise<Delivery> {
    checkMail(mail);
    const delivery = await this.transport.deliver(mail);
    this.givenUp = 0;
    this.logger.log(deliveryLine(delivery));
    return delivery;
  }

  /** Sends once for callers that retry by themselves. Failures are logged. */
  async offer(mail: Mail): Promise<DeliveryOutcome> {
    try {
      await this.deliver(mail);
      return 'sent';
    } catch (error) {
      const refused = isFinal(error);
      this.logger.warn(`Email not sent (${causeOf(error)}); ${refused ? 'giving up' : 'will retry'}.`);
      if (refused) this.givenUp += 1;
      return refused ? 'refused' : 'away';
    }
  }

  /** Running deliveries may finish; pending retries do not delay the shutdown. */
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
        this.logger.warn(`Email not sent (${causeOf(error)}); ${again ? 'will retry' : 'giving up'}.`);
        if (!again) {
          this.givenUp += 1;
          return;
        }
        await sleep(pauseMs, undefined, { signal: this.ending.signal, ref: false }).catch(() => undefined);
      }
    }
  }
}

const deliveryLine = (delivery: Delivery): string =>
  delivery.by === 'server'
    ? 'Email delivered to the SMTP server.'
    : `No SMTP server is configured: email written to ${delivery.file}.`;

/** A 5xx reply is final. */
const isFinal = (error: unknown): boolean => (responseOf(error) ?? 0) >= 500;

const responseOf = (error: unknown): number | undefined => {
  const code = (error as { readonly responseCode?: unknown }).responseCode;
  return typeof code === 'number' ? code : undefined;
};

/** Server replies may quote addresses and content, so only codes are logged. */
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
