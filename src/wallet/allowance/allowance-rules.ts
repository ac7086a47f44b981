import { differing, type LedgerRule } from '../ledger-rule.js';

/**
 * The amount that left a wallet since its allowance was given, by calls and by debts paid out of what they released: as
 * recorded and as in the ledger. No times are compared, because the clock may have stepped: an allowance begins and
 * ends at the total that had left the wallet until then.
 */
const SPENT = differing(
  `SELECT m.account_id || ' for ' || to_char(m.month, 'YYYY-MM') AS subject,
          m.spent + CASE WHEN m.ended_at IS NULL THEN m.wallet_balance - w.balance ELSE 0 END AS figure
     FROM allowance_months m JOIN wallets w ON w.account_id = m.account_id`,
  `SELECT m.account_id || ' for ' || to_char(m.month, 'YYYY-MM') AS subject,
          coalesce(m.taken_after, t.taken, 0) - m.taken_before AS figure
     FROM allowance_months m LEFT JOIN (
       SELECT l.ledger_account, -sum(l.amount) AS taken
         FROM ledger_lines l JOIN ledger_entries e ON e.id = l.entry_id AND e.kind IN ('calls', 'owed')
        WHERE l.ledger_account IN (SELECT 'wallet:' || account_id FROM allowance_months WHERE ended_at IS NULL)
        GROUP BY 1
     ) AS t ON t.ledger_account = 'wallet:' || m.account_id`,
);

/** Amounts granted, expired and spent of allowances, recomputed from the ledger. */
export const ALLOWANCE_RULES: readonly LedgerRule[] = [
  {
    what: 'The amount moved by an allowance',
    source: 'its month shows',
    unit: 'usd',
    sql: differing(
      `SELECT 'by entry ' || e.id || ' of ' || split_part(l.ledger_account, ':', 2) AS subject, sum(l.amount) AS figure
         FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
        WHERE e.kind IN ('allowance', 'expiry') AND l.ledger_account <> 'allowance' GROUP BY 1`,
      `SELECT 'by entry ' || m.id || ' of ' || m.account_id AS subject, m.amount AS figure
         FROM (SELECT entry_id, account_id, granted FROM allowance_months
               UNION ALL SELECT expiry_entry_id, account_id, -expired FROM allowance_months WHERE expired > 0
              ) AS m (id, account_id, amount)`,
    ),
  },
  { what: 'The amount spent since the allowance of', source: 'the ledger shows', unit: 'usd', sql: SPENT },
];
