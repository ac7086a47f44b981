import { AttemptLog } from '../../relay/billing/index.js';
import type { Call } from '../../protocols/contract/index.js';
import type { Offer } from './seed.catalog.js';

/** Milliseconds from the attempt's start; null: never came. */
export interface AttemptTimes {
  /** From the call's start. */
  readonly begunMs: number;
  readonly connectMs: number | null;
  readonly headersMs: number | null;
  readonly firstByteMs: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
}

/** The record of a request that was never sent: everything as it would be, but the times are given. */
export class PlayedAttempt extends AttemptLog {
  constructor(
    call: Call,
    ordinal: number,
    { model, channel: { name, protocol, costs }, upstreamModel }: Offer,
    private readonly times: AttemptTimes,
  ) {
    const target = { channel: name, protocol, upstreamModel, credential: 1, cost: costs.get(model.name) };
    super(call, ordinal, target, times.begunMs);
  }

  override row(): ReturnType<AttemptLog['row']> {
    const { connectMs, headersMs, firstByteMs, firstTokenMs, durationMs } = this.times;
    return {
      ...super.row(),
      connect_ms: connectMs,
      headers_ms: headersMs,
      first_byte_ms: firstByteMs,
      first_token_ms: firstTokenMs,
      duration_ms: durationMs,
    };
  }
}
