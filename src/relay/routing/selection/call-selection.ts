import { type Channel, type ChannelCredential, upstreamModel } from '../../../catalog/channels/index.js';
import type { AppError, Clock } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { credentialSubjectOf } from '../health/check-calls.js';
import { classifyFailure, type Cooldown, isOfCredential } from '../health/cooldown.js';
import { ObservedAttempt } from '../health/observed-attempt.js';
import {
  type Affinity,
  type AvailableChannel,
  type CallOutlook,
  type ChannelLoad,
  type ChannelStatus,
  channelStatus,
  drawnBy,
  type NoChannel,
  precedence,
  prospectsOf,
  type Random,
  ringingTime,
  Shortage,
} from './channel-status.js';

/** Where an earlier response came from. */
export interface ResponseOrigin {
  readonly channelId: string;
  /** Null: unknown, or none. */
  readonly credentialId: string | null;
}

/** What a channel is selected for. */
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
  readonly keeper?: ResponseOrigin | undefined;
  /** False for requests other than calls, whose outcome says little about health. */
  readonly mayProbe?: boolean;
  /** Preferred among equals: its prompt cache has the beginning of the call. */
  readonly preferred?: ResponseOrigin | undefined;
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
  readonly due: { readonly channel: Cooldown | undefined; readonly credential: Cooldown | undefined };
  /** By weight: the lowest value is first. */
  readonly rings: number;
}

/**
 * Selects the channels of one call one after the other, since health changes meanwhile. Order: tier, then the client's
 * own protocol (no translation), then weighted random among healthy channels with capacity. Each is selected once,
 * except with another credential after a credential error.
 */
export class CallSelection {
  private readonly asked = new Set<string>();

  constructor(
    private readonly wanted: SelectionQuery,
    private readonly surroundings: SelectionContext,
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
    const standings = this.standings();
    let first: Candidate | undefined;
    for (const standing of standings) {
      if (!standing.isAskable) continue;
      const candidate = this.drawn(standing);
      if (first === undefined || this.isBefore(candidate, first)) first = candidate;
    }
    if (first === undefined) throw this.shortageOf(standings);
    const { due } = first;
    return due.channel === undefined && due.credential === undefined ? this.assign(first) : this.probe(first);
  }

  /** What `next` would choose from, or the error it would throw, without side effects. */
  outlook(): CallOutlook {
    const standings = this.standings();
    const prospects = prospectsOf(standings, this.wanted.protocol);
    return {
      prospects,
      hindered: standings.filter((standing) => !standing.isAskable),
      shortage: prospects.length === 0 ? this.shortageOf(standings) : undefined,
    };
  }

  private candidates(): readonly Channel[] {
    const { admits } = this.wanted;
    const channels = this.surroundings.channels();
    return admits === undefined ? channels : channels.filter(admits);
  }

  private standings(): readonly ChannelStatus[] {
    const { health, load, clock } = this.surroundings;
    const { accountId, mayProbe = true } = this.wanted;
    const common = { health, load, clock, accountId, mayProbe, asked: this.asked };
    return this.candidates()
      .filter(({ id }) => !this.asked.has(id))
      .map((channel) => channelStatus(channel, { ...common, credentials: this.usableOf(channel) }));
  }

  private shortageOf(standings: readonly ChannelStatus[]): NoChannel {
    const shortage = new Shortage(this.surroundings.clock.now());
    for (const standing of standings) if (!standing.isAskable) shortage.add(standing);
    return shortage.errorFor(this.wanted.model);
  }

  private drawn({ channel, rest, credentials }: AvailableChannel): Candidate {
    let chosen = credentials[0];
    if (credentials.length > 1) {
      const drawn = credentials.map((choice) => ({ choice, rings: this.ringsOf(choice.credential) }));
      chosen = drawn.reduce((first, one) => (one.rings < first.rings ? one : first)).choice;
    }
    const due = { channel: rest, credential: chosen?.rest };
    return { channel, credential: chosen?.credential, due, rings: this.rings(channel) };
  }

