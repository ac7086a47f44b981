import { Injectable } from '@nestjs/common';
import {
  type Channel,
  type ChannelCredential,
  ChannelDirectory,
  takesCalls,
  upstreamModel,
} from '../../../catalog/channels/index.js';
import { type AppError, Clock } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { UpstreamOrigin } from '../../stored-responses/index.js';
import { type CalledTarget, ChannelHealth } from '../health/channel-health.js';
import type { ChannelOutcomes } from '../health/channel-outcomes.js';
import { classifyFailure, type Cooldown, credentialSubjectOf, isOfCredential } from '../health/cooldown.js';
import {
  type Affinity,
  type AvailableChannel,
  type CallOutlook,
  ChannelLoad,
  type ChannelStatus,
  channelStatus,
  drawTime,
  drawWeight,
  type Excluded,
  exclusionOf,
  type NoChannel,
  precedence,
  prospectsOf,
  Random,
  Shortage,
} from './channel-status.js';

/** Cooldowns that an attempt probes. */
interface Probed {
  readonly channel: Cooldown | undefined;
  readonly credential: Cooldown | undefined;
}

/**
 * Reports an attempt to channel health: once whether it succeeded, failed or was abandoned, and before that possibly
 * that its response has started.
 */
class ObservedAttempt {
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
    if (channel !== undefined) this.health.releaseProbe(channel);
    if (credential !== undefined) this.health.releaseProbe(credential);
  }

  private channelFailed(error: AppError): void {
    const { channel, credential } = this.probed;
    // Also after the response has started: others would get the same truncated response.
    if (channel === undefined) this.health.countFailure(this.target, this.outcomes, error);
    else void this.health.probeFailed(this.target, channel, error, this.healed);
    if (credential !== undefined && !this.healed) this.health.releaseProbe(credential);
  }
}

/** The call that a channel is selected for. */
export interface SelectionQuery {
  readonly group: string;
  readonly model: string;
  /** Protocol of the client. */
  readonly protocol: ProtocolId;
  readonly affinity: Affinity | undefined;
  /** Account of the call, for its back-offs. */
  readonly accountId: string;
  /** Restricts the channels; undefined: all that accept the protocol. */
  readonly admits?: ((channel: Channel) => boolean) | undefined;
  /** The only channel and upstream account that has the referenced state. */
  readonly pinned?: UpstreamOrigin | undefined;
  /** False for requests other than calls, whose outcome says little about health. */
  readonly mayProbe?: boolean;
  /** Preferred among equals: its prompt cache has the beginning of the call. */
  readonly preferred?: UpstreamOrigin | undefined;
}

/** Inputs of a selection. */
interface SelectionContext {
  /** The current channels, unordered. */
  readonly channels: () => readonly Channel[];
  readonly health: ChannelHealth;
  readonly load: ChannelLoad;
  readonly random: Random;
  readonly clock: Clock;
}

interface Candidate {
  readonly channel: Channel;
  readonly credential: ChannelCredential | undefined;
  /** Expired cooldowns to be probed. */
  readonly due: Probed;
  /** By weight: the lowest value is first. */
  readonly drawTime: number;
}

/**
 * Selects the channels of one call one after the other, since health changes meanwhile. Order: tier, then the client's
 * own protocol (no translation), then weighted random among healthy channels with capacity. Each is selected once,
 * except with another credential after a credential error.
 */
export class CallSelection {
  private readonly tried = new Set<string>();

  constructor(
    private readonly query: SelectionQuery,
    private readonly context: SelectionContext,
  ) {}

  /** The longest response time limit of all candidates, in ms; 0 without candidates. */
  get longestTotalMs(): number {
    return this.candidates().reduce((longest, { timeouts }) => Math.max(longest, timeouts.totalMs), 0);
  }

  /** No channel is eligible, whatever its health. */
  get isEmpty(): boolean {
    return this.candidates().length === 0;
  }

