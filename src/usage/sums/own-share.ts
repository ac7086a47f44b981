import type { Query } from '../time-limited-reads.js';
import type { Span } from './traffic-reader.js';

/** So many of the last streams tell it as well as all would. */
const STREAMS = 2000;

/** By the index of calls by their time, then attempt by attempt: some thousand rows, however many calls there are. */
const OWN_SHARE = `
  SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY greatest(0, c.first_token_ms - t.upstream_ms)) AS ms
    FROM (SELECT id, created_at, attempts, first_token_ms FROM calls
           WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz AND first_token_ms IS NOT NULL
           ORDER BY created_at DESC, id DESC LIMIT ${STREAMS}) c
   CROSS JOIN LATERAL (
      -- Of attempts that failed the whole time, of the one that answered the time to its first token.
      SELECT sum(CASE WHEN ordinal < c.attempts THEN duration_ms ELSE first_token_ms END) AS upstream_ms,
             bool_and(ordinal < c.attempts OR first_token_ms IS NOT NULL) AS is_known
        FROM call_attempts WHERE call_id = c.id AND created_at = c.created_at) t
   WHERE t.is_known`;

/**
 * How much of the time to the first token no upstream took: what it takes until a request goes up, and what is added to
 * the answer. The median of the last streams, in ms; undefined where there are none.
 */
export async function ownShare(query: Query, { from, to }: Span): Promise<number | undefined> {
  const [row] = await query<{ ms: number | null }>(OWN_SHARE, [from.toISOString(), to.toISOString()]);
  return row?.ms === null || row?.ms === undefined ? undefined : Math.round(row.ms);
}