  /** Only the credential of the account that has the referenced state, while it exists. */
  private usableOf({ credentials, id }: Channel): readonly (ChannelCredential | undefined)[] {
    if (credentials.length === 0) return NAMELESS;
    const { keeper } = this.wanted;
    const kept = keeper?.channelId === id ? credentials.filter((one) => one.id === keeper.credentialId) : [];
    return kept.length > 0 ? kept : credentials;
  }

  private isBefore(one: Candidate, other: Candidate): boolean {
    const order = precedence(one.channel, other.channel, this.wanted.protocol);
    return order === 0 ? one.rings < other.rings : order < 0;
  }

  private rings(channel: Channel): number {
    const { affinity, preferred } = this.wanted;
    if (affinity === undefined && preferred?.channelId === channel.id) return -1;
    return ringingTime(drawnBy(channel), channel.id, affinity, this.surroundings.random);
  }

  private ringsOf(credential: ChannelCredential | undefined): number {
    const { affinity, preferred } = this.wanted;
    if (credential === undefined || (affinity === undefined && preferred?.credentialId === credential.id)) return -1;
    return ringingTime(1, credential.id, affinity, this.surroundings.random);
  }

  /** Claims the probes. If another call has them or took the last slot, another channel is selected. */
  private async probe(candidate: Candidate): Promise<Assignment> {
    const { health, load } = this.surroundings;
    const { channel, due } = candidate;
    const claimed: Cooldown[] = [];
    for (const rest of [due.channel, due.credential]) {
      if (rest === undefined) continue;
      if (!(await health.claim(rest))) return this.nextWithout(claimed);
      claimed.push(rest);
    }
    return load.isFull(channel) ? this.nextWithout(claimed) : this.assign(candidate);
  }

  private nextWithout(claimed: readonly Cooldown[]): Assignment | Promise<Assignment> {
    for (const rest of claimed) this.surroundings.health.free(rest);
    return this.next();
  }

  private assign({ channel, credential, due }: Candidate): Assignment {
    const { health, load } = this.surroundings;
    const { model, accountId } = this.wanted;
    const target = { channel, credential, accountId, model: upstreamModel(channel, model) };
    const isProbe = due.channel !== undefined || due.credential !== undefined;
    this.asked.add(channel.id);
    load.enter(channel);
    return new Assignment(channel, credential, isProbe, {
      observed: new ObservedAttempt(health, target, due),
      onCredentialFault: () => {
        this.asked.delete(channel.id);
        this.asked.add(credentialSubjectOf(channel, credential));
      },
      onReleased: () => load.leave(channel),
    });
  }
}

/** For channels without credentials. */
const NAMELESS = [undefined] as const;

interface Duties {
  readonly observed: ObservedAttempt;
  /** After a credential error: another credential of the same channel may work. */
  readonly onCredentialFault: () => void;
  readonly onReleased: () => void;
}

/** Channel and credential of one attempt, until released. Report the outcome before that. */
export class Assignment {
  private isTold = false;
  private isReleased = false;

  constructor(
    readonly channel: Channel,
    /** Undefined for channels without credentials. */
    readonly credential: ChannelCredential | undefined,
    /** Content is awaited: it ends a cooldown. */
    readonly isProbe: boolean,
    private readonly duties: Duties,
  ) {}

  /** Content has arrived. */
  answered(): void {
    this.duties.observed.answered();
  }

  /** The response is complete. */
  succeeded(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.duties.observed.succeeded();
  }

  /** Also after content. Errors that are not the upstream's are ignored. */
  failed(error: AppError): void {
    if (this.isTold) return;
    this.isTold = true;
    if (isOfCredential(classifyFailure(error))) this.duties.onCredentialFault();
    this.duties.observed.failed(error);
  }

  /** Releases the channel. Without a report before, it counts as abandoned. Idempotent. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    if (!this.isTold) this.duties.observed.left();
    this.isTold = true;
    this.duties.onReleased();
  }
}
