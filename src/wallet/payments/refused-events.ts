import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';

const MINUTE_MS = 60_000;

/**
 * Tells operators of events that Stripe has not signed. Strangers can send them without end, and a line is dearer than the
 * refusal that it tells of: of a spell the first has a line of its own, and each minute of the others only the number.
 */
@Injectable()
export class RefusedEvents implements OnApplicationShutdown {
  private readonly logger = new Logger('Payments');
  private leftOut = 0;
  private minute: NodeJS.Timeout | undefined;

  /** @param reason why it was refused, on one line */
  note(reason: string): void {
    if (this.minute !== undefined) {
      this.leftOut += 1;
      return;
    }
    this.logger.warn(`An event was refused that Stripe has not signed, or not now: ${reason}`);
    this.beginMinute();
  }

  onApplicationShutdown(): void {
    this.tell();
    clearTimeout(this.minute);
    this.minute = undefined;
  }

  private beginMinute(): void {
    this.minute = setTimeout(() => this.endMinute(), MINUTE_MS).unref();
  }

  /** A minute without any ends the spell. */
  private endMinute(): void {
    this.minute = undefined;
    if (this.leftOut > 0) this.beginMinute();
    this.tell();
  }

  private tell(): void {
    if (this.leftOut > 0)
      this.logger.warn({ left_out: this.leftOut }, 'More events were refused that Stripe has not signed.');
    this.leftOut = 0;
  }
}
