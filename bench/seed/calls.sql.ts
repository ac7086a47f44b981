// The statement that makes finished calls, with their attempts and what the ledger took for them, as settlement would have
// left them: tens of thousands at a time, since one by one they would take hours.
import { CHOICES, COST_SHARE, MAIN_CHANNEL, type WeightedValue } from './world.ts';

/** Tables that calls and attempts are loaded into. */
export interface LoadTables {
  readonly calls: string;
  readonly attempts: string;
}

/** So many calls are settled together, and share an entry of the ledger. */
const SETTLED_TOGETHER = 8;

const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`;

/** The place of a value, from 1, by the shares of all. */
function place(choices: readonly WeightedValue<unknown>[]): string {
  return `1 + width_bucket(random(), ARRAY[${boundsOf(choices).join(', ')}]::float8[])`;
}

/** Where the share of each value but the last ends. */
export function boundsOf(choices: readonly WeightedValue<unknown>[]): readonly number[] {
  let below = 0;
  return choices.slice(0, -1).map(({ share }) => (below += share));
}

const text = (choices: readonly WeightedValue[], at: string): string =>
  `(ARRAY[${choices.map(({ value }) => literal(value)).join(', ')}])[${at}]`;

/** An id as the program makes it: the time inside, the rest random. @param hex 32 hexadecimal digits */
const id = (prefix: string, ms: string, hex: string): string =>
  `'${prefix}_' || lpad(to_hex(${ms}), 12, '0') || '7' || left(${hex}, 3) || 'a' || right(${hex}, 15)`;

const FATES = CHOICES.fates.map(({ value: fate }, index) => {
  const texts = [fate.status, fate.reason, fate.message, fate.basis].map(literal).join(', ');
  return `(${index + 1}, ${texts}, ${fate.charged}, ${fate.streamed}, ${fate.asked}, ${fate.upstreamStatus ?? 'NULL'}::integer)`;
});

const GIVEN = `
  samples AS MATERIALIZED (
    SELECT s.*, t.*, (s.snapshot ->> 'group_multiplier')::numeric * 1000 AS nanos
      FROM jsonb_to_recordset($1::jsonb) AS s (model text, group_name text, protocol text, upstream_model text,
             cost_version text, snapshot jsonb),
           jsonb_to_record(s.snapshot #> '{tiers,0}') AS t (input text, cache_read text, output text, reasoning text)
  ), owners AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($2::jsonb) AS o (place integer, account_id text, key_id text)
  ), fates (fate, status, reason, message, basis, charged, streamed, asked, upstream_status) AS MATERIALIZED (
    VALUES ${FATES.join(',\n           ')}
  )`;

/** Whatever is random of each call, once; then what follows from it. */
const PICKED = `
  picked AS (
    SELECT n, $4::bigint + floor(($5::bigint - $4::bigint) * (n + random()) / $6::integer)::bigint AS ms,
           n / ${SETTLED_TOGETHER} AS batch, md5($7::text || n || random()) AS hex,
           1 + width_bucket(random(), $3::float8[]) AS owner,
           ${place(CHOICES.models)} AS model, ${place(CHOICES.groups)} AS "group", ${place(CHOICES.fates)} AS fate,
           ${place(CHOICES.addresses)} AS address, ${place(CHOICES.channels)} AS channel,
           ${place(CHOICES.efforts)} AS effort, random() AS kind, random() AS size, random() AS answer,
           random() AS cached, random() AS pace, random() AS luck
      FROM generate_series(0, $6::integer - 1) AS n
  ), sized AS (
    SELECT n, ms, batch, hex, owner, cached, effort, f.*, f.streamed OR kind < 0.7 AS stream,
           ${text(CHOICES.models, 'model')} AS model, ${text(CHOICES.groups, '"group"')} AS group_name,
           ${text(CHOICES.channels, 'channel')} AS channel, ${text(CHOICES.addresses, 'address')} AS ip,
           floor(60 + 250 * exp(4 * size))::integer AS prompt,
           ceil((12 + 40 * exp(3.5 * answer)) * charged)::integer AS completion,
           CASE WHEN NOT asked THEN 0 WHEN luck < 0.004 THEN 3 WHEN luck < 0.03 THEN 2 ELSE 1 END AS tries,
           floor(120 + 90 * exp(3.2 * pace))::integer AS first_ms
      FROM picked JOIN fates f USING (fate)
  ), counted AS (
    SELECT z.*, CASE WHEN cached < 0.45 THEN prompt * 3 / 4 ELSE 0 END AS from_cache,
           CASE WHEN effort > 1 THEN completion / 3 ELSE 0 END AS thoughts
      FROM sized z
  ), priced AS (
    SELECT c.*, s.protocol, s.snapshot, s.nanos, s.input, s.cache_read, s.output, s.reasoning, o.account_id, o.key_id,
           charged > 0 AS paid, (prompt - from_cache) * s.input::numeric + from_cache * s.cache_read::numeric
             + (completion - thoughts) * s.output::numeric + thoughts * s.reasoning::numeric AS dollars_of_a_million
      FROM counted c JOIN samples s USING (model, group_name) JOIN owners o ON o.place = c.owner
  )`;

const line = (item: string, quantity: string, price: string): string =>
  `CASE WHEN ${quantity} > 0 THEN '{"item":"${item}","quantity":' || ${quantity} || ',"price":"' || ${price} || '"}' END`;

const LINES = `('[' || concat_ws(',', ${line('input', '(prompt - from_cache)', 'input')},
        ${line('cache_read', 'from_cache', 'cache_read')}, ${line('output', '(completion - thoughts)', 'output')},
        ${line('reasoning', 'thoughts', 'reasoning')}) || ']')::json`;

const ENTRY = id(
  'led',
  `$4::bigint + ($5::bigint - $4::bigint) * least((batch + 1) * ${SETTLED_TOGETHER}, $6::integer) / $6::integer`,
  'md5($7::text || batch)',
);

const made = (table: string): string => `
  made AS (
    INSERT INTO ${table} (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
      stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
      completion_tokens, reasoning_tokens, cost, uncollected, upstream_cost, billing_basis, first_token_ms, duration_ms,
      attempts, ip, snapshot, lines, entry_id, hold_begun_ms, hold_ms, settle_wait_ms)
    SELECT ${id('req', 'ms', 'hex')}, to_timestamp(ms / 1000.0), account_id, key_id, model, group_name, protocol,
      CASE WHEN asked THEN protocol ELSE '' END, CASE WHEN asked THEN channel ELSE '' END, stream,
      ${text(CHOICES.efforts, 'effort')}, status, reason, message, CASE WHEN paid THEN prompt END,
      CASE WHEN paid THEN from_cache END, CASE WHEN paid THEN 0 END, CASE WHEN paid THEN completion END,
      CASE WHEN paid THEN thoughts END, CASE WHEN paid THEN round(dollars_of_a_million * nanos) ELSE 0 END, 0,
      CASE WHEN paid AND channel = ${literal(MAIN_CHANNEL)} THEN round(dollars_of_a_million * ${1000 * COST_SHARE})
           WHEN NOT paid AND (upstream_status IS NOT NULL OR NOT asked) THEN 0 END,
      basis, CASE WHEN stream AND asked AND status <> 'failed' THEN first_ms END,
      CASE WHEN asked THEN 95 * tries + first_ms + completion * 7 ELSE 2 END, tries, ip, CASE WHEN asked THEN snapshot END,
      CASE WHEN paid THEN ${LINES} END, CASE WHEN paid THEN ${ENTRY} END,
      CASE WHEN asked THEN 1 END, CASE WHEN asked THEN 2 END, 4
      FROM priced
    RETURNING id, created_at, account_id, key_id, model, group_name, channel, upstream_protocol, status, error_reason,
      error_message, billing_basis, first_token_ms, duration_ms, attempts, upstream_cost, cost, entry_id
  )`;

/** All attempts but the last met an upstream that was overloaded. */
const attempted = (table: string): string => `
  attempted AS (
    INSERT INTO ${table} (call_id, ordinal, created_at, channel, credential, protocol, upstream_model, upstream_status,
      outcome, reason, begun_ms, connect_ms, headers_ms, first_byte_ms, first_token_ms, duration_ms, cost_version,
      upstream_cost)
    SELECT m.id, ordinal, m.created_at, CASE WHEN last THEN m.channel ELSE ${literal(MAIN_CHANNEL)} END, 1,
      m.upstream_protocol, s.upstream_model, CASE WHEN last THEN f.upstream_status ELSE 529 END,
      CASE WHEN NOT last THEN 'server_is_overloaded' WHEN f.reason = '' OR f.status = 'cancelled' THEN f.status
           ELSE f.reason END,
      CASE WHEN last THEN f.message ELSE 'The upstream is overloaded. Retry later.' END,
      begun, 1, 60, 61, CASE WHEN last THEN m.first_token_ms END, CASE WHEN last THEN m.duration_ms - begun ELSE 90 END,
      CASE WHEN m.channel = ${literal(MAIN_CHANNEL)} THEN s.cost_version END, CASE WHEN last THEN m.upstream_cost ELSE 0 END
      FROM made m JOIN samples s USING (model, group_name)
      JOIN fates f ON (f.status, f.reason, f.basis) = (m.status, m.error_reason, m.billing_basis),
        generate_series(1, m.attempts) AS ordinal,
        LATERAL (SELECT ordinal = m.attempts AS last, 4 + 95 * (ordinal - 1) AS begun) AS moment
  )`;

const BOOKED = `
  entries AS (
    INSERT INTO ledger_entries (id, kind, created_at)
    SELECT DISTINCT entry_id, 'calls', to_timestamp(('x' || substr(entry_id, 5, 12))::bit(48)::bigint / 1000.0)
      FROM made WHERE entry_id IS NOT NULL
  ), entry_lines AS (
    INSERT INTO ledger_lines (entry_id, ledger_account, amount)
    SELECT entry_id, 'wallet:' || account_id, -sum(cost) FROM made WHERE entry_id IS NOT NULL GROUP BY entry_id, account_id
     UNION ALL
    SELECT entry_id, 'revenue', sum(cost) FROM made WHERE entry_id IS NOT NULL GROUP BY entry_id
  )`;

/**
 * $1 samples, $2 owners [{ place, account_id, key_id }] with places from 1, $3 where the share of each but the last ends,
 * $4 and $5 the first moment and the one behind the last, in ms, $6 how many calls, $7 what tells these from all others.
 * Rows: account_id, key_id, cost of their calls. What wallets and keys have left is for whoever runs it.
 */
export const makeCalls = ({ calls, attempts }: LoadTables): string => `
  WITH ${[GIVEN, PICKED, made(calls), attempted(attempts), BOOKED].join(', ')}
  SELECT account_id, key_id, sum(cost)::text AS cost FROM made GROUP BY 1, 2`;
