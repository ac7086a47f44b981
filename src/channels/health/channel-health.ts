import { Injectable, Logger } from '@nestjs/common';
import { Metrics } from '../../metrics/index.js';
import { type AppError, Clock } from '../../shared/index.js';
import type { Channel, ChannelCredential } from '../channel.js';
import { HealthLimits } from './health-limits.js';
import { OutcomeWindow } from './outcome-window.js';
import type { Rest } from './rest.js';
import { SharedRests } from './shared-rests.js';
import { credentialSubjectOf, subjectOf } from './subjects.js';
import type { CredentialFault } from './upstream-fault.js';

/** Rests that end within so much are one, in ms. */
const SAME_MS = 1000;

/** Of what is written in the log. */
const REASONS: Readonly<Record<CredentialFault, string>> = {
  rate_limit: 'it is at its rate limit',
  refused: 'it was refused',
  no_money: 'its account has no money left',
};

/**
 * What the outcomes of calls mean for those that come: which channels and which of their credentials are left alone, for
 * how long. Outcomes are counted in each process for itself; what follows from them is shared. The state of a channel is
 * kept by its id and address, that of a credential by what it is, so that a change of the catalog changes neither unless
 * it changes these.
 */
@Injectable()
export class ChannelHealth {
  private readonly logger = new Logger('Channels');
  /** By the subject of a channel; one that was healed begins anew. */
  private readonly windows = new Map<string, OutcomeWindow>();
  private readonly counter;

  constructor(
    private readonly rests: SharedRests,
    private readonly limits: HealthLimits,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.counter = metrics.counter(
      'channel_rests_total',
      'How often this process has begun to leave a channel or one of its credentials alone, by why.',
      ['channel', 'reason'],
    );
    rests.onOver = (subject) => this.windows.delete(subject);
  }

  /** Why the whole channel is left alone; undefined when it is not. */
  restOf(channel: Channel): Rest | undefined {
    return this.rests.find(subjectOf(channel));
  }

  restOfCredential(channel: Channel, credential: ChannelCredential | undefined): Rest | undefined {
    return this.rests.find(credentialSubjectOf(channel, credential));
  }

  /** Whether calls go there: it does not rest, nor do all of its credentials. */
  isUp(channel: Channel): boolean {
    if (channel.unavailableReason !== undefined || this.restOf(channel) !== undefined) return false;
    const { credentials } = channel;
    if (credentials.length === 0) return this.restOfCredential(channel, undefined) === undefined;
    return credentials.some((credential) => this.restOfCredential(channel, credential) === undefined);
  }

  /** Where the outcomes of calls that begin now are counted. */
  windowOf(channel: Channel): OutcomeWindow {
    const subject = subjectOf(channel);
    let window = this.windows.get(subject);
    if (window === undefined) this.windows.set(subject, (window = new OutcomeWindow(this.limits)));
    return window;
  }

  countSuccess(window: OutcomeWindow): void {
    window.add(false, this.clock.now());
  }

  /** What had begun before the channel rested, or was healed, tells nothing of how it is now. */
  countFailure(channel: Channel, window: OutcomeWindow, error: AppError): void {
    const nowMs = this.clock.now();
    window.add(true, nowMs);
    if (this.windowOf(channel) !== window || this.restOf(channel) !== undefined || !window.isFailing(nowMs)) return;
    const { outcomes, failures } = window.count(nowMs);
    this.pause(channel, 1, error, `${failures} of its last ${outcomes} calls failed`);
  }

  /** The call that tried has failed as well. */
  pauseAgain(channel: Channel, { strikes }: Rest, error: AppError): void {
    this.pause(channel, strikes + 1, error, 'it fails still');
  }

  restCredential(
    channel: Channel,
    credential: ChannelCredential | undefined,
    reason: CredentialFault,
    { details }: AppError,
  ): void {
    const { refusedMs, longestRateLimitMs } = this.limits;
    const askedMs = (details.retryAfterSeconds ?? 1) * 1000;
    const restMs = reason === 'rate_limit' ? Math.min(askedMs, longestRateLimitMs) : refusedMs;
    const untilMs = this.clock.now() + restMs;
    const known = this.restOfCredential(channel, credential);
    if (restMs <= 0) return;
    // Calls that ran at the same time hear the same: the longest rest counts, and is told once.
    if (known !== undefined && untilMs < known.untilMs + SAME_MS) return this.rests.extend(known, untilMs);
    const subject = credentialSubjectOf(channel, credential);
    this.rests.begin({ subject, reason, strikes: (known?.strikes ?? 0) + 1, restMs });
    this.counter.inc({ channel: channel.name, reason });
    const which = credential === undefined ? 'it' : placeOf(channel, credential);
    this.logger.warn(
      `Channel ${channel.name}: ${which} is not called with for ${secondsOf(restMs)} s, because ${REASONS[reason]}.`,
    );
  }

  claim(rest: Rest): Promise<boolean> {
    return this.rests.claim(rest);
  }

  free(rest: Rest): void {
    this.rests.free(rest);
  }

  /** @param isWhole of the whole channel, not of a credential */
  heal(channel: Channel, rest: Rest, isWhole: boolean): void {
    if (this.rests.end(rest))
      this.logger.log(`Channel ${channel.name}: ${isWhole ? 'it' : 'a credential that rested'} answers again.`);
  }

  private pause(channel: Channel, strikes: number, { kind, details }: AppError, why: string): void {
    const { pauseMs, longestPauseMs } = this.limits;
    // What it asks for itself is obeyed, within bounds: it may be the word of whatever stands before it.
    const leastMs = Math.max(pauseMs, (details.retryAfterSeconds ?? 0) * 1000);
    const restMs = Math.min(leastMs * 2 ** (strikes - 1), longestPauseMs);
    if (restMs <= 0) return;
    this.rests.begin({ subject: subjectOf(channel), reason: 'failures', strikes, restMs });
    this.counter.inc({ channel: channel.name, reason: 'failures' });
    this.logger.warn(`Channel ${channel.name} is left alone for ${secondsOf(restMs)} s: ${why} (${kind}).`);
  }
}

const secondsOf = (ms: number): number => Math.ceil(ms / 1000);

/** As operators know it: the credential itself is told to nobody. */
const placeOf = ({ credentials }: Channel, { id }: ChannelCredential): string =>
  `credential ${credentials.findIndex((credential) => credential.id === id) + 1} of ${credentials.length}`;
