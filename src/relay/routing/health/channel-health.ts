import { Injectable, Logger } from '@nestjs/common';
import type { Channel, ChannelCredential } from '../../../catalog/channels/index.js';
import { Metrics } from '../../../platform/metrics/index.js';
import { type AppError, Clock } from '../../../platform/shared/index.js';
import { ChannelOutcomes } from './channel-outcomes.js';
import { CheckCalls, type CheckTarget } from './check-calls.js';
import {
  AccountBackOffs,
  type BackOff,
  classifyFailure,
  type Cooldown,
  type CredentialError,
  credentialSubjectOf,
  HealthLimits,
  isOfCredential,
  subjectOf,
} from './cooldown.js';
import { SharedCooldowns } from './shared-cooldowns.js';

/** Cooldowns that end within this time of each other count as one, in ms. */
const SAME_MS = 1000;

/** For the log. */
const REASONS: Readonly<Record<CredentialError, string>> = {
  rate_limit: 'it reached its rate limit',
  refused: 'it was rejected',
  no_money: 'its account is out of credit',
};

/** An attempt's channel, credential and model, and the account whose call it serves. */
export interface CalledTarget extends CheckTarget {
  readonly accountId: string;
}

/**
 * Decides from outcomes which channels and credentials are skipped, and for how long. Failures of one account's calls
 * make only that account back off; a channel or credential cools down for everyone when several accounts see the
 * failure, or when the relay's own check call does. Outcomes and back-offs are counted per process; cooldowns are
 * shared. State is keyed by a channel's ID and address, and by a credential's ID, so that other catalog changes keep
 * it.
 */
@Injectable()
export class ChannelHealth {
  private readonly logger = new Logger('Channels');
  /** By channel subject; reset when the channel recovers. */
  private readonly outcomes = new Map<string, ChannelOutcomes>();
  /** Of channels and of credentials. */
  private readonly backOffs = new AccountBackOffs();
  private readonly counter;

  constructor(
    private readonly cooldowns: SharedCooldowns,
    private readonly checks: CheckCalls,
    private readonly limits: HealthLimits,
    private readonly clock: Clock,
    metrics: Metrics,
  ) {
    this.counter = metrics.counter(
      'channel_rests_total',
      'Cooldowns of channels and credentials that began in this process, by reason.',
      ['channel', 'reason'],
    );
    cooldowns.onOver = (subject) => {
      this.outcomes.delete(subject);
      this.backOffs.deleteAllOf(subject);
    };
  }

  /** The channel's cooldown; undefined if none. */
  cooldownOf(channel: Channel): Cooldown | undefined {
    return this.cooldowns.find(subjectOf(channel));
  }

  credentialCooldownOf(channel: Channel, credential: ChannelCredential | undefined): Cooldown | undefined {
    return this.cooldowns.find(credentialSubjectOf(channel, credential));
  }

  /** The account's back-off from the channel; undefined if none. */
  backOffOf(channel: Channel, accountId: string): BackOff | undefined {
    return this.backOffs.find(subjectOf(channel), accountId, this.clock.now());
  }

  credentialBackOffOf(
    channel: Channel,
    credential: ChannelCredential | undefined,
    accountId: string,
  ): BackOff | undefined {
    return this.backOffs.find(credentialSubjectOf(channel, credential), accountId, this.clock.now());
  }

  /** Whether calls are routed there: neither the channel nor all of its credentials are cooling down. */
  isUp(channel: Channel): boolean {
    if (channel.unavailableReason !== undefined || this.cooldownOf(channel) !== undefined) return false;
    const { credentials } = channel;
    if (credentials.length === 0) return this.credentialCooldownOf(channel, undefined) === undefined;
    return credentials.some((credential) => this.credentialCooldownOf(channel, credential) === undefined);
  }

  /** Where the outcomes of new calls are counted. */
  outcomesOf(channel: Channel): ChannelOutcomes {
    const subject = subjectOf(channel);
    let outcomes = this.outcomes.get(subject);
    if (outcomes === undefined) this.outcomes.set(subject, (outcomes = new ChannelOutcomes(this.limits)));
    return outcomes;
  }

  countSuccess({ channel, credential, accountId }: CalledTarget, outcomes: ChannelOutcomes): void {
    if (this.backOffs.delete(subjectOf(channel), accountId)) outcomes.forget(accountId);
    this.backOffs.delete(credentialSubjectOf(channel, credential), accountId);
    outcomes.add(accountId, false, this.clock.now());
  }