  /**
   * The next channel; asynchronous only if a probe must be claimed. The caller releases it.
   * @throws NoChannel
   */
  next(): Assignment | Promise<Assignment> {
    const statuses = this.statuses();
    let first: Candidate | undefined;
    for (const status of statuses) {
      if (!status.isAvailable) continue;
      const candidate = this.drawn(status);
      if (first === undefined || this.isBefore(candidate, first)) first = candidate;
    }
    if (first === undefined) throw this.shortageOf(statuses);
    const { due } = first;
    return due.channel === undefined && due.credential === undefined ? this.assign(first) : this.probe(first);
  }

  /** The candidates of `next`, or the error it would throw, without side effects. */
  outlook(): CallOutlook {
    const statuses = this.statuses();
    const prospects = prospectsOf(statuses, this.query.protocol);
    return {
      prospects,
      unavailable: statuses.filter((status) => !status.isAvailable),
      shortage: prospects.length === 0 ? this.shortageOf(statuses) : undefined,
    };
  }

  private candidates(): readonly Channel[] {
    const { admits } = this.query;
    const channels = this.context.channels();
    return admits === undefined ? channels : channels.filter(admits);
  }

  private statuses(): readonly ChannelStatus[] {
    const { health, load, clock } = this.context;
    const { accountId, mayProbe = true } = this.query;
    const common = { health, load, clock, accountId, mayProbe, tried: this.tried };
    return this.candidates()
      .filter(({ id }) => !this.tried.has(id))
      .map((channel) => channelStatus(channel, { ...common, credentials: this.usableOf(channel) }));
  }

  private shortageOf(statuses: readonly ChannelStatus[]): NoChannel {
    const shortage = new Shortage(this.context.clock.now());
    for (const status of statuses) if (!status.isAvailable) shortage.add(status);
    return shortage.errorFor(this.query.model);
  }

  private drawn({ channel, cooldown, credentials }: AvailableChannel): Candidate {
    let chosen = credentials[0];
    if (credentials.length > 1) {
      const drawn = credentials.map((choice) => ({ choice, rings: this.credentialDrawTime(choice.credential) }));
      chosen = drawn.reduce((first, one) => (one.rings < first.rings ? one : first)).choice;
    }
    const due = { channel: cooldown, credential: chosen?.cooldown };
    return { channel, credential: chosen?.credential, due, drawTime: this.channelDrawTime(channel) };
  }

  /** Only the credential of the account that has the referenced state, while it exists. */
  private usableOf({ credentials, id }: Channel): readonly (ChannelCredential | undefined)[] {
    if (credentials.length === 0) return NO_CREDENTIAL;
    const { pinned } = this.query;
    const usable = pinned?.channelId === id ? credentials.filter((one) => one.id === pinned.credentialId) : [];
    return usable.length > 0 ? usable : credentials;
  }

  private isBefore(one: Candidate, other: Candidate): boolean {
    const order = precedence(one.channel, other.channel, this.query.protocol);
    return order === 0 ? one.drawTime < other.drawTime : order < 0;
  }

  private channelDrawTime(channel: Channel): number {
    const { affinity, preferred } = this.query;
    if (affinity === undefined && preferred?.channelId === channel.id) return -1;
    return drawTime(drawWeight(channel), channel.id, affinity, this.context.random);
  }

  private credentialDrawTime(credential: ChannelCredential | undefined): number {
    const { affinity, preferred } = this.query;
    if (credential === undefined || (affinity === undefined && preferred?.credentialId === credential.id)) return -1;
    return drawTime(1, credential.id, affinity, this.context.random);
  }

  /** Claims the probes. If another call has them or took the last slot, another channel is selected. */
  private async probe(candidate: Candidate): Promise<Assignment> {
    const { health, load } = this.context;
    const { channel, due } = candidate;
    const claimed: Cooldown[] = [];
    for (const cooldown of [due.channel, due.credential]) {
      if (cooldown === undefined) continue;
      if (!(await health.claimProbe(cooldown))) return this.nextWithout(claimed);
      claimed.push(cooldown);
    }
    return load.isFull(channel) ? this.nextWithout(claimed) : this.assign(candidate);
  }

