import type { DataSource } from 'typeorm';
import type { WaitRecords } from '../../src/protocols/contract/index.js';
import { idTime } from '../../src/platform/shared/index.js';

interface CallRow {
  readonly id: string;
  readonly accountId: string;
  readonly keyId: string;
  /** The time inside the id, by which the page of a call finds it; where there is none, now. */
  readonly createdAt: string;
  readonly model: string;
  readonly group: string;
  readonly cost: bigint;
  readonly status: string;
  readonly errorReason: string;
  readonly errorMessage: string;
  readonly billingBasis: string;
  readonly promptTokens: number | null;
  readonly completionTokens: number | null;
  readonly firstTokenMs: number | null;
  readonly ip: string;
  readonly entryId: string | null;
  /** Of the last attempt. */
  readonly channel: string;
  readonly upstreamCost: bigint | null;
  readonly attempts: number;
  /** Milliseconds; null: from before they were recorded. */
  readonly holdBegunMs: number | null;
  readonly holdMs: number | null;
  readonly settleWaitMs: number | null;
  readonly waits: WaitRecords | null;
}

/** Writes a finished call as settlement leaves it, with whatever the test says of it. */
export async function aCallRow(
  sql: DataSource,
  overrides: Partial<CallRow> & Pick<CallRow, 'id' | 'accountId' | 'keyId'>,
): Promise<void> {
  const row: CallRow = {
    createdAt: new Date(idTime(overrides.id) ?? Date.now()).toISOString(),
    model: 'gpt-5.5',
    group: 'default',
    cost: 1_500_000n,
    status: 'succeeded',
    errorReason: '',
    errorMessage: '',
    billingBasis: 'reported',
    promptTokens: 100,
    completionTokens: 20,
    firstTokenMs: 250,
    ip: '127.0.0.1',
    entryId: null,
    channel: 'main',
    upstreamCost: null,
    attempts: 1,
    holdBegunMs: null,
    holdMs: null,
    settleWaitMs: null,
    waits: null,
    ...overrides,
  };
  await sql.query(
    `INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel, stream,
       effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens,
       reasoning_tokens, cost, uncollected, billing_basis, first_token_ms, duration_ms, attempts, ip, entry_id,
       upstream_cost, hold_begun_ms, hold_ms, settle_wait_ms, waits)
     VALUES ($1, $2, $3, $4, $12, $13, 'responses', 'messages', $17, true,
       'low', $5, $6, $14, $7, 40, 0, $15, 5, $8, 0, $16, $9, 900, $18, $10, $11, $19, $20, $21, $22, $23)`,
    [
      row.id,
      row.createdAt,
      row.accountId,
      row.keyId,
      row.status,
      row.errorReason,
      row.promptTokens,
      row.cost,
      row.firstTokenMs,
      row.ip,
      row.entryId,
      row.model,
      row.group,
      row.errorMessage,
      row.completionTokens,
      row.billingBasis,
      row.channel,
      row.attempts,
      row.upstreamCost,
      row.holdBegunMs,
      row.holdMs,
      row.settleWaitMs,
      row.waits,
    ],
  );
}
