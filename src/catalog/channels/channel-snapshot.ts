import type { Channel } from './channel.js';

const NONE: readonly Channel[] = [];

/** All channels of one moment, arranged for looking up who serves a model in a group. Immutable. */
export class ChannelSnapshot {
  private readonly byGroup = new Map<string, Map<string, Channel[]>>();

  constructor(
    /** Also those that cannot be called. */
    readonly all: readonly Channel[],
  ) {
    for (const channel of all) if (channel.unavailableReason === undefined) this.arrange(channel);
  }

  /** Usable channels, in no order. */
  serving(group: string, model: string): readonly Channel[] {
    return this.byGroup.get(group)?.get(model) ?? NONE;
  }

  private arrange(channel: Channel): void {
    for (const group of channel.groups) {
      const byModel = this.byGroup.get(group) ?? new Map<string, Channel[]>();
      this.byGroup.set(group, byModel);
      for (const model of channel.models.keys()) byModel.set(model, [...(byModel.get(model) ?? []), channel]);
    }
  }
}
