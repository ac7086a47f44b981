import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { formatUsd } from '../platform/shared/index.js';

export interface LedgerReport {
  readonly exact: boolean;
  /** One line per figure that differs from its entries and calls. */
  readonly differences: readonly string[];
}

/** Result of a rule's query: subjects whose figures differ. Integers as text. */
interface DifferenceRow {
  readonly subject: string;
  readonly stored: string;
  readonly expected: string;
}

/** Recomputes every balance, hold and usage from the underlying records. */
@Injectable()
export class LedgerCheck {
  constructor(private readonly dataSource: DataSource) {}

  /** Compares a consistent snapshot while calls go on. */
  run(): Promise<LedgerReport> {
    return this.dataSource.transaction('REPEATABLE READ', async (manager) => {
      const differences: string[] = [];
      for (const rule of LEDGER_RULES) {
        const rows = await manager.query<DifferenceRow[]>(rule.sql);
        differences.push(...rows.map((row) => describe(rule, row)));
      }
      return { exact: differences.length === 0, differences };
    });
  }
}

function describe({ what, source, unit }: LedgerRule, { subject, stored, expected }: DifferenceRow): string {
  const [is, shouldBe] = [stored, expected].map((text) => (unit === 'usd' ? `$${formatUsd(BigInt(text))}` : text));
  return `${what} ${subject} is ${is}, but ${source} ${shouldBe}`;
}

/** A stored figure and how to derive it from other rows. The query returns the rows that differ. */
interface LedgerRule {
  /** Precedes the subject: "The balance of wallet acc_…". */
  readonly what: string;
  /** Precedes the computed figure. */
  readonly source: string;
  readonly unit: 'usd' | 'count';
  /** Returns `subject`, `stored`, `expected`. */
  readonly sql: string;
}

/**
 * Subjects whose figures differ between two queries of `subject` and `figure`. A missing subject counts as 0: the full
 * join also finds ledger lines of accounts without a wallet.
 */
const differing = (stored: string, computed: string): string => `
  SELECT subject, coalesce(s.figure, 0)::text AS stored, coalesce(c.figure, 0)::text AS expected
    FROM (${stored}) AS s FULL JOIN (${computed}) AS c USING (subject)
   WHERE coalesce(s.figure, 0) <> coalesce(c.figure, 0) ORDER BY subject`;

/** Payments net of refunds and disputes, recomputed from the ledger. */
const PAYMENT_RULES: readonly LedgerRule[] = [
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

/**
 * Amounts taken by calls, and by debts paid from their released holds, since an allowance was granted: as recorded and
 * as in the ledger. Totals are compared instead of times, because clocks may have been set.
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
const ALLOWANCE_RULES: readonly LedgerRule[] = [
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

/** Amounts of calls per budget: one row per call and budget. */
const inBudgets = (table: 'open_calls' | 'calls', amount: string): string => `
  SELECT split_part(n, ' ', 1) AS holder_id, split_part(n, ' ', 2) AS period, split_part(n, ' ', 3) AS start,
         c.${amount} AS amount
    FROM ${table} c, unnest(budget_names(c.key_id, c.budget_day, c.budget_week, c.budget_month, c.member_id, c.team_id,
                                         c.counted_on)) n`;

/** Compares a stored figure of each budget with the sum over its calls. */
const budgetsDiffering = (figure: 'held' | 'used', counted: string): string =>
  differing(
    `SELECT holder_id || ', ' || period || ' from ' || period_start AS subject, ${figure} AS figure FROM budgets`,
    `SELECT c.holder_id || ', ' || c.period || ' from ' || c.start AS subject, sum(c.amount) AS figure
       FROM (${counted}) c GROUP BY 1`,
  );

/*
 * Dropped months keep only totals. Entries written before the end of the last dropped month have no calls left, so they
 * are compared as one sum per wallet. They cannot change: the ledger is append-only.
 */
const DROPPED_UNTIL = `(SELECT (max(month) + interval '1 month') AT TIME ZONE 'UTC' FROM dropped_calls)`;
const EARLIER = `'by the entries of dropped months'`;

/** Spending of organizations by member and team. */
const ORGANIZATION_RULES: readonly LedgerRule[] = [
  {
    what: 'The part of a ledger line',
    source: 'its calls cost',
    unit: 'usd',
    sql: differing(
      `SELECT 'of entry ' || e.id || ' of ' || p.account_id || ' for ' || p.member_id || ' ' || p.team_id AS subject, -sum(p.amount) AS figure
         FROM ledger_line_parts p JOIN ledger_entries e ON e.id = p.entry_id
        WHERE (e.created_at >= ${DROPPED_UNTIL}) IS NOT FALSE GROUP BY 1`,
      `SELECT 'of entry ' || c.entry_id || ' of ' || c.account_id || ' for ' || coalesce(c.member_id, '') || ' '
                || coalesce(c.team_id, '') AS subject, sum(c.cost) AS figure
         FROM calls c JOIN ledger_entries e ON e.id = c.entry_id
        WHERE c.counted_on IS NOT NULL AND (e.created_at >= ${DROPPED_UNTIL}) IS NOT FALSE GROUP BY 1`,
    ),
  },
  {
    what: 'The spending of all members of organization',
    source: 'the ledger, without service keys, shows',
    unit: 'usd',
    sql: differing(
      `SELECT m.organization_id AS subject, sum(b.used) AS figure
         FROM members m JOIN budgets b ON b.holder_id = m.id AND b.period = 'lifetime' GROUP BY 1`,
      `SELECT s.subject, sum(s.figure) AS figure
         FROM (SELECT substr(l.ledger_account, 8) AS subject, -l.amount AS figure
                 FROM ledger_lines l JOIN ledger_entries e ON e.id = l.entry_id AND e.kind = 'calls'
                 JOIN organizations o ON l.ledger_account = 'wallet:' || o.id
               UNION ALL
               SELECT c.account_id, -c.cost FROM calls c JOIN organizations o ON o.id = c.account_id
                WHERE c.member_id IS NULL
               UNION ALL
               SELECT d.account_id, -d.cost FROM dropped_calls d JOIN organizations o ON o.id = d.account_id
               UNION ALL
               SELECT m.organization_id, d.used FROM dropped_budget_use d JOIN members m ON m.id = d.holder_id
                WHERE d.period = 'lifetime') s
        GROUP BY 1`,
    ),
  },
];

/** One rule per stored amount. Sums are numeric in PostgreSQL and always integers. */
const LEDGER_RULES: readonly LedgerRule[] = [
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
    what: 'The amount on hold on the budget of',
    source: 'its open calls hold',
    unit: 'usd',
    sql: budgetsDiffering('held', inBudgets('open_calls', 'hold')),
  },
  {
    what: 'The usage of the budget of',
    source: 'its calls cost',
    unit: 'usd',
    sql: budgetsDiffering(
      'used',
      `${inBudgets('calls', 'cost')} UNION ALL SELECT holder_id, period, period_start::text, used FROM dropped_budget_use`,
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
  ...ORGANIZATION_RULES,
  ...ALLOWANCE_RULES,
  ...PAYMENT_RULES,
];
