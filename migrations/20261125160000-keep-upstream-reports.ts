import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What an upstream reported of a call's usage where that was not what the call was charged for. */
export class KeepUpstreamReports20261125160000 implements MigrationInterface {
  readonly name = 'KeepUpstreamReports20261125160000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [COLUMNS, INDEX, RECORD]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/*
 * upstream_report: { findings: [what is to be said of it], prompt_tokens, completion_tokens, cached_tokens,
 * cache_write_tokens, reasoning_tokens, … }, where a total is null when it was left out, and a string when it was no
 * count; null where nothing is to be said, or the upstream reported nothing. A basis of 'corrected' is a report that
 * cannot be true. Every row that there is satisfies the wider check, which need not read them to know it.
 */
const COLUMNS = `
  ALTER TABLE calls
    ADD COLUMN upstream_report jsonb,
    DROP CONSTRAINT call_billing_basis_is_known,
    ADD CONSTRAINT call_billing_basis_is_known CHECK
      (billing_basis IN ('reported', 'estimated', 'corrected', 'partial', 'free')) NOT VALID;
  ALTER TYPE settlement ADD ATTRIBUTE upstream_report jsonb;
`;

/* Corrected calls are few, and are counted by channel. */
const INDEX = `
  CREATE INDEX calls_corrected ON calls (created_at) INCLUDE (channel) WHERE billing_basis = 'corrected';
`;

/*
 * The rows of calls that have just been settled, and of their attempts. For each call of the batch: lines, its itemised
 * cost; taken, what was collected, null for one that had been settled before and keeps its row; days, weeks and months,
 * the budgets that it counts in. ids: the calls that are written. entry: the one of the ledger that collected for them.
 */
const RECORD = `
  CREATE OR REPLACE FUNCTION record_calls(batch settlement[], snapshots jsonb[], lines json[], tries attempt[],
    taken bigint[], ids text[], entry text, days date[], weeks date[], months date[])
  RETURNS void LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO call_attempts (call_id, ordinal, created_at, channel, credential, protocol, upstream_model,
      upstream_status, upstream_request_id, outcome, reason, begun_ms, connect_ms, headers_ms, first_byte_ms,
      first_token_ms, duration_ms, cost_version, upstream_cost)
    SELECT a.call_id, a.ordinal, a.created_at, a.channel, a.credential, a.protocol, a.upstream_model,
      a.upstream_status, a.upstream_request_id, a.outcome, a.reason, a.begun_ms, a.connect_ms, a.headers_ms,
      a.first_byte_ms, a.first_token_ms, a.duration_ms, a.cost_version, a.upstream_cost
    FROM unnest(tries) a WHERE a.call_id = ANY (ids);

    INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
      stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
      completion_tokens, reasoning_tokens, cost, uncollected, upstream_cost, billing_basis, first_token_ms, duration_ms,
      attempts, ip, snapshot, lines, entry_id, budget_day, budget_week, budget_month, hold_begun_ms, hold_ms,
      settle_wait_ms, waits, upstream_report)
    SELECT r.id, r.created_at, r.account_id, r.key_id, r.model, r.group_name, r.protocol, r.upstream_protocol, r.channel,
      r.stream, r.effort, r.status, r.error_reason, r.error_message, r.prompt_tokens, r.cached_tokens,
      r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens, taken[r.ordinality], r.cost - taken[r.ordinality],
      r.upstream_cost, r.billing_basis, r.first_token_ms, r.duration_ms, r.attempts, r.ip, snapshots[r.snapshot],
      lines[r.ordinality], CASE WHEN taken[r.ordinality] > 0 THEN entry END, days[r.ordinality], weeks[r.ordinality],
      months[r.ordinality], r.hold_begun_ms, r.hold_ms, r.settle_wait_ms, r.waits, r.upstream_report
    FROM unnest(batch) WITH ORDINALITY AS r
    WHERE taken[r.ordinality] IS NOT NULL;
  END $$;
`;
