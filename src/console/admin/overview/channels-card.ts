import { Injectable } from '@nestjs/common';
import { ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { nanos, type Nanos } from '../../../platform/shared/index.js';
import { type Query, RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import { protocolNames } from '../../web/index.js';
import { percent } from '../../../platform/format/index.js';
import { ChannelFiguresReader, type ChannelRows } from '../channels/channel-figures.js';
import { type ChannelState, ChannelStates } from '../channels/channel-state.js';
import type { ChannelCooldown } from './notices.js';

/** Upstream cost of a channel’s attempts. */
interface ChannelCost {
  readonly channel: string;
  /** Sum of the known costs; null if none is known. */
  readonly cost: string | null;
  readonly unknown: number;
}

/** Includes canceled attempts: upstreams bill for them. */
const COSTS = `
  SELECT channel, sum(upstream_cost) AS cost, (count(*) FILTER (WHERE upstream_cost IS NULL))::integer AS unknown
    FROM call_attempts WHERE created_at >= now() - interval '24 hours' GROUP BY channel`;

interface ChannelWithState {
  readonly channel: ChannelRecord;
  readonly state: ChannelState;
}

/** The overview’s channel table: state and the last 24 hours, independent of the selected range. */
@Injectable()
export class ChannelsCard {
  constructor(
    private readonly service: ChannelChanges,
    private readonly states: ChannelStates,
    private readonly figures: ChannelFiguresReader,
    private readonly reads: TimeLimitedReads,
  ) {}

  async read() {
    const [records, attempts, costs] = await Promise.all([
      this.service.all(),
      this.figures.lastDay(),
      this.costs().catch(withoutWhatTakesTooLong),
    ]);
    const found = records.map((channel) => ({ channel, state: this.states.of(channel) }));
    const incomplete = [...(costs?.values() ?? [])].some((one) => one.unknown > 0 && sumOf([one]) !== null);
    return {
      rows: found.map((one) => this.rowOf(one, attempts, costs)),
      note: noteOf(attempts === undefined || costs === undefined, incomplete),
      rests: found.flatMap(restOf),
    };
  }

  private rowOf(
    { channel, state }: ChannelWithState,
    attempts: ReadonlyMap<string, ChannelRows> | undefined,
    costs: ReadonlyMap<string, ChannelCost> | undefined,
  ) {
    // Attempts are stored under the channel name at that time.
    const names = [channel.name, ...channel.formerNames];
    const figures = this.figures.figuresOf(names.flatMap((name) => attempts?.get(name) ?? []));
    return {
      name: channel.name,
      href: `/admin/channels/${channel.id}`,
      protocol: protocolNames(channel.protocol).fullName,
      state,
      success: figures === undefined ? '–' : percent(figures.success, 1),
      strip: figures?.strip,
      firstTokenMs: figures?.firstTokenMs,
      cost: sumOf(names.flatMap((name) => costs?.get(name) ?? [])),
    };
  }

  private costs(): Promise<ReadonlyMap<string, ChannelCost>> {
    return this.reads.read(
      async (query: Query) => new Map((await query<ChannelCost>(COSTS)).map((row) => [row.channel, row])),
    );
  }
}

function withoutWhatTakesTooLong(error: unknown): undefined {
  if (error instanceof RangeTooLarge) return undefined;
  throw error;
}

/**
 * Null if no cost is known. Failed attempts are known to cost nothing, so a sum of $0 says nothing about attempts of
 * unknown cost.
 */
function sumOf(costs: readonly ChannelCost[]): Nanos | null {
  const known = costs.flatMap(({ cost }) => cost ?? []);
  const sum = known.reduce((all, cost) => all + BigInt(cost), 0n);
  const isUnknown = known.length === 0 || (sum === 0n && costs.some(({ unknown }) => unknown > 0));
  return isUnknown ? null : nanos(sum);
}

function noteOf(tooSlow: boolean, incomplete: boolean): string {
  if (tooSlow) return 'Statistics are unavailable: there are too many attempts to aggregate in time.';
  return incomplete ? 'Cost includes only attempts with a known cost.' : '';
}

/** A channel that is not, or only partly, available. Disabled channels are not reported. */
const restOf = ({ channel: { id, name }, state: { tone, label, why } }: ChannelWithState): ChannelCooldown[] =>
  tone === 'warn' || tone === 'bad' ? [{ id, name, tone, label, why: why ?? '' }] : [];
