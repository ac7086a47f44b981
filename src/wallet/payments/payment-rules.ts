import { differing, type LedgerRule } from '../ledger-rule.js';

/** Payments net of refunds and disputes, recomputed from the ledger. */
export const PAYMENT_RULES: readonly LedgerRule[] = [
  {
    what: 'The amount received by payment',
    source: 'its ledger entries sum to',
    unit: 'usd',
    sql: differing(
      'SELECT id AS subject, amount - taken_back AS figure FROM top_ups WHERE paid_at IS NOT NULL',
      `SELECT t.top_up_id AS subject, -sum(l.amount) AS figure
         FROM top_up_entries t JOIN ledger_lines l ON l.entry_id = t.entry_id AND l.ledger_account = 'payments'
        GROUP BY 1`,
    ),
  },
];
