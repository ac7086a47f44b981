import { Injectable } from '@nestjs/common';
import type { Channel } from '../channels/index.js';
import { type CountedTokens, type CountRequest, TokenCounter } from '../tokens/index.js';

/** More than any installation has; nothing is lost by learning anew. */
const MAX_KNOWN = 10_000;

/** What is done about upstreams that do not report what an answer used. */
@Injectable()
export class UsageCounting {
  /** Whether the last finished stream of a channel's model ended with a report. */
  private readonly reported = new Map<string, boolean>();

  constructor(private readonly counter: TokenCounter) {}

  /** True when a stream need not be kept for a count; not before one has finished with a report. */
  isReporting(channel: Channel, upstreamModel: string): boolean {
    return this.reported.get(keyOf(channel, upstreamModel)) ?? false;
  }

  learn(channel: Channel, upstreamModel: string, reported: boolean): void {
    if (this.reported.size >= MAX_KNOWN) this.reported.clear();
    this.reported.set(keyOf(channel, upstreamModel), reported);
  }

  /** Undefined when it cannot be counted in time. */
  count(request: CountRequest): Promise<CountedTokens | undefined> {
    return this.counter.count(request);
  }
}

const keyOf = ({ id }: Channel, upstreamModel: string): string => `${id} ${upstreamModel}`;
