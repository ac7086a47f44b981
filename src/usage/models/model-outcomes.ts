import { type CallOutcome, hasFailed, isRefused, resultOf } from '../calls/recorded-call.js';
import type { Span } from '../rollups/traffic-reader.js';
import type { Query } from '../time-limited-reads.js';
import { type CallOwner, ownedBy, Parameters } from '../usage-filter.js';

/** Results of the calls of one model, across accounts. */
export interface ModelOutcomes extends OutcomeCounts {
  readonly model: string;
  /** Of successful streams; undefined if there was no first token. */
  readonly firstTokenMs: number | undefined;
  /** By hours since 1970 in UTC; hours without calls are missing. */
  readonly hours: ReadonlyMap<number, OutcomeCounts>;
}

/** Calls that show whether a model works. */
export interface OutcomeCounts {
  readonly answered: number;
  /** Because of the upstream or this service. */
  readonly failed: number;
}

interface OutcomeRow {
  readonly model: string;
  readonly hour: number | null;
  readonly answered: number;
  readonly failed: number;
  readonly median: number | null;
}

/**
 * Reasons the client is not responsible for. Rate limits and unknown models count as the upstream's after admission, as
 * the client's before.
 */
const UPSTREAM_ERRORS = `
  error_reason IN ('server_is_overloaded', 'unavailable', 'shutting_down', 'upstream_error', 'upstream_auth',
                   'upstream_truncated', 'timeout', 'internal')
  OR (status = 'failed' AND error_reason IN ('rate_limit_exceeded', 'model_not_found'))`;

const RESPONSES = `
  WITH told AS MATERIALIZED (
    SELECT model, floor(extract(epoch FROM created_at) / 3600)::integer AS hour, status = 'succeeded' AS answered,
           CASE WHEN status = 'succeeded' THEN first_token_ms END AS first_token_ms
      FROM calls
     WHERE created_at >= $1::timestamptz AND created_at < $2::timestamptz
       AND (status = 'succeeded' OR (status IN ('failed', 'interrupted', 'refused') AND (${UPSTREAM_ERRORS})))
  )
  SELECT model, hour, count(*) FILTER (WHERE answered)::integer AS answered,
         count(*) FILTER (WHERE NOT answered)::integer AS failed,
         CASE WHEN hour IS NULL THEN percentile_cont(0.5) WITHIN GROUP (ORDER BY first_token_ms) END AS median
    FROM told GROUP BY GROUPING SETS ((model, hour), (model))`;

/**
 * Results of every called model by hour. Excludes rejected requests and cancelled calls, which say nothing about the
 * model. A million calls take seconds.
 */
export async function readModelOutcomes(query: Query, { from, to }: Span): Promise<readonly ModelOutcomes[]> {
  const rows = await query<OutcomeRow>(RESPONSES, [from.toISOString(), to.toISOString()]);
  return rows
    .filter(({ hour }) => hour === null)
    .map(({ model, answered, failed, median }) => ({
      model,
      answered,
      failed,
      firstTokenMs: median === null ? undefined : Math.round(median),
      hours: new Map(
        rows.flatMap((row) =>
          row.model === model && row.hour !== null ? [[row.hour, { answered: row.answered, failed: row.failed }]] : [],
        ),
      ),
    }));
}

/** A model whose last calls all failed for the same reason. */
export interface ModelTrouble {
  readonly model: string;
  readonly calls: number;
  /** Start of the first of them. */
  readonly since: Date;
  /** Result of the last of them. */
  readonly result: CallOutcome;
  readonly reason: string;
  /** Error message of the last of them. */
  readonly message: string;
}

/** Min failures in a row. */
const MIN = 3;
const MAX = 3;
/** Max calls examined, to bound the time. */
const LOOKED_AT = 2000;

const TROUBLES = (owned: string, since: string): string => `
  WITH recent AS MATERIALIZED (
    SELECT model, created_at, error_reason, error_message,
           ${resultOf('calls')} AS result
      FROM calls WHERE ${owned} AND created_at >= ${since}
     ORDER BY created_at DESC, id DESC LIMIT ${LOOKED_AT}
  ), answered AS (
    -- A call that its client left says nothing of the model.
    SELECT model, max(created_at) AS at FROM recent WHERE result = 'completed' GROUP BY 1
  )
  SELECT r.model, r.error_reason AS reason, count(*)::integer AS calls, min(r.created_at) AS since,
         (array_agg(r.error_message ORDER BY r.created_at DESC))[1] AS message,
         (array_agg(r.result ORDER BY r.created_at DESC))[1] AS result
    FROM recent r LEFT JOIN answered a USING (model)
   WHERE (${hasFailed('r.result')} OR ${isRefused('r.result')}) AND r.model <> '' AND (a.at IS NULL OR r.created_at > a.at)
   GROUP BY 1, 2 HAVING count(*) >= ${MIN}
   ORDER BY 3 DESC, 1, 2 LIMIT ${MAX}`;

/** At most three models that have only failed since their last success, those with most failures first. */
export function modelTroubles(query: Query, owner: CallOwner, since: Date): Promise<ModelTrouble[]> {
  const parameters = new Parameters();
  const sql = TROUBLES(ownedBy('calls', owner, parameters), parameters.time(since));
  return query<ModelTrouble>(sql, parameters.values);
}
