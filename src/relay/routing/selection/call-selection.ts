import { type Channel, type ChannelCredential, upstreamModel } from '../../../catalog/channels/index.js';
import type { AppError, Clock } from '../../../platform/shared/index.js';
import type { ProtocolId } from '../../../protocols/contract/index.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { credentialSubjectOf } from '../health/check-calls.js';
import { classifyFailure, type Cooldown, isOfCredential } from '../health/cooldown.js';
import { ObservedAttempt } from '../health/observed-attempt.js';
import { type AvailableChannel, type ChannelLoad, type ChannelStatus, channelStatus } from './channel-status.js';
import { type CallOutlook, drawnBy, type NoChannel, precedence, prospectsOf, Shortage } from './outlook.js';
import { type Affinity, type Random, ringingTime } from './weighted-draw.js';

/** Who made an earlier answer. */
export interface ResponseOrigin {
  readonly channelId: string;
  /** Null: it was not noted, or there is none. */
  readonly credentialId: string | null;
}

/** What a channel is looked for. */
export interface SelectionQuery {
  readonly group: string;
  readonly model: string;
  /** The client's dialect. */
  readonly protocol: ProtocolId;
  readonly affinity: Affinity | undefined;
  /** The account of the call, which skips what it backs off from. */
  readonly accountId: string;
  /** Which channels may be asked at all; undefined: all that take the dialect. */
  readonly admits?: ((channel: Channel) => boolean) | undefined;
  /** Nobody else knows what the call refers to: of this channel, the account that this credential is of. */
  readonly keeper?: ResponseOrigin | undefined;
  /** False: this is no call, and what it hears tells nothing of how calls are answered. */
  readonly mayProbe?: boolean;
  /** Asked before its equals: what it has in its cache is what the call begins with. */
  readonly preferred?: ResponseOrigin | undefined;
}

/** What a selection looks into. */
interface SelectionContext {
  /** The channels as they are now, in no order. */
  readonly channels: () => readonly Channel[];
  readonly health: ChannelHealth;
  readonly load: ChannelLoad;
  readonly random: Random;
  readonly clock: Clock;
}

interface Candidate {
  readonly channel: Channel;
  readonly credential: ChannelCredential | undefined;
  /** What rests and whose time is up: it is to be tried. */
  readonly due: { readonly channel: Cooldown | undefined; readonly credential: Cooldown | undefined };
  /** By the weights, the first is asked. */
  readonly rings: number;
}

/**
 * Whom one call asks, one after the other: each is looked for when the one before has failed, because the health of all
 * changes meanwhile. By tier, the client's own dialect first within a tier, since nothing can be lost there, then by
 * chance according to the weights, among those that are well and have room. None is asked twice, but for a channel with
 * another credential when only the credential was at fault.
 */
export class CallSelection {
  private readonly asked = new Set<string>();

  constructor(
    private readonly wanted: SelectionQuery,
    private readonly surroundings: SelectionContext,
  ) {}

  /** How long the slowest of them may take over an answer, in ms; 0 when there is none. */
  get longestTotalMs(): number {
    return this.candidates().reduce((longest, { timeouts }) => Math.max(longest, timeouts.totalMs), 0);
  }

  /** No channel may be asked, whatever its health. */
  get isEmpty(): boolean {
    return this.candidates().length === 0;
  }

  /**
   * The next one, at once unless it has to be found out whether this call is the one that tries a channel that rested.
   * Whoever gets it releases it.
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

  /** What `next` would decide between, and that it would throw, without asking anybody. */
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

  /** Only that of the account that knows what the call refers to, as long as it is there. */
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

  /** Claims what is to be tried. Where another call does, or has taken the last place meanwhile, this one asks somebody else. */
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

/** Of a channel that is called without any. */
const NAMELESS = [undefined] as const;

interface Duties {
  readonly observed: ObservedAttempt;
  /** The credential alone was at fault: another one of the same channel may do. */
  readonly onCredentialFault: () => void;
  readonly onReleased: () => void;
}

/** One attempt's channel and credential, until it is released; what came of it is told before that. */
export class Assignment {
  private isTold = false;
  private isReleased = false;

  constructor(
    readonly channel: Channel,
    /** Undefined where the channel is called without any. */
    readonly credential: ChannelCredential | undefined,
    /** Content is waited for: it tells that something that rested answers again. */
    readonly isProbe: boolean,
    private readonly duties: Duties,
  ) {}

  /** Content of an answer has come. */
  answered(): void {
    this.duties.observed.answered();
  }

  /** The answer is complete. */
  succeeded(): void {
    if (this.isTold) return;
    this.isTold = true;
    this.duties.observed.succeeded();
  }

  /** Also when content had come before. What is not the upstream's fault says nothing of it. */
  failed(error: AppError): void {
    if (this.isTold) return;
    this.isTold = true;
    if (isOfCredential(classifyFailure(error))) this.duties.onCredentialFault();
    this.duties.observed.failed(error);
  }

  /** Gives the channel back. Without a word before, it was not asked, or nobody waited for its answer. Again: nothing. */
  release(): void {
    if (this.isReleased) return;
    this.isReleased = true;
    if (!this.isTold) this.duties.observed.left();
    this.isTold = true;
    this.duties.onReleased();
  }
}
