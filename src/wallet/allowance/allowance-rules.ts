import { differing, type LedgerRule } from '../ledger-rule.js';

/**
 * What left the wallet of an account since its allowance was given, by calls and by debts that were paid of what they
 * released: what is recorded against what the ledger says. An entry has the time at which its transaction began; one that
 * waited for the wallet while the allowance was given, or ended, may have begun before. No transaction waits for ten
 * minutes: entries within those may count or not, all others must or must not.
 */
const SPENT = `
  SELECT subject, spent::text AS stored, least(greatest(spent, surely), surely + perhaps)::text AS expected
    FROM (
      SELECT m.account_id || ' for ' || to_char(m.month, 'YYYY-MM') AS subject,
             m.spent + CASE WHEN m.ended_at IS NULL THEN m.wallet_balance - w.balance ELSE 0 END AS spent,
             coalesce(sum(-l.amount) FILTER (WHERE e.created_at >= m.given_at
               AND (m.ended_at IS NULL OR e.created_at < m.ended_at - interval '10 minutes')), 0) AS surely,
             coalesce(sum(-l.amount) FILTER (WHERE e.created_at < m.given_at
               OR e.created_at >= m.ended_at - interval '10 minutes'), 0) AS perhaps
        FROM allowance_months m JOIN wallets w ON w.account_id = m.account_id
        LEFT JOIN (ledger_lines l JOIN ledger_entries e ON e.id = l.entry_id AND e.kind IN ('calls', 'owed'))
          ON l.ledger_account = 'wallet:' || m.account_id AND e.created_at >= m.given_at - interval '10 minutes'
             AND (m.ended_at IS NULL OR e.created_at <= m.ended_at)
       GROUP BY m.account_id, m.month, w.balance
    ) AS compared
   WHERE spent NOT BETWEEN surely AND surely + perhaps ORDER BY subject`;

/** What allowances moved and how far they were spent, recomputed from the ledger. */
export const ALLOWANCE_RULES: readonly LedgerRule[] = [
  {
    what: 'What an allowance moved',
    source: 'its month says',
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
  { what: 'What was spent since the allowance of', source: 'the ledger says', unit: 'usd', sql: SPENT },
];
