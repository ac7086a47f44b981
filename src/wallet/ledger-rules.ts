import { ALLOWANCE_RULES } from './allowance/allowance-rules.js';
import { PAYMENT_RULES } from './payments/payment-rules.js';
import { differing, type LedgerRule } from './ledger-rule.js';

/** Amounts of calls per budget: one row per call and budget. */
const inBudgets = (table: 'open_calls' | 'calls', amount: string): string => `
  SELECT c.key_id, p.period, p.start, c.${amount} AS amount
    FROM ${table} c,
         LATERAL (VALUES ('day', c.budget_day), ('week', c.budget_week), ('month', c.budget_month)) AS p (period, start)
   WHERE p.start IS NOT NULL`;

/** Compares a stored figure of each budget with the sum over its calls. */
const budgetsDiffering = (figure: 'held' | 'used', counted: string): string =>
  differing(
    `SELECT key_id || ', ' || period || ' from ' || period_start AS subject, ${figure} AS figure FROM key_budgets`,
    `SELECT c.key_id || ', ' || c.period || ' from ' || c.start AS subject, sum(c.amount) AS figure
       FROM (${counted}) c GROUP BY 1`,
  );

/*
 * Dropped months keep only totals. Entries written before the end of the last dropped month have no calls left, so they
 * are compared as one sum per wallet. They cannot change: the ledger is append-only.
 */
const DROPPED_UNTIL = `(SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' FROM dropped_calls)`;
const EARLIER = `'by the entries of dropped months'`;

/** One rule per stored amount. Sums are numeric in PostgreSQL and always integers. */
export const LEDGER_RULES: readonly LedgerRule[] = [
  {
    what: 'The balance of wallet',
    source: 'its ledger lines sum to',
    unit: 'usd',
    sql: differing(
      'SELECT account_id AS subject, balance AS figure FROM wallets',
      `SELECT substr(ledger_account, 8) AS subject, sum(amount) AS figure
         FROM ledger_lines WHERE ledger_account LIKE 'wallet:%' GROUP BY 1`,
    ),
  },
  {
    what: 'The sum of ledger entry',
    source: 'every entry sums to',
    unit: 'usd',
    sql: `
      SELECT entry_id AS subject, sum(amount)::text AS stored, '0' AS expected
        FROM ledger_lines GROUP BY entry_id HAVING sum(amount) <> 0 ORDER BY 1`,
  },
  {
    what: 'The amount on hold in wallet',
    source: 'its open calls hold',
    unit: 'usd',
    sql: differing(
      'SELECT account_id AS subject, held AS figure FROM wallets',
      'SELECT account_id AS subject, sum(hold) AS figure FROM open_calls GROUP BY 1',
    ),
  },
  {
    what: 'The number of holds on wallet',
    source: 'the number of its open calls is',
    unit: 'count',
    sql: differing(
      'SELECT account_id AS subject, holds AS figure FROM wallets',
      'SELECT account_id AS subject, count(*) AS figure FROM open_calls GROUP BY 1',
    ),
  },
  {
    what: 'The amount on hold on key',
    source: 'its open calls hold',
    unit: 'usd',
    sql: differing(
      'SELECT id AS subject, held AS figure FROM api_keys',
      'SELECT key_id AS subject, sum(hold) AS figure FROM open_calls GROUP BY 1',
    ),
  },
  {
    what: 'The usage of key',
    source: 'its calls cost',
    unit: 'usd',
    sql: differing(
      'SELECT id AS subject, used AS figure FROM api_keys',
      `SELECT key_id AS subject, sum(cost) AS figure
         FROM (SELECT key_id, cost FROM calls UNION ALL SELECT key_id, cost FROM dropped_calls) c GROUP BY 1`,
    ),
  },
  {
    what: 'The ledger charge for calls',
    source: 'these calls cost',
    unit: 'usd',
    sql: differing(
      `SELECT CASE WHEN e.created_at < ${DROPPED_UNTIL} THEN ${EARLIER} ELSE 'by entry ' || e.id END
                || ' from ' || l.ledger_account AS subject, -sum(l.amount) AS figure
         FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
        WHERE e.kind = 'calls' AND l.ledger_account LIKE 'wallet:%' GROUP BY 1`,
      `SELECT CASE WHEN c.earlier OR e.created_at < ${DROPPED_UNTIL} THEN ${EARLIER}
                   ELSE coalesce('by entry ' || c.entry_id, 'without an entry') END
                || ' from wallet:' || c.account_id AS subject, sum(c.cost) AS figure
         FROM (SELECT entry_id, account_id, cost, false AS earlier FROM calls
               UNION ALL SELECT entry_id, account_id, cost, entry_id = '' FROM dropped_calls) c
         LEFT JOIN ledger_entries e ON e.id = c.entry_id GROUP BY 1`,
    ),
  },
  {
    what: 'The debt of account',
    source: 'its ledger account shows',
    unit: 'usd',
    sql: differing(
      'SELECT account_id AS subject, owed AS figure FROM wallets',
      `SELECT substr(ledger_account, 6) AS subject, -sum(amount) AS figure
         FROM ledger_lines WHERE ledger_account LIKE 'owed:%' GROUP BY 1`,
    ),
  },
  {
    what: 'The amount on hold on the budget of key',
    source: 'its open calls hold',
    unit: 'usd',
    sql: budgetsDiffering('held', inBudgets('open_calls', 'hold')),
  },
  {
    what: 'The usage of the budget of key',
    source: 'its calls cost',
    unit: 'usd',
    sql: budgetsDiffering(
      'used',
      `${inBudgets('calls', 'cost')} UNION ALL SELECT key_id, period, period_start, used FROM dropped_budget_use`,
    ),
  },
  {
    what: 'The amount collected for call',
    source: 'its settlement failed, and it cost',
    unit: 'usd',
    sql: `
      SELECT call_id AS subject, '0' AS stored, call ->> 'cost' AS expected
        FROM settlement_failures WHERE resolved_at IS NULL ORDER BY failed_at`,
  },
  ...ALLOWANCE_RULES,
  ...PAYMENT_RULES,
];
