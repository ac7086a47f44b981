import type { AppError } from '../../../platform/shared/index.js';
import type { CalledTarget, ChannelHealth } from './channel-health.js';
import type { ChannelOutcomes } from './channel-outcomes.js';
import { classifyFailure, type Cooldown, isOfCredential } from './cooldown.js';

/** Cooldowns that an attempt probes. */
interface Probed {
  readonly channel: Cooldown | undefined;
  readonly credential: Cooldown | undefined;
}

/**
 * Reports an attempt to channel health: once whether it succeeded, failed or was abandoned, and before that possibly
 * that its response has started.
 */
export class ObservedAttempt {
  private readonly outcomes: ChannelOutcomes;
  private healed = false;

  constructor(
    private readonly health: ChannelHealth,
    private readonly target: CalledTarget,
    private readonly probed: Probed,
  ) {
    this.outcomes = health.outcomesOf(target.channel);
  }

  /** Content has arrived, which already ends a cooldown. */
  started(): void {
    if (this.healed) return;
    this.healed = true;
    const { channel, credential } = this.probed;
    if (channel !== undefined) this.health.heal(this.target.channel, channel, true);
    if (credential !== undefined) this.health.heal(this.target.channel, credential, false);
  }

  succeeded(): void {
    this.started();
    this.health.countSuccess(this.target, this.outcomes);
  }

  failed(error: AppError): void {
    const failure = classifyFailure(error);
    if (isOfCredential(failure)) {
      const { channel, credential } = this.probed;
      // A channel that rejects is reachable. For a probed credential, a check call decides.
      if (channel !== undefined && !this.healed) this.health.heal(this.target.channel, channel, true);
      this.health.credentialFailed(this.target, failure, error, this.healed ? undefined : credential);
    } else if (failure === 'failure') this.channelFailed(error);
    else if (error.details.upstreamStatus !== undefined) this.started();
    else this.abandoned();
  }

  /** Not sent, or abandoned. */
  abandoned(): void {
    if (this.healed) return;
    const { channel, credential } = this.probed;
    if (channel !== undefined) this.health.free(channel);
    if (credential !== undefined) this.health.free(credential);
  }

  private channelFailed(error: AppError): void {
    const { channel, credential } = this.probed;
    // Also after the response has started: others would get the same truncated response.
    if (channel === undefined) this.health.countFailure(this.target, this.outcomes, error);
    else void this.health.probeFailed(this.target, channel, error, this.healed);
    if (credential !== undefined && !this.healed) this.health.free(credential);
  }
}
