import type { EndedCall, EndedUsage, WaitRecords } from '../../protocols/contract/index.js';
import type { AppError } from '../../platform/shared/index.js';
import type { CallRow } from './call-row.js';

/** What a trace is told of a call, from its row. @param settledMs as of an `EndedCall` */
export const endedCall = (row: CallRow, error: AppError | undefined, settledMs: number | undefined): EndedCall => ({
  requestId: row.id,
  dialect: row.protocol,
  model: row.snapshot === null ? undefined : row.model,
  group: row.group_name,
  stream: row.stream,
  status: row.status,
  error: error?.kind ?? (row.error_reason || undefined),
  firstTokenMs: row.first_token_ms ?? undefined,
  usage: usageOf(row),
  attempts: row.tries.map((attempt) => ({
    ordinal: attempt.ordinal,
    channel: attempt.channel,
    dialect: attempt.protocol,
    model: attempt.upstream_model,
    httpStatus: attempt.upstream_status ?? undefined,
    outcome: attempt.outcome,
    firstTokenMs: attempt.first_token_ms ?? undefined,
    durationMs: attempt.duration_ms,
  })),
  settledMs,
  holdMs: row.hold_ms ?? undefined,
  waits: row.waits === null ? {} : (JSON.parse(row.waits) as WaitRecords),
});

function usageOf(row: CallRow): EndedUsage | undefined {
  const { prompt_tokens: input, completion_tokens: output } = row;
  if (input === null || output === null) return undefined;
  return {
    input,
    output,
    cacheRead: row.cached_tokens ?? 0,
    cacheWrite: row.cache_write_tokens ?? 0,
    reasoning: row.reasoning_tokens ?? 0,
  };
}
