import { nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import { Parameters } from '../usage-filter.js';
import type { Span, TrafficFigures } from './traffic-reader.js';
import { partsSql } from './usage-days.js';

/** What calls of all accounts came to that were sent to a channel, by the name of their model or of that channel. */
export interface MarginPart extends Pick<TrafficFigures, 'calls' | 'known' | 'cost' | 'chargedOfKnown'> {
  readonly name: string;
}

type Row = Readonly<Record<'name' | 'calls' | 'known' | 'cost' | 'charged_of_known', string>>;

/** That most was charged for in front. @param model of this one alone */
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
  const rows = await query<Row>(
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
