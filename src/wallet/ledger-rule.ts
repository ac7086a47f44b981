/** A figure that is stored, and how it follows from other rows. The query returns the rows where the two differ. */
export interface LedgerRule {
  /** Reads before the subject: "The balance of wallet acc_…". */
  readonly what: string;
  /** Reads before the figure that was computed. */
  readonly source: string;
  readonly unit: 'usd' | 'count';
  /** Returns `subject`, `stored`, `expected`. */
  readonly sql: string;
}

/**
 * The subjects for which two queries, each of `subject` and `figure`, do not say the same. Who is missing in one counts
 * as 0 there: the full join also finds ledger lines of an account that has no wallet at all.
 */
export const differing = (stored: string, computed: string): string => `
  SELECT subject, coalesce(s.figure, 0)::text AS stored, coalesce(c.figure, 0)::text AS expected
    FROM (${stored}) AS s FULL JOIN (${computed}) AS c USING (subject)
   WHERE coalesce(s.figure, 0) <> coalesce(c.figure, 0) ORDER BY subject`;
