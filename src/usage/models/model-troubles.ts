import { type CallResult, hasFailed, resultOf } from '../calls/call-result.js';
import type { Query } from '../time-limited-reads.js';

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