  /** Outcomes of calls that began before a cooldown or a recovery are ignored. */
  countFailure(target: CalledTarget, outcomes: ChannelOutcomes, error: AppError): void {
    const { channel, accountId } = target;
    const nowMs = this.clock.now();
    outcomes.add(accountId, true, nowMs);
    if (this.outcomesOf(channel) !== outcomes || this.cooldownOf(channel) !== undefined) return;
    if (outcomes.isFailingForMany(nowMs)) return this.coolDown(channel, 1, error, 'calls of several accounts failed');
    if (!outcomes.isFailingFor(accountId, nowMs) || this.backOffOf(channel, accountId) !== undefined) return;
    this.backOff(target, outcomes, error);
    void this.checkChannel(target, outcomes);
  }

  /**
   * The probe of a channel after its cooldown failed: a check call decides whether it cools down again.
   * @param hasHealed its response had started and ended the cooldown
   */
  async probeFailed(target: CalledTarget, cooldown: Cooldown, error: AppError, hasHealed: boolean): Promise<void> {
    const checkError = await this.checks.outcome(target);
    // Another call has probed meanwhile.
    if (this.cooldownOf(target.channel)?.id !== (hasHealed ? undefined : cooldown.id)) return;
    const failure = checkError && classifyFailure(checkError);
    if (checkError !== undefined && isOfCredential(failure)) this.coolDownCredential(target, failure, checkError);
    if (failure === 'failure' || isUnknown(checkError))
      return this.coolDown(target.channel, cooldown.strikes + 1, error, 'it is still failing');
    this.heal(target.channel, cooldown, true);
  }

  /**
   * The upstream rejected a call because of its credential.
   * @param cooldown the credential's cooldown that this call probed
   */
  credentialFailed(
    target: CalledTarget,
    reason: CredentialError,
    error: AppError,
    cooldown: Cooldown | undefined,
  ): void {
    const durationMs = this.durationMsFor(reason, error);
    if (durationMs <= 0) return;
    if (reason === 'rate_limit') return this.rateLimited(target, durationMs, error, cooldown);
    const isCoolingDown =
      cooldown === undefined && this.credentialCooldownOf(target.channel, target.credential) !== undefined;
    // Calls that were running when its cooldown began fail the same way.
    if (isCoolingDown) return this.coolDownCredential(target, reason, error);
    void this.checkCredential(target, reason, error, cooldown);
  }

  claimProbe(cooldown: Cooldown): Promise<boolean> {
    return this.cooldowns.claimProbe(cooldown);
  }

  releaseProbe(cooldown: Cooldown): void {
    this.cooldowns.releaseProbe(cooldown);
  }

  /** @param isWhole of the whole channel, not of a credential */
  heal(channel: Channel, cooldown: Cooldown, isWhole: boolean): void {
    if (this.cooldowns.end(cooldown))
      this.logger.log(`Channel ${channel.name}: ${isWhole ? 'it' : 'a credential'} recovered.`);
  }

  /** No check call is sent, since it would add to the limited load. */
  private rateLimited(target: CalledTarget, durationMs: number, error: AppError, cooldown: Cooldown | undefined): void {
    const { channel, credential, accountId } = target;
    const nowMs = this.clock.now();
    const subject = credentialSubjectOf(channel, credential);
    const backOffMs = Math.min(durationMs, this.limits.credentialCooldownMs);
    this.backOffs.set(subject, accountId, { reason: 'rate_limit', untilMs: nowMs + backOffMs, strikes: 1 });
    if (this.backOffs.isShared(subject, accountId, nowMs)) this.coolDownCredential(target, 'rate_limit', error);
    else if (cooldown !== undefined) this.releaseProbe(cooldown);
  }

  /** Content, a header or the size of the request may have been rejected: a check call decides. */
  private async checkCredential(
    target: CalledTarget,
    reason: CredentialError,
    error: AppError,
    cooldown: Cooldown | undefined,
  ): Promise<void> {
    const checkError = await this.checks.outcome(target);
    const failure = checkError && classifyFailure(checkError);
    if (checkError !== undefined && isOfCredential(failure))
      return this.coolDownCredential(target, failure, checkError);
    if (cooldown === undefined) return;
    if (failure === 'failure') this.releaseProbe(cooldown);
    else if (isUnknown(checkError)) this.coolDownCredential(target, reason, error);
    else this.heal(target.channel, cooldown, false);
  }

