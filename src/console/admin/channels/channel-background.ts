import { Injectable } from '@nestjs/common';
import { recordedChanges } from '../../../platform/audit/index.js';
import { ChannelChanges, type ChannelRecord } from '../../../catalog/channels/index.js';
import { RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import { percent } from '../../../platform/format/index.js';

/** What the page of a stored channel shows besides its form. */
interface Background {
  /** `60% of tier 1`; undefined if the channel receives no calls. */
  readonly share: string | undefined;
  /** The last recorded change, if any. */
  readonly lastChange: { readonly at: Date; readonly who: string } | undefined;
}

/** The last change is optional, so the timeout is short. */
const READ_LIMIT_MS = 1000;

@Injectable()
export class ChannelBackground {
  constructor(
    private readonly desk: ChannelChanges,
    private readonly reads: TimeLimitedReads,
  ) {}

  async of(channel: ChannelRecord): Promise<Background> {
    const [all, lastChange] = await Promise.all([this.desk.all(), this.lastChangeOf(channel)]);
    return { share: shareOf(channel, all), lastChange };
  }

  private async lastChangeOf({ id }: ChannelRecord): Promise<Background['lastChange']> {
    try {
      const filter = { kind: 'channel', object: id } as const;
      const { changes } = await this.reads.read((query) => recordedChanges(query, filter, {}, 1), READ_LIMIT_MS);
      return changes[0] && { at: changes[0].at, who: changes[0].actor.name };
    } catch (error) {
      if (error instanceof RangeTooLarge) return undefined;
      throw error;
    }
  }
}

function shareOf({ enabled, tier, weight }: ChannelRecord, all: readonly ChannelRecord[]): string | undefined {
  const others = all.filter((one) => one.enabled && one.tier === tier);
  const sum = others.reduce((weights, other) => weights + other.weight, 0);
  return !enabled || sum === 0 ? undefined : `${percent(weight, sum)} of tier ${tier}`;
}
