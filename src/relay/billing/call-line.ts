import type { CallRow } from './call-row.js';

/** One line of the log for each finished call: never its body, its headers or its key. */
export function callLine(row: CallRow, collected: bigint | undefined, traceId?: string): object {
  return {
    request_id: row.id,
    ...(traceId !== undefined && { trace_id: traceId }),
    key_id: row.key_id,
    model: row.model,
    group: row.group_name,
    channel: row.channel,
    status: row.status,
    ...(row.error_reason !== '' && { reason: row.error_reason }),
    first_token_ms: row.first_token_ms,
    duration_ms: row.duration_ms,
    prompt_tokens: row.prompt_tokens,
    completion_tokens: row.completion_tokens,
    cost_nanos: (collected ?? 0n).toString(),
  };
}