  private async checkChannel(target: CalledTarget, outcomes: ChannelOutcomes): Promise<void> {
    const { channel } = target;
    const checkError = await this.checks.outcome(target);
    const failure = checkError && classifyFailure(checkError);
    if (checkError === undefined || failure === undefined) return;
    if (isOfCredential(failure)) return this.coolDownCredential(target, failure, checkError);
    if (this.outcomesOf(channel) !== outcomes || this.cooldownOf(channel) !== undefined) return;
    // Only the model this account called fails.
    if (outcomes.isServingOthers(target.accountId, this.clock.now())) return;
    this.coolDown(channel, 1, checkError, 'calls of one account and a check call failed');
  }

  private backOff({ channel, accountId }: CalledTarget, outcomes: ChannelOutcomes, error: AppError): void {
    const subject = subjectOf(channel);
    const nowMs = this.clock.now();
    const strikes = (this.backOffs.last(subject, accountId)?.strikes ?? 0) + 1;
    const durationMs = this.channelDurationMsFor(strikes, error);
    this.backOffs.set(subject, accountId, { reason: 'failures', untilMs: nowMs + durationMs, strikes });
    const counted = outcomes.count(accountId, nowMs);
    this.logger.log(
      `Channel ${channel.name}: back-off of ${secondsOf(durationMs)} s for account ${accountId}: ${counted.failures} of its last ${counted.outcomes} calls failed (${error.kind}).`,
    );
  }

  private durationMsFor(reason: CredentialError, { details }: AppError): number {
    const { credentialCooldownMs, maxRateLimitMs } = this.limits;
    const requestedMs = (details.retryAfterSeconds ?? 1) * 1000;
    return reason === 'rate_limit' ? Math.min(requestedMs, maxRateLimitMs) : credentialCooldownMs;
  }

  private coolDownCredential({ channel, credential }: CalledTarget, reason: CredentialError, error: AppError): void {
    const durationMs = this.durationMsFor(reason, error);
    const untilMs = this.clock.now() + durationMs;
    const known = this.credentialCooldownOf(channel, credential);
    if (durationMs <= 0) return;
    // Concurrent calls get the same error: the longest cooldown counts and is logged once.
    if (known !== undefined && untilMs < known.untilMs + SAME_MS) return this.cooldowns.extend(known, untilMs);
    const subject = credentialSubjectOf(channel, credential);
    this.cooldowns.begin({ subject, reason, strikes: (known?.strikes ?? 0) + 1, cooldownMs: durationMs });
    this.counter.inc({ channel: channel.name, reason });
    const which = credential === undefined ? 'it' : placeOf(channel, credential);
    this.logger.warn(
      `Channel ${channel.name}: cooldown of ${secondsOf(durationMs)} s for ${which}: ${REASONS[reason]}.`,
    );
  }

  /** `Retry-After` is respected within bounds, since a proxy in front of the upstream may have set it. */
  private channelDurationMsFor(strikes: number, { details }: AppError): number {
    const { pauseMs, maxPauseMs } = this.limits;
    const baseMs = Math.max(pauseMs, (details.retryAfterSeconds ?? 0) * 1000);
    return Math.min(baseMs * 2 ** (strikes - 1), maxPauseMs);
  }

  private coolDown(channel: Channel, strikes: number, error: AppError, why: string): void {
    const durationMs = this.channelDurationMsFor(strikes, error);
    if (durationMs <= 0) return;
    this.cooldowns.begin({ subject: subjectOf(channel), reason: 'failures', strikes, cooldownMs: durationMs });
    this.counter.inc({ channel: channel.name, reason: 'failures' });
    this.logger.warn(`Channel ${channel.name}: cooldown of ${secondsOf(durationMs)} s: ${why} (${error.kind}).`);
  }
}

/** The check call could not be sent, which proves nothing. */
const isUnknown = (checkError: AppError | undefined): boolean =>
  checkError !== undefined &&
  classifyFailure(checkError) === undefined &&
  checkError.details.upstreamStatus === undefined;

const secondsOf = (ms: number): number => Math.ceil(ms / 1000);

/** For administrators, without the credential itself. */
const placeOf = ({ credentials }: Channel, { id }: ChannelCredential): string =>
  `credential ${credentials.findIndex((credential) => credential.id === id) + 1} of ${credentials.length}`;
