import { type Nanos, nanos } from '../../platform/shared/index.js';
import type { Query } from '../time-limited-reads.js';
import { barsBetween, type ChartScale } from './usage-chart.js';
import { Parameters } from '../usage-filter.js';
import { partsSql } from './usage-days.js';

/** Totals of finished calls across accounts. Money in nano-dollars. */
export interface TrafficFigures {
  readonly calls: number;
  readonly refused: number;
  /** Including timed-out calls. */
  readonly failed: number;
  /** Failed calls with more than one attempt. */
  readonly failedAfterRetry: number;
  readonly charged: Nanos;
  /** Calls with a known upstream cost: their number, their cost, and what was charged for them. */
  readonly known: number;
  readonly cost: Nanos;
  readonly chargedOfKnown: Nanos;
}

interface TrafficBar extends Pick<TrafficFigures, 'calls' | 'refused' | 'failed'> {
  readonly start: Date;
}

/** Charges by model name or account ID. */
interface TrafficPart extends Pick<TrafficFigures, 'calls' | 'charged'> {
  readonly name: string;
}

/** All calls of a period. */
export interface Traffic {
  readonly total: TrafficFigures;
  /** All bars of the period in order, including empty ones. */
  readonly bars: readonly TrafficBar[];
  /** Largest charges first. */
  readonly models: readonly TrafficPart[];
  /** The accounts with the largest charges. */
  readonly accounts: readonly TrafficPart[];
}

/** A period: `from <= time < to`. */
export interface Span {
  readonly from: Date;
  readonly to: Date;
}

const FIGURES = [
  'calls',
  'refused',
  'failed',
  'retried',
  'cost',
  'known',
  'upstream_cost',
  'charged_of_known',
] as const;

type TrafficRow = Readonly<Record<(typeof FIGURES)[number], string | null>> & { readonly bar: Date };

const MAX_ACCOUNTS = 5;
const MAX_MODELS = 1000;

/** From rollups of all accounts, and calls not rolled up yet. */
export async function readTraffic(query: Query, span: Span, scale: ChartScale): Promise<Traffic> {
  const bars = await barsOf(query, span, scale);
  const sumOf = (name: (typeof FIGURES)[number]): bigint => bars.reduce((sum, row) => sum + BigInt(row[name] ?? 0), 0n);
  return {
    total: {
      calls: Number(sumOf('calls')),
      refused: Number(sumOf('refused')),
      failed: Number(sumOf('failed')),
      failedAfterRetry: Number(sumOf('retried')),
      charged: nanos(sumOf('cost')),
      known: Number(sumOf('known')),
      cost: nanos(sumOf('upstream_cost')),
      chargedOfKnown: nanos(sumOf('charged_of_known')),
    },
    bars: bars.map(({ bar, calls, refused, failed }) => ({
      start: bar,
      calls: Number(calls ?? 0),
      refused: Number(refused ?? 0),
      failed: Number(failed ?? 0),
    })),
    models: await largest(query, span, 'model', MAX_MODELS),
    accounts: await largest(query, span, 'account', MAX_ACCOUNTS),
  };
}

/** Number of finished calls that began in a period. */
export async function countCalls(query: Query, span: Span): Promise<number> {
  const parameters = new Parameters();
  const filter = { accountId: undefined, ...span };
  const parts = partsSql({ filter, by: [], figures: ['calls'] }, parameters);
  const [row] = await query<{ calls: string | null }>(
    `WITH ${parts} SELECT sum(calls) AS calls FROM parts`,
    parameters.values,
  );
  return Number(row?.calls ?? 0);
}

function barsOf(query: Query, span: Span, { unit, timeZone }: ChartScale): Promise<TrafficRow[]> {
  const parameters = new Parameters();
  const zone = parameters.add(timeZone);
  const filter = { accountId: undefined, ...span };
  const parts = partsSql({ filter, bars: { unit, zone }, by: [], figures: FIGURES }, parameters);
  const all = barsBetween(unit, parameters.time(span.from), parameters.time(span.to), zone);
  return query<TrafficRow>(
    `WITH ${parts}, sums AS (
       SELECT bar, ${FIGURES.map((name) => `sum(${name}) AS ${name}`).join(', ')}
         FROM parts GROUP BY 1
     )
     SELECT bar, ${FIGURES.join(', ')} FROM sums FULL JOIN ${all} USING (bar) ORDER BY bar`,
    parameters.values,
  );
}

/** Largest charges first; if all are free, most calls first. */
async function largest(query: Query, span: Span, dimension: 'model' | 'account', most: number): Promise<TrafficPart[]> {
  const parameters = new Parameters();
  const filter = { accountId: undefined, ...span };
  const by = [{ dimension, name: 'name' }];
  const parts = partsSql({ filter, by, figures: ['calls', 'cost'] }, parameters);
  const rows = await query<{ name: string; calls: string; charged: string }>(
    `WITH ${parts}
     SELECT name, sum(calls) AS calls, sum(cost) AS charged FROM parts
      GROUP BY 1 HAVING sum(calls) > 0 ORDER BY sum(cost) DESC, sum(calls) DESC, 1 LIMIT ${most}`,
    parameters.values,
  );
  return rows.map(({ name, calls, charged }) => ({ name, calls: Number(calls), charged: nanos(BigInt(charged)) }));
}
