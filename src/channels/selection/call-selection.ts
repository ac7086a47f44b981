import type { ProtocolId } from '../../call/index.js';
import type { Clock } from '../../shared/index.js';
import type { Channel, ChannelCredential } from '../channel.js';
import type { ChannelHealth } from '../health/channel-health.js';
import { ObservedAttempt } from '../health/observed-attempt.js';
import { type Rest, stageOf } from '../health/rest.js';
import { credentialSubjectOf } from '../health/subjects.js';
import type { Random } from '../random.js';
import { Assignment } from './assignment.js';
import type { ChannelLoad } from './channel-load.js';
import { Shortage } from './shortage.js';
import { type Affinity, ringingTime } from './weighted-draw.js';

/** Who made an earlier answer. */
export interface Maker {
  readonly channelId: string;
  /** Null: it was not noted, or there is none. */
  readonly credentialId: string | null;
}

/** What a channel is looked for. */
export interface Wanted {
  readonly group: string;
  readonly model: string;
  /** The client's dialect. */
  readonly protocol: ProtocolId;
  readonly affinity: Affinity | undefined;
  /** Which channels may be asked at all; undefined: all that take the dialect. */
  readonly admits?: ((channel: Channel) => boolean) | undefined;
  /** Nobody else knows what the call refers to: of this channel, the account that this credential is of. */
  readonly keeper?: Maker | undefined;
  /** False: this is no call, and what it hears tells nothing of how calls are answered. */
  readonly mayProbe?: boolean;
  /** Asked before its equals: what it has in its cache is what the call begins with. */
  readonly preferred?: Maker | undefined;
}

/** What a selection looks into. */
export interface Surroundings {
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
  readonly due: { readonly channel: Rest | undefined; readonly credential: Rest | undefined };
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
    private readonly wanted: Wanted,
    private readonly surroundings: Surroundings,
  ) {}

  /** How long the slowest of them may take over an answer, in ms; 0 when there is none. */
  get longestTotalMs(): number {
    return this.candidates().reduce((longest, { timeouts }) => Math.max(longest, timeouts.totalMs), 0);
  }

  /**
   * The next one, at once unless it has to be found out whether this call is the one that tries a channel that rested.
   * Whoever gets it releases it.
   * @throws NoChannel
   */
  next(): Assignment | Promise<Assignment> {
    const shortage = new Shortage(this.surroundings.clock.now());
    let first: Candidate | undefined;
    for (const channel of this.candidates()) {
      const candidate = this.asked.has(channel.id) ? undefined : this.considered(channel, shortage);
      if (candidate !== undefined && (first === undefined || this.isBefore(candidate, first))) first = candidate;
    }
    if (first === undefined) throw shortage.errorFor(this.wanted.model);
    const { due } = first;
    return due.channel === undefined && due.credential === undefined ? this.assign(first) : this.probe(first);
  }

  private candidates(): readonly Channel[] {
    const { admits } = this.wanted;
    const channels = this.surroundings.channels();
    return admits === undefined ? channels : channels.filter(admits);
  }

  private considered(channel: Channel, shortage: Shortage): Candidate | undefined {
    const { health, load } = this.surroundings;
    if (load.isFull(channel)) {
      shortage.full();
      return undefined;
    }
    const rest = health.restOf(channel);
    if (rest !== undefined && !this.isDue(rest)) {
      shortage.resting(rest);
      return undefined;
    }
    const chosen = this.credentialOf(channel, shortage);
    if (chosen === undefined) return undefined;
    const due = { channel: rest, credential: chosen.rest };
    return { channel, credential: chosen.credential, due, rings: this.rings(channel) };
  }

  /** One that can be called with; undefined when there is none. */
  private credentialOf(channel: Channel, shortage: Shortage): CredentialChoice | undefined {
    const credentials = this.usableOf(channel);
    let first: (CredentialChoice & { readonly rings: number }) | undefined;
    for (const credential of credentials) {
      if (this.asked.has(credentialSubjectOf(channel, credential))) continue;
      const rest = this.surroundings.health.restOfCredential(channel, credential);
      if (rest !== undefined && !this.isDue(rest)) shortage.resting(rest);
      else {
        const rings = credentials.length === 1 ? 0 : this.ringsOf(credential);
        if (first === undefined || rings < first.rings) first = { credential, rest, rings };
      }
    }
    return first;
  }

  /** Only that of the account that knows what the call refers to, as long as it is there. */
  private usableOf({ credentials, id }: Channel): readonly (ChannelCredential | undefined)[] {
    if (credentials.length === 0) return NAMELESS;
    const { keeper } = this.wanted;
    const kept = keeper?.channelId === id ? credentials.filter((one) => one.id === keeper.credentialId) : [];
    return kept.length > 0 ? kept : credentials;
  }

  private isBefore(one: Candidate, other: Candidate): boolean {
    const [{ channel: a }, { channel: b }] = [one, other];
    if (a.tier !== b.tier) return a.tier < b.tier;
    const { protocol } = this.wanted;
    if (a.protocol !== b.protocol && (a.protocol === protocol || b.protocol === protocol))
      return a.protocol === protocol;
    // Weight 0 comes last, which its clock, that never rings, says as well; two of them are drawn alike.
    if ((a.weight === 0) !== (b.weight === 0)) return b.weight === 0;
    return one.rings < other.rings;
  }

  private rings({ id, weight }: Channel): number {
    const { affinity, preferred } = this.wanted;
    if (affinity === undefined && preferred?.channelId === id) return -1;
    return ringingTime(weight === 0 ? 1 : weight, id, affinity, this.surroundings.random);
  }

  private ringsOf(credential: ChannelCredential | undefined): number {
    const { affinity, preferred } = this.wanted;
    if (credential === undefined || (affinity === undefined && preferred?.credentialId === credential.id)) return -1;
    return ringingTime(1, credential.id, affinity, this.surroundings.random);
  }

  private isDue(rest: Rest): boolean {
    return this.wanted.mayProbe !== false && stageOf(rest, this.surroundings.clock.now()) === 'due';
  }

  /** Claims what is to be tried. Where another call does, or has taken the last place meanwhile, this one asks somebody else. */
  private async probe(candidate: Candidate): Promise<Assignment> {
    const { health, load } = this.surroundings;
    const { channel, due } = candidate;
    const claimed: Rest[] = [];
    for (const rest of [due.channel, due.credential]) {
      if (rest === undefined) continue;
      if (!(await health.claim(rest))) return this.nextWithout(claimed);
      claimed.push(rest);
    }
    return load.isFull(channel) ? this.nextWithout(claimed) : this.assign(candidate);
  }

  private nextWithout(claimed: readonly Rest[]): Assignment | Promise<Assignment> {
    for (const rest of claimed) this.surroundings.health.free(rest);
    return this.next();
  }

  private assign({ channel, credential, due }: Candidate): Assignment {
    const { health, load } = this.surroundings;
    const isProbe = due.channel !== undefined || due.credential !== undefined;
    this.asked.add(channel.id);
    load.enter(channel);
    return new Assignment(channel, credential, isProbe, {
      observed: new ObservedAttempt(health, channel, credential, due),
      onCredentialFault: () => {
        this.asked.delete(channel.id);
        this.asked.add(credentialSubjectOf(channel, credential));
      },
      onReleased: () => load.leave(channel),
    });
  }
}

interface CredentialChoice {
  readonly credential: ChannelCredential | undefined;
  readonly rest: Rest | undefined;
}

/** Of a channel that is called without any. */
const NAMELESS = [undefined] as const;
