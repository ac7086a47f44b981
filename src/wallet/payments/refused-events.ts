import { Injectable, Logger, type OnApplicationShutdown } from '@nestjs/common';
import { LimitedLines } from '../../platform/shared/index.js';

/** Nothing tells one sender from another here: all are counted together. */
const ALL = 'all';

/** Tells operators of events that Stripe has not signed, of which the first in a minute has a line of its own. */
@Injectable()
export class RefusedEvents implements OnApplicationShutdown {
  private readonly logger = new Logger('Payments');
  private readonly lines = new LimitedLines(1, ({ leftOut }) =>
    this.logger.warn({ left_out: leftOut }, 'More events with invalid Stripe signatures were rejected.'),
  );

  /** @param reason why it was refused, on one line */
  note(reason: string): void {
    if (this.lines.admit(ALL))
      this.logger.warn(`Rejected an event with an invalid or expired Stripe signature: ${reason}`);
  }

  onApplicationShutdown(): void {
    this.lines.end();
  }
}
