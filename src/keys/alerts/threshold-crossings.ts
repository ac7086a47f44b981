import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { DEFAULT_ALERTS, thresholdsOf } from './account-notices.js';

/**
 * Compares all thresholds of the accounts $7 with current figures. $1 to $6: defaults for accounts without saved
 * settings. A crossed threshold is a row that exists while it is crossed, so that one email is sent. A cleared
 * threshold loses its row and can be crossed again. Holds do not count: they are upper bounds and are released, so that
 * large calls would cross thresholds repeatedly.
 */
const UPDATE_CROSSINGS = `
  WITH rules AS (
    SELECT a.id AS account_id, a.state = 'enabled' AND a.verified_at IS NOT NULL AS reachable,
           coalesce(s.wallet_below, $1::bigint) AS wallet_below,
           coalesce(s.quota_percent, $2::integer) AS quota_percent, coalesce(s.quota_used_up, $3::boolean) AS quota_used_up,
           coalesce(s.budget_percent, $4::integer) AS budget_percent, coalesce(s.budget_used_up, $5::boolean) AS budget_used_up,
           coalesce(s.expiry_days, $6::integer) AS expiry_days
      FROM accounts a LEFT JOIN alert_settings s ON s.account_id = a.id
     WHERE a.id = ANY ($7::text[]) AND a.state <> 'deleted'
  ),
  -- A disabled key keeps what it has crossed, but crosses nothing new.
  keys AS (
    SELECT id, account_id, quota, used, daily_budget, weekly_budget, monthly_budget, expires_at,
           state = 'enabled' AND coalesce(expires_at > now(), true) AS usable
      FROM api_keys WHERE account_id = ANY ($7::text[]) AND state <> 'deleted'
  ),
  limits AS (
    SELECT account_id, id AS key_id, usable, 'quota' AS kind, NULL AS period, NULL::date AS period_start, quota AS top, used
      FROM keys WHERE quota > 0
    UNION ALL
    SELECT k.account_id, k.id, k.usable, 'budget', p.period, b.period_start, p.budget, b.used
      FROM keys k
     CROSS JOIN LATERAL (VALUES ('day', k.daily_budget), ('week', k.weekly_budget), ('month', k.monthly_budget))
        AS p (period, budget)
     -- One row, by its key: there is one for each period that ever was.
     CROSS JOIN LATERAL (SELECT period_start, used FROM budgets
                          WHERE holder_id = k.id AND period = p.period AND period_start = budget_period_start(p.period, now())
                          LIMIT 1) b
     WHERE p.budget > 0
  ),
  -- Crossed limits only: of many limits few are, and the rest is computed for these alone.
  measured AS (
    SELECT l.account_id, l.key_id, l.kind, coalesce(l.period || ' ' || l.period_start, '') AS occasion,
           r.reachable AND l.usable AS notifies, m.is_crossed, m.is_used_up,
           jsonb_strip_nulls(jsonb_build_object('used', l.used::text, 'top', l.top::text, 'period', l.period,
             'resetsAt', (l.period_start + ('1 ' || l.period)::interval) AT TIME ZONE 'UTC')) AS facts
      FROM limits l JOIN rules r USING (account_id)
     CROSS JOIN LATERAL (
       SELECT CASE l.kind WHEN 'quota' THEN r.quota_percent ELSE r.budget_percent END AS percent,
              CASE l.kind WHEN 'quota' THEN r.quota_used_up ELSE r.budget_used_up END AS used_up_notifies) t
     CROSS JOIN LATERAL (
       SELECT t.percent > 0 AND l.used::numeric * 100 >= l.top::numeric * t.percent AS is_crossed,
              -- The last of a limit is seldom spent to the nano: what does not fit into it is refused.
              t.used_up_notifies AND l.used >= l.top - l.top / 1000 AS is_used_up) m
     WHERE m.is_crossed OR m.is_used_up
  ),
  crossed AS MATERIALIZED (
    SELECT r.account_id, '' AS key_id, 'wallet' AS kind, '' AS occasion, r.reachable AS notifies, false AS superseded,
           jsonb_build_object('balance', w.balance::text, 'below', r.wallet_below::text) AS facts
      FROM rules r JOIN wallets w USING (account_id) WHERE w.balance < r.wallet_below
    UNION ALL
    -- One notification per limit, even when it was filled between two scans.
    SELECT account_id, key_id, kind, occasion, notifies, is_used_up, facts FROM measured WHERE is_crossed
    UNION ALL
    SELECT account_id, key_id, kind || '-used-up', occasion, notifies, false, facts FROM measured WHERE is_used_up
    UNION ALL
    SELECT k.account_id, k.id, 'expiry', to_char(k.expires_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
           r.reachable AND k.usable, false, jsonb_build_object('expiresAt', k.expires_at)
      FROM keys k JOIN rules r USING (account_id)
     WHERE k.expires_at > now() AND k.expires_at <= now() + make_interval(days => r.expiry_days)
  ),
  -- Compared with all of "crossed" at once: one row after the other would take the square of how many there are.
  cleared AS (
    DELETE FROM alerts a
     WHERE a.account_id = ANY ($7::text[]) AND a.kind NOT IN ('new-network', 'unusual-volume')
       AND NOT EXISTS (SELECT FROM crossed c WHERE c.account_id = a.account_id AND c.key_id = a.key_id
                                               AND c.kind = a.kind AND c.occasion = a.occasion)
  ),
  obsolete AS (
    DELETE FROM alerts a USING api_keys k
     WHERE a.account_id = ANY ($7::text[]) AND a.kind IN ('new-network', 'unusual-volume')
       AND k.id = a.key_id AND k.state = 'deleted'
  )
  INSERT INTO alerts AS a (account_id, key_id, kind, occasion, facts, state)
  SELECT c.account_id, c.key_id, c.kind, c.occasion, c.facts, s.state
    FROM crossed c CROSS JOIN LATERAL (SELECT CASE WHEN c.superseded THEN 'unneeded' ELSE 'due' END AS state) s
   WHERE c.notifies
     -- What stays as it is is left alone: a conflict alone would lock its row, and write that.
     AND NOT EXISTS (SELECT FROM alerts o WHERE o.account_id = c.account_id AND o.key_id = c.key_id
                        AND o.kind = c.kind AND o.occasion = c.occasion
                        AND (o.state <> 'due' OR (o.facts, o.state) = (c.facts, s.state)))
  -- What could not be sent yet says how things stand when it is.
  ON CONFLICT ON CONSTRAINT alert_is_raised_once DO UPDATE SET facts = excluded.facts, state = excluded.state
     WHERE a.state = 'due'`;

