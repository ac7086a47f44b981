import { nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import { Parameters } from '../usage-filter.js';
import type { Span, TrafficFigures } from './traffic-reader.js';
import { partsSql } from './usage-days.js';

/** Totals of the calls sent to a channel, across accounts, by model or by channel. */
export interface MarginPart extends Pick<TrafficFigures, 'calls' | 'known' | 'cost' | 'chargedOfKnown'> {
  readonly name: string;
}

type MarginRow = Readonly<Record<'name' | 'calls' | 'known' | 'cost' | 'charged_of_known', string>>;

/** Largest charges first. @param model only this one */
export async function readMargins(
  query: Query,
  span: Span,
  by: 'model' | 'channel',
  model?: string,
): Promise<readonly MarginPart[]> {
  const parameters = new Parameters();
  const request = {
    filter: { accountId: undefined, ...span, model },
    by: [
      { dimension: 'model', name: 'model' },
      { dimension: 'channel', name: 'channel' },
    ],
    figures: ['calls', 'cost', 'known', 'upstream_cost', 'charged_of_known'],
  } as const;
  const rows = await query<MarginRow>(
    `WITH ${partsSql(request, parameters)}
     SELECT ${by} AS name, sum(calls) AS calls, sum(known) AS known, sum(upstream_cost) AS cost,
            sum(charged_of_known) AS charged_of_known
       FROM parts WHERE channel <> '' GROUP BY 1 HAVING sum(calls) > 0 ORDER BY sum(parts.cost) DESC, 1`,
    parameters.values,
  );
  return rows.map((row) => ({
    name: row.name,
    calls: Number(row.calls),
    known: Number(row.known),
    cost: nanos(BigInt(row.cost)),
    chargedOfKnown: nanos(BigInt(row.charged_of_known)),
  }));
}

/** Number of recent streams to sample. */
const STREAMS = 2000;

/** Uses the index of calls by time: reads some thousand rows however many calls there are. */
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
 * Our share of the time to first token: until the request is sent upstream, plus processing of the response. Median of
 * recent streams in ms; undefined without streams.
 */
export async function ownShare(query: Query, { from, to }: Span): Promise<number | undefined> {
  const [row] = await query<{ ms: number | null }>(OWN_SHARE, [from.toISOString(), to.toISOString()]);
  return row?.ms === null || row?.ms === undefined ? undefined : Math.round(row.ms);
}
