import { nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import type { Span, TrafficFigures } from './traffic-reader.js';
import { Parameters } from '../usage-filter.js';
import { partsSql } from './usage-parts.js';

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