/** Crossed thresholds, one row each. */
@Injectable()
export class ThresholdCrossings {
  /** Compares these accounts with their thresholds: new crossings become due, cleared ones are deleted. */
  async update(accountIds: readonly string[], manager: EntityManager): Promise<void> {
    await manager.query(UPDATE_CROSSINGS, [...thresholdsOf(DEFAULT_ALERTS), accountIds]);
  }
}

/** Scan checkpoint. */
export interface ScanProgress {
  /** Accounts with changes before this time were scanned. */
  readonly balancesUntil: Date;
  /** Last account of the rotation. */
  readonly scannedTo: string;
  /** Ms until the next scan may run; 0 or less: now. */
  readonly waitMs: number;
}

/** Pause after a scan: the larger of both. */
interface ScanPause {
  /** Min pause. */
  readonly ms: number;
  /** Multiple of the scan's duration. */
  readonly times: number;
}

/** Longer than any statement takes; limits waiting for locks. */
const STATEMENT_LIMIT_MS = 30_000;

const PROGRESS = `
  SELECT moved_until AS "balancesUntil", looked_to AS "scannedTo",
         extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs"
    FROM alert_looks`;

/** By the database's clock: IDs contain the clock of the process that created them. */
const CHANGED_BALANCES = `
  SELECT DISTINCT substr(l.ledger_account, length('wallet:') + 1) AS id
    FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
   WHERE e.entered_at >= $1 AND starts_with(l.ledger_account, 'wallet:')`;

const TAKE_RECHECKS = `
  WITH taken AS (DELETE FROM alert_rechecks RETURNING account_id)
  SELECT DISTINCT account_id AS id FROM taken`;

const NEXT_IN_ROTATION = 'SELECT id FROM accounts WHERE id > $1 ORDER BY id LIMIT $2';

/** now() is the start of the scan; later changes are found by the next one. */
const SAVE_PROGRESS = `
  WITH advanced AS (
    UPDATE alert_looks SET moved_until = now(), looked_to = $1,
           next_at = clock_timestamp() + greatest($2 * interval '1 ms', $3 * (clock_timestamp() - now()))
    RETURNING next_at
  )
  SELECT extract(epoch FROM next_at - clock_timestamp())::float8 * 1000 AS "waitMs" FROM advanced`;

/** Selects the accounts to scan, and stores the checkpoint. A scan is one transaction. */
@Injectable()
export class ThresholdScans {
  /** For the rest of the transaction. The transaction itself has no timeout: it idles while batches run. */
  async limitStatements(manager: EntityManager): Promise<void> {
    await manager.query(
      `SET LOCAL statement_timeout = ${STATEMENT_LIMIT_MS}; SET LOCAL idle_in_transaction_session_timeout = 0`,
    );
  }

  async progress(manager: EntityManager): Promise<ScanProgress> {
    return only(await manager.query<ScanProgress[]>(PROGRESS));
  }

  /** Accounts with ledger entries since then. */
  withChangedBalance(since: Date, manager: EntityManager): Promise<readonly string[]> {
    return ids(CHANGED_BALANCES, [since], manager);
  }

  /** Accounts that changed a threshold or limit or created a key; each is returned once. */
  takeRechecks(manager: EntityManager): Promise<readonly string[]> {
    return ids(TAKE_RECHECKS, [], manager);
  }

  /** The next accounts of the rotation. */
  nextInRotation(after: string, limit: number, manager: EntityManager): Promise<readonly string[]> {
    return ids(NEXT_IN_ROTATION, [after, limit], manager);
  }

  /** Ends a scan. @returns ms until the next scan may run */
  async saveProgress(scannedTo: string, { ms, times }: ScanPause, manager: EntityManager): Promise<number> {
    return only(await manager.query<{ waitMs: number }[]>(SAVE_PROGRESS, [scannedTo, ms, times])).waitMs;
  }
}

function only<Row>([row]: readonly Row[]): Row {
  if (row === undefined) throw new Error('The table alert_looks must have one row.');
  return row;
}

async function ids(sql: string, values: unknown[], manager: EntityManager): Promise<readonly string[]> {
  const rows = await manager.query<{ id: string }[]>(sql, values);
  return rows.map(({ id }) => id);
}
