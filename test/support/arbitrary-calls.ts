import fc from 'fast-check';
import type { DataSource } from 'typeorm';
import { newId } from '../../src/platform/shared/index.js';

/** A finished call, with all that calls are filtered and added up by. */
export interface ArbitraryCall {
  /** How long ago it began. */
  readonly agoMs: number;
  readonly account: string;
  readonly key: string;
  readonly model: string;
  readonly group: string;
  readonly status: string;
  readonly reason: string;
  readonly basis: string;
  readonly cost: number;
  readonly upstreamCost: number | null;
  readonly tokens: number | null;
  readonly firstTokenMs: number | null;
  readonly durationMs: number;
  /** Of the last attempt. */
  readonly channel: string;
  /** What the upstream answered each attempt with; null: nothing. */
  readonly statuses: readonly (number | null)[];
}

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** Many calls in two of them, so that some quarters of an hour have more rows than others. */
const BUSY_MS = [3 * DAY_MS, 40 * DAY_MS];

const maybe = (max: number): fc.Arbitrary<number | null> => fc.option(fc.nat({ max }), { freq: 4 });
const latency = fc.oneof(fc.nat({ max: 40 }), fc.nat({ max: 5000 }), fc.constantFrom(0, 3_600_000, 5_000_000));

export const ACCOUNTS = ['acc_1', 'acc_2'];
export const KEYS = ['key_1', 'key_2', 'key_3'];
export const MODELS = ['small', 'large', ''];
export const GROUPS = ['default', 'saver'];
export const CHANNELS = ['main', 'spare', ''];

export const anyCall: fc.Arbitrary<ArbitraryCall> = fc.record({
  agoMs: fc.oneof(
    fc.nat({ max: 70 * DAY_MS }),
    fc.nat({ max: 3 * 60 * MINUTE_MS }),
    fc.tuple(fc.constantFrom(...BUSY_MS), fc.nat({ max: MINUTE_MS })).map(([busy, later]) => busy - later),
  ),
  account: fc.constantFrom(...ACCOUNTS),
  key: fc.constantFrom(...KEYS),
  model: fc.constantFrom(...MODELS),
  group: fc.constantFrom(...GROUPS),
  status: fc.constantFrom('succeeded', 'succeeded', 'failed', 'cancelled', 'interrupted', 'refused'),
  reason: fc.constantFrom('', '', 'timeout', 'invalid_request', 'upstream_error'),
  basis: fc.constantFrom('reported', 'estimated', 'partial', 'free'),
  cost: fc.nat({ max: 10 ** 9 }),
  upstreamCost: maybe(10 ** 9),
  tokens: maybe(10_000),
  firstTokenMs: fc.option(latency, { freq: 3 }),
  durationMs: latency,
  channel: fc.constantFrom(...CHANNELS),
  statuses: fc.array(fc.constantFrom(200, 429, 500, 503, null), { maxLength: 3 }),
});

/** Writes them as settlement leaves them, at once. Gives their ids. */
export async function writeCalls(
  sql: DataSource,
  now: number,
  calls: readonly ArbitraryCall[],
): Promise<readonly string[]> {
  const rows = calls.map((call) => ({
    ...call,
    id: newId('req', now - call.agoMs),
    at: new Date(now - call.agoMs).toISOString(),
  }));
  await sql.query(
    `INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel, stream,
       effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens, completion_tokens,
       reasoning_tokens, cost, uncollected, upstream_cost, billing_basis, first_token_ms, duration_ms, attempts, ip)
     SELECT id, at, account, key, model, "group", 'responses', 'responses', channel, true, '', status, reason, '', tokens,
            tokens / 2, 0, tokens / 3, 0, cost, 0, "upstreamCost", basis, "firstTokenMs", "durationMs",
            jsonb_array_length(statuses), ''
       FROM jsonb_to_recordset($1) AS r (id text, at timestamptz, account text, key text, model text, "group" text,
         status text, reason text, tokens bigint, cost bigint, "upstreamCost" bigint, basis text, "firstTokenMs" integer,
         "durationMs" integer, channel text, statuses jsonb)`,
    [JSON.stringify(rows)],
  );
  await sql.query(
    `INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status, outcome, duration_ms)
     SELECT id, ordinal, at, channel, 'responses', model, status::integer, '', 1
       FROM jsonb_to_recordset($1) AS r (id text, at timestamptz, model text, channel text, statuses jsonb),
            jsonb_array_elements_text(statuses) WITH ORDINALITY AS s (status, ordinal)`,
    [JSON.stringify(rows)],
  );
  return rows.map(({ id }) => id);
}
