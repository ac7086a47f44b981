import type { AppError } from '../../shared/index.js';
import type { Channel, ChannelCredential } from '../channel.js';
import type { ChannelHealth } from './channel-health.js';
import type { OutcomeWindow } from './outcome-window.js';
import type { Rest } from './rest.js';
import { faultOf, isOfCredential } from './upstream-fault.js';

/** What rests and is tried by an attempt. */
export interface Probed {
  readonly channel: Rest | undefined;
  readonly credential: Rest | undefined;
}

/**
 * What one attempt shows of the health of its channel and of its credential: told once that it succeeded, failed or was
 * left, and perhaps before that it has begun to answer.
 */
export class ObservedAttempt {
  private readonly window: OutcomeWindow;
  private healed = false;

  constructor(
    private readonly health: ChannelHealth,
    private readonly channel: Channel,
    private readonly credential: ChannelCredential | undefined,
    private readonly probed: Probed,
  ) {
    this.window = health.windowOf(channel);
  }

  /** Content has come: whoever waits for this attempt's word need not wait for its end. */
  answered(): void {
    if (this.healed) return;
    this.healed = true;
    const { channel, credential } = this.probed;
    if (channel !== undefined) this.health.heal(this.channel, channel, true);
    if (credential !== undefined) this.health.heal(this.channel, credential, false);
  }

  succeeded(): void {
    this.answered();
    this.health.countSuccess(this.window);
  }

  failed(error: AppError): void {
    const fault = faultOf(error);
    if (isOfCredential(fault)) {
      // A channel that refuses is there. The rest of a credential that was tried is followed by the new one.
      if (this.probed.channel !== undefined && !this.healed) this.health.heal(this.channel, this.probed.channel, true);
      this.health.restCredential(this.channel, this.credential, fault, error);
    } else if (fault === 'failure') this.failedItself(error);
    else if (error.details.upstreamStatus !== undefined) this.answered();
    else this.left();
  }

  /** Nothing was asked, or nobody waited for the answer. */
  left(): void {
    if (this.healed) return;
    const { channel, credential } = this.probed;
    if (channel !== undefined) this.health.free(channel);
    if (credential !== undefined) this.health.free(credential);
  }

  private failedItself(error: AppError): void {
    const { channel, credential } = this.probed;
    // Also when it had begun to answer: an answer that breaks off is what the others would get as well.
    if (channel === undefined) this.health.countFailure(this.channel, this.window, error);
    else this.health.pauseAgain(this.channel, channel, error);
    if (credential !== undefined && !this.healed) this.health.free(credential);
  }
}