  private nextWithout(claimed: readonly Cooldown[]): Assignment | Promise<Assignment> {
    for (const cooldown of claimed) this.context.health.releaseProbe(cooldown);
    return this.next();
  }

  private assign({ channel, credential, due }: Candidate): Assignment {
    const { health, load } = this.context;
    const { model, accountId } = this.query;
    const target = { channel, credential, accountId, model: upstreamModel(channel, model) };
    const isProbe = due.channel !== undefined || due.credential !== undefined;
    this.tried.add(channel.id);
    load.enter(channel);
    return new Assignment(channel, credential, isProbe, {
      observed: new ObservedAttempt(health, target, due),
      onCredentialError: () => {
        this.tried.delete(channel.id);
        this.tried.add(credentialSubjectOf(channel, credential));
      },
      onReleased: () => load.leave(channel),
    });
  }
}

/** For channels without credentials. */
const NO_CREDENTIAL = [undefined] as const;

interface AssignmentCallbacks {
  readonly observed: ObservedAttempt;
  /** After a credential error: another credential of the same channel may work. */
  readonly onCredentialError: () => void;
  readonly onReleased: () => void;
}

/** Channel and credential of one attempt, until released. Report the outcome before that. */
export class Assignment {
  private isReported = false;
  private isReleased = false;

  constructor(
    readonly channel: Channel,
    /** Undefined for channels without credentials. */
    readonly credential: ChannelCredential | undefined,
    /** Content is awaited: it ends a cooldown. */
    readonly isProbe: boolean,
    private readonly callbacks: AssignmentCallbacks,
  ) {}

  /** Content has arrived. */
  started(): void {
    this.callbacks.observed.started();
  }

  /** The response is complete. */
  succeeded(): void {
    if (this.isReported) return;
    this.isReported = true;
    this.callbacks.observed.succeeded();
  }

  /** Also after content. Errors that are not the upstream's are ignored. */
  failed(error: AppError): void {
    if (this.isReported) return;
    this.isReported = true;
    if (isOfCredential(classifyFailure(error))) this.callbacks.onCredentialError();
    this.callbacks.observed.failed(error);
  }

  /** Releases the channel. Without a report before, it counts as abandoned. Idempotent. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    if (!this.isReported) this.callbacks.observed.abandoned();
    this.isReported = true;
    this.callbacks.onReleased();
  }
}

/** All channels of a model from the view of a call. */
export interface ModelOutlook extends CallOutlook {
  /** Channels that serve the model but not such calls, by name. */
  readonly excluded: readonly Excluded[];
}

/** Selects channels for calls. */
@Injectable()
export class ChannelSelection {
  constructor(
    private readonly directory: ChannelDirectory,
    private readonly health: ChannelHealth,
    private readonly load: ChannelLoad,
    private readonly random: Random,
    private readonly clock: Clock,
  ) {}

  for(query: SelectionQuery): CallSelection {
    const { directory, health, load, random, clock } = this;
    const { group, model, protocol, admits } = query;
    return new CallSelection(
      { ...query, admits: (channel) => takesCalls(channel, protocol) && admits?.(channel) !== false },
      { channels: () => directory.serving(group, model), health, load, random, clock },
    );
  }

  /** Whether the channel exists, even disabled. */
  has(channelId: string): boolean {
    return [...this.directory.all(), ...this.directory.disabled].some(({ id }) => id === channelId);
  }

  /** The selection for a call now, and why other channels are skipped. No side effects. */
  outlook(query: SelectionQuery): ModelOutlook {
    const { group, model, protocol } = query;
    const outlook = this.for(query).outlook();
    const { prospects, unavailable } = outlook;
    const considered = new Set([...prospects, ...unavailable].map(({ channel }) => channel.id));
    const excluded = [...this.directory.all(), ...this.directory.disabled]
      .filter(({ id, models }) => models.has(model) && !considered.has(id))
      .map((channel) => ({ channel, exclusion: exclusionOf(channel, group, protocol) }))
      .toSorted(({ channel: one }, { channel: other }) => one.name.localeCompare(other.name));
    return { ...outlook, excluded };
  }
}
