-- Budgets of keys, members and teams. Those of keys are by day, week and month, and exist only where the key has one.
-- Members and teams count every call, in its day, week, month and lifetime; "limit" is null where they have no budget.

-- The first day of the period that contains a moment, in UTC. Weeks start on Monday; a lifetime has no first day.
CREATE OR REPLACE FUNCTION budget_period_start(period text, moment timestamptz) RETURNS date LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE period WHEN 'lifetime' THEN '-infinity' ELSE date_trunc(period, moment AT TIME ZONE 'UTC')::date END
$$;

-- Whether a membership allows calls: roles with the permission 'use keys' (auth/scope.ts).
CREATE OR REPLACE FUNCTION may_use_keys(state text, role text) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT state = 'active' AND role IN ('owner', 'admin', 'member')
$$;

-- Inserts the missing rows of the current periods for keys that have budgets. The caller has locked the keys, so no
-- other transaction inserts the same rows.
CREATE OR REPLACE FUNCTION open_key_budgets(keys text[]) RETURNS void LANGUAGE sql SET enable_seqscan = off AS $$
  INSERT INTO budgets (holder_id, period, period_start, "limit")
  SELECT k.id, p.period, budget_period_start(p.period, now()), p.budget
  FROM api_keys k,
    LATERAL (VALUES ('day', k.daily_budget), ('week', k.weekly_budget), ('month', k.monthly_budget)) AS p (period, budget)
  WHERE k.id = ANY (keys) AND p.budget IS NOT NULL
  ON CONFLICT DO NOTHING
$$;

-- The same for members and teams. The caller has locked the wallet of their organization; so has whoever changes their
-- budgets.
CREATE OR REPLACE FUNCTION open_member_budgets(holders text[]) RETURNS void LANGUAGE sql SET enable_seqscan = off AS $$
  INSERT INTO budgets (holder_id, period, period_start, "limit")
  SELECT h.id, p.period, budget_period_start(p.period, now()), p.budget
  FROM (
    SELECT id, quota, daily_budget, weekly_budget, monthly_budget FROM members WHERE id = ANY (holders)
    UNION ALL
    SELECT id, quota, daily_budget, weekly_budget, monthly_budget FROM teams WHERE id = ANY (holders)
  ) h,
    LATERAL (VALUES ('lifetime', h.quota), ('day', h.daily_budget), ('week', h.weekly_budget),
                    ('month', h.monthly_budget)) AS p (period, budget)
  ON CONFLICT DO NOTHING
$$;

-- What a call counts in when its own admission was lost: the current periods, and the present member and team.
CREATE OR REPLACE FUNCTION current_counts(key text, OUT day date, OUT week date, OUT month date, OUT member_id text,
  OUT team_id text, OUT counted_on date)
LANGUAGE plpgsql SET enable_seqscan = off AS $$
BEGIN
  PERFORM open_key_budgets(ARRAY[key]);
  SELECT max(b.period_start) FILTER (WHERE b.period = 'day'), max(b.period_start) FILTER (WHERE b.period = 'week'),
         max(b.period_start) FILTER (WHERE b.period = 'month')
  INTO day, week, month
  FROM budgets b
  WHERE b.holder_id = key AND b.period_start = budget_period_start(b.period, now()) AND b."limit" IS NOT NULL;
  SELECT k.member_id, k.team_id INTO member_id, team_id FROM api_keys k WHERE k.id = key;
  IF coalesce(member_id, team_id) IS NOT NULL THEN
    PERFORM open_member_budgets(ARRAY[member_id, team_id]);
    counted_on := budget_period_start('day', now());
  END IF;
END $$;

-- The budgets of a call by the name '<holder> <period> <its first day>': first those of its key, then those of its
-- member and team. Not in SQL: such a function would be planned for each statement that calls it.
CREATE OR REPLACE FUNCTION budget_names(key text, day date, week date, month date, member text, team text,
  counted_on date)
RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
  day_name   CONSTANT text := ' day ' || counted_on;
  week_name  CONSTANT text := ' week ' || date_trunc('week', counted_on)::date;
  month_name CONSTANT text := ' month ' || date_trunc('month', counted_on)::date;
BEGIN
  RETURN array_remove(ARRAY[key || ' day ' || day, key || ' week ' || week, key || ' month ' || month,
    member || ' lifetime -infinity', member || day_name, member || week_name, member || month_name,
    team || ' lifetime -infinity', team || day_name, team || week_name, team || month_name], NULL);
END $$;

-- The budgets that a settled call counts in.
CREATE OR REPLACE FUNCTION budgets_of(call calls)
RETURNS TABLE (holder_id text, period text, period_start date) LANGUAGE sql STABLE AS $$
  SELECT split_part(n, ' ', 1), split_part(n, ' ', 2), split_part(n, ' ', 3)::date
  FROM unnest(budget_names(call.key_id, call.budget_day, call.budget_week, call.budget_month, call.member_id,
    call.team_id, call.counted_on)) n
$$;
