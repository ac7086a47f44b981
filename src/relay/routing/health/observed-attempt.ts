import type { AppError } from '../../../platform/shared/index.js';
import type { AttemptTarget, ChannelHealth } from './channel-health.js';
import type { ChannelOutcomes } from './channel-outcomes.js';
import { classifyFailure, type Cooldown, isOfCredential } from './cooldown.js';

/** What rests and is tried by an attempt. */
interface Probed {
  readonly channel: Cooldown | undefined;
  readonly credential: Cooldown | undefined;
}

/**
 * What one attempt shows of the health of its channel and of its credential: told once that it succeeded, failed or was
 * left, and perhaps before that it has begun to answer.
 */
export class ObservedAttempt {
  private readonly outcomes: ChannelOutcomes;
  private healed = false;

  constructor(
    private readonly health: ChannelHealth,
    private readonly target: AttemptTarget,
    private readonly probed: Probed,
  ) {
    this.outcomes = health.outcomesOf(target.channel);
  }

  /** Content has come: whoever waits for this attempt's word need not wait for its end. */
  answered(): void {
    if (this.healed) return;
    this.healed = true;
    const { channel, credential } = this.probed;
    if (channel !== undefined) this.health.heal(this.target.channel, channel, true);
    if (credential !== undefined) this.health.heal(this.target.channel, credential, false);
  }

  succeeded(): void {
    this.answered();
    this.health.countSuccess(this.target, this.outcomes);
  }

  failed(error: AppError): void {
    const fault = classifyFailure(error);
    if (isOfCredential(fault)) {
      const { channel, credential } = this.probed;
      // A channel that refuses is there. What comes of a credential that was tried depends on a check call.
      if (channel !== undefined && !this.healed) this.health.heal(this.target.channel, channel, true);
      this.health.credentialFailed(this.target, fault, error, this.healed ? undefined : credential);
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
    if (channel === undefined) this.health.countFailure(this.target, this.outcomes, error);
    else void this.health.probeFailed(this.target, channel, error, this.healed);
    if (credential !== undefined && !this.healed) this.health.free(credential);
  }
}
