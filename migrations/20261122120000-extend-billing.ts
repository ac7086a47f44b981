import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Budgets of keys by day, week and month, and admission under them. Whoever touches money locks wallets, then keys, then
 * budgets, each in the order of their keys: no two processes ever wait for each other.
 */
export class ExtendBilling20261122120000 implements MigrationInterface {
  readonly name = 'ExtendBilling20261122120000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [BUDGETS, PERIODS, ADMIT]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** As with the functions before: a plan made while a table is small must not stay when it has grown. */
const BY_INDEX = 'SET enable_seqscan = off';

const BUDGETS = `
  -- What a key may use in a period; null: no limit.
  ALTER TABLE api_keys
    ADD COLUMN daily_budget bigint, ADD COLUMN weekly_budget bigint, ADD COLUMN monthly_budget bigint,
    ADD CONSTRAINT key_budget_is_not_negative CHECK (daily_budget >= 0 AND weekly_budget >= 0 AND monthly_budget >= 0);

  -- One period of one budget, made by the first admission in it. "limit" follows the key's budget while the period lasts;
  -- null when that was lifted.
  CREATE TABLE key_budgets (
    key_id       text NOT NULL CONSTRAINT key_budget_belongs_to_key REFERENCES api_keys (id),
    period       text NOT NULL,
    period_start date NOT NULL,
    used         bigint NOT NULL DEFAULT 0,
    held         bigint NOT NULL DEFAULT 0,
    "limit"      bigint,
    CONSTRAINT key_budget_key PRIMARY KEY (key_id, period, period_start),
    CONSTRAINT key_budget_period_is_known CHECK (period IN ('day', 'week', 'month')),
    CONSTRAINT key_budget_used_is_not_negative CHECK (used >= 0),
    CONSTRAINT key_budget_held_is_not_negative CHECK (held >= 0),
    CONSTRAINT key_budget_use_is_within_limit CHECK (used + held <= "limit")
  ) WITH (fillfactor = 70);

  -- The periods whose budgets a call counts in, decided once, by its admission; null where the key had no such budget.
  ALTER TABLE open_calls ADD COLUMN budget_day date, ADD COLUMN budget_week date, ADD COLUMN budget_month date;
  ALTER TABLE calls ADD COLUMN budget_day date, ADD COLUMN budget_week date, ADD COLUMN budget_month date;
`;

const PERIODS = `
  -- The first day of the period that a moment lies in, in UTC. Weeks start on Monday.
  CREATE FUNCTION budget_period_start(period text, moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE
    AS $$ SELECT date_trunc(period, moment AT TIME ZONE 'UTC')::date $$;

  -- Makes what is missing of the rows of this period for keys that have budgets. The keys are locked by whoever calls it,
  -- so nobody else makes the same rows.
  CREATE FUNCTION open_key_budgets(keys text[]) RETURNS void LANGUAGE sql ${BY_INDEX} AS $$
    INSERT INTO key_budgets (key_id, period, period_start, "limit")
    SELECT k.id, p.period, budget_period_start(p.period, now()), p.budget
    FROM api_keys k,
      LATERAL (VALUES ('day', k.daily_budget), ('week', k.weekly_budget), ('month', k.monthly_budget)) AS p (period, budget)
    WHERE k.id = ANY (keys) AND p.budget IS NOT NULL
    ON CONFLICT DO NOTHING
  $$;

  -- The periods in whose budgets a call counts when its own admission was lost: those of this moment.
  CREATE FUNCTION current_budgets(key text, OUT day date, OUT week date, OUT month date) LANGUAGE plpgsql ${BY_INDEX} AS $$
  BEGIN
    PERFORM open_key_budgets(ARRAY[key]);
    SELECT max(b.period_start) FILTER (WHERE b.period = 'day'), max(b.period_start) FILTER (WHERE b.period = 'week'),
           max(b.period_start) FILTER (WHERE b.period = 'month')
    INTO day, week, month
    FROM key_budgets b
    WHERE b.key_id = key AND b.period_start = budget_period_start(b.period, now()) AND b."limit" IS NOT NULL;
  END $$;
`;

/*
 * One row a call, in order: outcome 'admitted' with its hold; 'stale' when the process used an old key or catalog;
 * 'key_state', 'account_state', 'owed', 'wallet', 'key' or 'budget' when that refused it. free and on_hold are of the
 * wallet, or of the key or budget that refused, as this call met them; of an account that owes, free is minus that.
 * period: of the budget that refused.
 */
const ADMIT = `
  DROP FUNCTION admit_calls;
  CREATE FUNCTION admit_calls(batch admission[], snapshots jsonb[])
  RETURNS TABLE (outcome text, hold bigint, free bigint, on_hold bigint, holds integer, period text)
  LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    unlimited CONSTANT bigint := 9223372036854775807;
    periods CONSTANT text[] := '{day,week,month}';
    starts date[];
    catalog_now bigint;
    locked record;
    asked admission;
    wallet_ids text[] := '{}';  wallet_free bigint[] := '{}';  wallet_held bigint[] := '{}';  wallet_holds integer[] := '{}';
    wallet_owed bigint[] := '{}';  wallet_taken bigint[] := '{}';  wallet_count integer[] := '{}';
    key_ids text[] := '{}';  key_free bigint[] := '{}';  key_held bigint[] := '{}';  key_versions integer[] := '{}';
    key_usable boolean[] := '{}';  account_usable boolean[] := '{}';  key_taken bigint[] := '{}';
    -- Keys with budgets, and the budgets of key k in the places 3k - 2 to 3k; null where it has none.
    budgeted text[] := '{}';  any_budget boolean;
    budget_free bigint[] := '{}';  budget_held bigint[] := '{}';  budget_taken bigint[] := '{}';
    -- For each call its hold, null when it is not admitted, and the periods it counts in, nothing for most.
    granted bigint[] := '{}';  days date[] := '{}';  weeks date[] := '{}';  months date[] := '{}';
    w integer;
    k integer;
    b integer;
  BEGIN
    -- Lock wallets in the order of their ids; everything decided below comes from these rows as they are now.
    FOR locked IN
      SELECT t.account_id, t.balance - t.held AS left_over, t.held, t.holds, t.owed FROM wallets t
      WHERE t.account_id IN (SELECT c.account_id FROM unnest(batch) c)
      ORDER BY t.account_id FOR UPDATE
    LOOP
      wallet_ids := wallet_ids || locked.account_id;
      wallet_free := wallet_free || locked.left_over;
      wallet_held := wallet_held || locked.held;
      wallet_holds := wallet_holds || locked.holds;
      wallet_owed := wallet_owed || locked.owed;
      wallet_taken := wallet_taken || 0::bigint;
      wallet_count := wallet_count || 0;
    END LOOP;

    -- Then keys, likewise; the lock makes their state and version those that hold until this commits.
    FOR locked IN
      SELECT t.id, t.version, t.held, coalesce(t.quota - t.used - t.held, unlimited) AS left_over,
             t.state = 'enabled' AND coalesce(t.expires_at > now(), true) AS usable, a.state = 'enabled' AS account_usable,
             num_nonnulls(t.daily_budget, t.weekly_budget, t.monthly_budget) > 0 AS has_budget
      FROM api_keys t JOIN accounts a ON a.id = t.account_id
      WHERE t.id IN (SELECT c.key_id FROM unnest(batch) c)
      ORDER BY t.id FOR UPDATE OF t
    LOOP
      key_ids := key_ids || locked.id;
      key_versions := key_versions || locked.version;
      key_free := key_free || locked.left_over;
      key_held := key_held || locked.held;
      key_usable := key_usable || locked.usable;
      account_usable := account_usable || locked.account_usable;
      key_taken := key_taken || 0::bigint;
      IF locked.has_budget THEN budgeted := budgeted || locked.id; END IF;
    END LOOP;

    -- Then budgets. A batch without them is spared all of it.
    any_budget := cardinality(budgeted) > 0;
    IF any_budget THEN
      PERFORM open_key_budgets(budgeted);
      SELECT array_agg(budget_period_start(p, now())) INTO starts FROM unnest(periods) p;
      budget_free := array_fill(NULL::bigint, ARRAY[3 * cardinality(key_ids)]);
      budget_held := budget_free;
      budget_taken := array_fill(0::bigint, ARRAY[3 * cardinality(key_ids)]);
      FOR locked IN
        SELECT t.key_id, array_position(periods, t.period) AS place, t.held, t."limit" - t.used - t.held AS left_over
        FROM key_budgets t
        WHERE t.key_id = ANY (budgeted) AND t.period_start = starts[array_position(periods, t.period)]
          AND t."limit" IS NOT NULL
        ORDER BY t.key_id, t.period, t.period_start FOR UPDATE
      LOOP
        b := 3 * array_position(key_ids, locked.key_id) - 3 + locked.place;
        budget_free[b] := locked.left_over;
        budget_held[b] := locked.held;
      END LOOP;
    END IF;

    SELECT version INTO catalog_now FROM catalog_state;

    FOREACH asked IN ARRAY batch LOOP
      w := array_position(wallet_ids, asked.account_id);
      k := array_position(key_ids, asked.key_id);
      hold := NULL;  free := wallet_free[w];  on_hold := wallet_held[w];  holds := wallet_holds[w];  period := NULL;
      IF w IS NULL OR k IS NULL OR NOT key_usable[k] THEN
        outcome := 'key_state';
      ELSIF NOT account_usable[k] THEN
        outcome := 'account_state';
      ELSIF wallet_owed[w] > 0 THEN
        outcome := 'owed';  free := -wallet_owed[w];
      ELSIF key_versions[k] <> asked.key_version OR catalog_now <> asked.catalog_version THEN
        outcome := 'stale';
      ELSE
        hold := least(asked.ceiling, greatest(asked.base, asked.prompt + free / 8), free, key_free[k]);
        IF any_budget THEN
          hold := least(hold, budget_free[3 * k - 2], budget_free[3 * k - 1], budget_free[3 * k]);
        END IF;
        -- A call that does not fit takes nothing from those behind it.
        IF hold < asked.minimum THEN
          outcome := 'wallet';
          IF key_free[k] < free THEN
            outcome := 'key';  free := key_free[k];  on_hold := key_held[k];
          END IF;
          IF any_budget THEN
            FOR p IN 1 .. 3 LOOP
              b := 3 * k - 3 + p;
              IF budget_free[b] < free THEN
                outcome := 'budget';  free := budget_free[b];  on_hold := budget_held[b];  period := periods[p];
              END IF;
            END LOOP;
          END IF;
          hold := NULL;
        ELSE
          outcome := 'admitted';
          wallet_free[w] := wallet_free[w] - hold;
          wallet_held[w] := wallet_held[w] + hold;
          wallet_holds[w] := wallet_holds[w] + 1;
          wallet_taken[w] := wallet_taken[w] + hold;
          wallet_count[w] := wallet_count[w] + 1;
          IF key_free[k] <> unlimited THEN key_free[k] := key_free[k] - hold; END IF;
          key_held[k] := key_held[k] + hold;
          key_taken[k] := key_taken[k] + hold;
          IF any_budget THEN
            FOR b IN 3 * k - 2 .. 3 * k LOOP
              budget_free[b] := budget_free[b] - hold;
              budget_held[b] := budget_held[b] + hold;
              budget_taken[b] := budget_taken[b] + hold;
            END LOOP;
            b := cardinality(granted) + 1;
            days[b] := CASE WHEN budget_free[3 * k - 2] IS NOT NULL THEN starts[1] END;
            weeks[b] := CASE WHEN budget_free[3 * k - 1] IS NOT NULL THEN starts[2] END;
            months[b] := CASE WHEN budget_free[3 * k] IS NOT NULL THEN starts[3] END;
          END IF;
        END IF;
      END IF;
      granted := granted || hold;
      RETURN NEXT;
    END LOOP;

    IF any_budget THEN
      UPDATE key_budgets t SET held = t.held + n.taken
      FROM (SELECT key_ids[(u.place + 2) / 3] AS key_id, (u.place - 1) % 3 + 1 AS p, u.taken
            FROM unnest(budget_taken) WITH ORDINALITY AS u (taken, place)) AS n
      WHERE t.key_id = n.key_id AND t.period = periods[n.p] AND t.period_start = starts[n.p] AND n.taken > 0
        AND t."limit" IS NOT NULL;
    END IF;

    -- One statement writes all the rest: each has its price. Each row is written once, with its sum: UPDATE … FROM with
    -- two rows for one wallet would apply only one of them.
    WITH wallet_rows AS (
      UPDATE wallets t SET held = t.held + n.taken, holds = t.holds + n.calls
      FROM unnest(wallet_ids, wallet_taken, wallet_count) AS n (id, taken, calls)
      WHERE t.account_id = n.id AND n.calls > 0
    ), key_rows AS (
      UPDATE api_keys t SET held = t.held + n.taken
      FROM unnest(key_ids, key_taken) AS n (id, taken)
      WHERE t.id = n.id AND n.taken > 0
    )
    INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream,
      effort, ip, snapshot, budget_day, budget_week, budget_month)
    SELECT c.id, c.account_id, c.key_id, granted[c.ordinality], c.process_id, c.model, c.created_at, c.group_name,
      c.protocol, c.stream, c.effort, c.ip, snapshots[c.snapshot], days[c.ordinality], weeks[c.ordinality],
      months[c.ordinality]
    FROM unnest(batch) WITH ORDINALITY AS c
    WHERE granted[c.ordinality] IS NOT NULL;
  END $$;
`;
