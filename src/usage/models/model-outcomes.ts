import { type CallResult, hasFailed, resultOf } from '../calls/recorded-call.js';
import type { Span } from '../sums/traffic-reader.js';
import type { Query } from '../time-limited-reads.js';

/** How the calls of one model went, of all accounts. */
export interface ModelOutcomes extends OutcomeCounts {
  readonly model: string;
  /** Of those that were answered; undefined where no stream came to a first token. */
  readonly firstTokenMs: number | undefined;
  /** By the hours since 1970 in UTC, those that have any. */
  readonly hours: ReadonlyMap<number, OutcomeCounts>;
}

/** Calls that tell whether a model answers. */
export interface OutcomeCounts {
  readonly answered: number;
  /** By a fault of the upstream or of this service. */
  readonly failed: number;
}

interface Row {
  readonly model: string;
  readonly hour: number | null;
  readonly answered: number;
  readonly failed: number;
  readonly median: number | null;
}

/**
 * Reasons that are no fault of whoever calls. A rate limit and an unknown model are the upstream's once the call has been
 * admitted; before, they are the caller's.
 */
const UPSTREAM_ERRORS = `
  error_reason IN ('server_is_overloaded', 'unavailable', 'shutting_down', 'upstream_error', 'upstream_auth',
                   'upstream_truncated', 'timeout', 'internal')
  OR (status = 'failed' AND error_reason IN ('rate_limit_exceeded', 'model_not_found'))`;

const ANSWERS = `
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
 * Of every model that was called, whether it answered, hour by hour. Calls that were refused for what they asked, and those
 * that their clients left, tell nothing of it. A million calls take seconds.
 */
export async function readModelOutcomes(query: Query, { from, to }: Span): Promise<readonly ModelOutcomes[]> {
  const rows = await query<Row>(ANSWERS, [from.toISOString(), to.toISOString()]);
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

/** A model whose last calls have all failed, for one reason. */
export interface ModelTrouble {
  readonly model: string;
  readonly calls: number;
  /** When the first of them began. */
  readonly since: Date;
  /** How the last of them went. */
  readonly result: CallResult;
  readonly reason: string;
  /** What the last of them was told. */
  readonly message: string;
}

/** Fewer are an accident. */
const MIN = 3;
const MAX = 3;
/** Further back nobody looks: it would take long, and what so many later calls did not meet is over. */
const LOOKED_AT = 2000;

const TROUBLES = `
  WITH recent AS MATERIALIZED (
    SELECT model, created_at, error_reason, error_message,
           ${resultOf('calls')} AS result
      FROM calls WHERE account_id = $1 AND created_at >= $2::timestamptz
     ORDER BY created_at DESC, id DESC LIMIT ${LOOKED_AT}
  ), answered AS (
    -- A call that its client left says nothing of the model.
    SELECT model, max(created_at) AS at FROM recent WHERE result = 'completed' GROUP BY 1
  )
  SELECT r.model, r.error_reason AS reason, count(*)::integer AS calls, min(r.created_at) AS since,
         (array_agg(r.error_message ORDER BY r.created_at DESC))[1] AS message,
         (array_agg(r.result ORDER BY r.created_at DESC))[1] AS result
    FROM recent r LEFT JOIN answered a USING (model)
   WHERE ${hasFailed('r.result')} AND r.model <> '' AND (a.at IS NULL OR r.created_at > a.at)
   GROUP BY 1, 2 HAVING count(*) >= ${MIN}
   ORDER BY 3 DESC, 1, 2 LIMIT ${MAX}`;

/** The models that have failed again and again since they last answered, at most three; those that fail most in front. */
export const modelTroubles = (query: Query, accountId: string, since: Date): Promise<ModelTrouble[]> =>
  query<ModelTrouble>(TROUBLES, [accountId, since.toISOString()]);
