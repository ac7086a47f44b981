import { Injectable } from '@nestjs/common';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { AppError, Clock } from '../../../platform/shared/index.js';
import { credentialSubjectOf, HealthLimits } from './cooldown.js';

/** Target of a check call. */
export interface CheckTarget {
  readonly channel: Channel;
  readonly credential: ChannelCredential | undefined;
  /** Upstream name of the model. */
  readonly model: string;
}

/** Sends the smallest possible call. Resolves with its error, or undefined on success; never rejects. */
type SendCheckCall = (target: CheckTarget) => Promise<AppError | undefined>;

const NOT_SENT = new AppError('unavailable', 'This process cannot send check calls.');
/** Beyond this all successes are dropped. */
const MAX_SUCCESSES = 1000;

/**
 * The relay's own minimal calls: evidence that no client can influence of whether a channel or credential fails for
 * everyone. One at a time per credential, and none within `checkAgainMs` of a success.
 */
@Injectable()
export class CheckCalls {
  /** Set by the relay, which has the protocols. */
  send: SendCheckCall = () => Promise.resolve(NOT_SENT);
  /** By credential subject. */
  private readonly running = new Map<string, Promise<AppError | undefined>>();
  /** Time of the last success, by this process's clock. */
  private readonly succeededMs = new Map<string, number>();

  constructor(
    private readonly limits: HealthLimits,
    private readonly clock: Clock,
  ) {}

  /** The error; undefined if a check call succeeds now or did within `checkAgainMs`. */
  async outcome(target: CheckTarget): Promise<AppError | undefined> {
    const subject = credentialSubjectOf(target.channel, target.credential);
    const succeededMs = this.succeededMs.get(subject);
    if (succeededMs !== undefined && this.clock.now() - succeededMs < this.limits.checkAgainMs) return undefined;
    return this.running.get(subject) ?? this.begin(subject, target);
  }

  private async begin(subject: string, target: CheckTarget): Promise<AppError | undefined> {
    const sending = this.send(target);
    this.running.set(subject, sending);
    const failure = await sending;
    this.running.delete(subject);
    if (failure !== undefined) return failure;
    if (this.succeededMs.size >= MAX_SUCCESSES) this.succeededMs.clear();
    this.succeededMs.set(subject, this.clock.now());
    return undefined;
  }
}
