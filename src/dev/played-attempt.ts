import { AttemptLog } from '../billing/index.js';
import type { Call } from '../call/index.js';
import type { Offer } from './seed.catalog.js';

/** Milliseconds from the attempt's start; null: never came. */
export interface AttemptTimes {
  readonly headersMs: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The record of a request that was never sent: everything as it would be, but the times are given. */
export class PlayedAttempt extends AttemptLog {
  constructor(
    call: Call,
    ordinal: number,
    { channel, upstreamModel }: Offer,
    private readonly times: AttemptTimes,
  ) {
    super(call, ordinal, channel.name, channel.protocol, upstreamModel);
  }

  override row(): ReturnType<AttemptLog['row']> {
    const { headersMs, firstTokenMs, durationMs } = this.times;
    return { ...super.row(), headers_ms: headersMs, first_token_ms: firstTokenMs, duration_ms: durationMs };
  }
}
