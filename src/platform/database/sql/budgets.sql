-- Budgets of keys by day, week and month.

-- The first day of the period that contains a moment, in UTC. Weeks start on Monday.
CREATE OR REPLACE FUNCTION budget_period_start(period text, moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT date_trunc(period, moment AT TIME ZONE 'UTC')::date
$$;

-- Inserts the missing rows of the current periods for keys that have budgets. The caller has locked the keys, so no
-- other transaction inserts the same rows.
CREATE OR REPLACE FUNCTION open_key_budgets(keys text[]) RETURNS void LANGUAGE sql SET enable_seqscan = off AS $$
  INSERT INTO key_budgets (key_id, period, period_start, "limit")
  SELECT k.id, p.period, budget_period_start(p.period, now()), p.budget
  FROM api_keys k,
    LATERAL (VALUES ('day', k.daily_budget), ('week', k.weekly_budget), ('month', k.monthly_budget)) AS p (period, budget)
  WHERE k.id = ANY (keys) AND p.budget IS NOT NULL
  ON CONFLICT DO NOTHING
$$;

-- The periods whose budgets a call counts in when its own admission was lost: the current ones.
CREATE OR REPLACE FUNCTION current_budgets(key text, OUT day date, OUT week date, OUT month date)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  PERFORM open_key_budgets(ARRAY[key]);
  SELECT max(b.period_start) FILTER (WHERE b.period = 'day'), max(b.period_start) FILTER (WHERE b.period = 'week'),
         max(b.period_start) FILTER (WHERE b.period = 'month')
  INTO day, week, month
  FROM key_budgets b
  WHERE b.key_id = key AND b.period_start = budget_period_start(b.period, now()) AND b."limit" IS NOT NULL;
END $$;
