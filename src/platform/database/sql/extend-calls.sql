-- Raises the holds of a batch of running calls, with the same locks in the same order as admit_calls.
--
-- Returns one row per call, in order: outcome 'extended' with the amount granted, at most the amount wanted; 'closed'
-- if the call has been settled or swept; 'key_state', 'account_state', 'owed', 'wallet', 'key', 'budget',
-- 'member' or 'team' if that refused it and nothing was granted. free, on_hold, holds and period are as in admit_calls.
--
-- The hold becomes held + want, or as much of it as is available. A row that is behind its process (the server crashed
-- and lost an extension) catches up, and one that is ahead (a response was lost) is not raised twice. A missing row has
-- a hold of 0: it is inserted again if everything that its process relies on can be held.
CREATE OR REPLACE FUNCTION extend_calls(batch extension[], snapshots jsonb[])
RETURNS TABLE (outcome text, granted bigint, free bigint, on_hold bigint, holds integer, period text)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  unlimited CONSTANT bigint := 9223372036854775807;
  locked record;
  lost record;
  asked extension;
  wallet_ids text[];  wallet_free bigint[];  wallet_held bigint[];  wallet_holds integer[];  wallet_owed bigint[];
  wallet_taken bigint[];  wallet_count integer[];
  key_ids text[];  key_free bigint[];  key_held bigint[];  key_usable boolean[];  account_usable boolean[];
  key_taken bigint[];
  -- Budgets by name, as in budget_names.
  budgets text[] := '{}';  budget_free bigint[] := '{}';  budget_held bigint[] := '{}';  budget_taken bigint[] := '{}';
  open_ids text[];  open_keys text[];  open_holds bigint[];  open_taken bigint[];
  open_days date[];  open_weeks date[];  open_months date[];
  open_members text[];  open_teams text[];  open_dates date[];
  -- Members who left or are suspended.
  barred text[];
  -- The calls in open_ids that have no row.
  lost_ids text[] := '{}';
  any_budget boolean;
  names text[];
  name text;
  more bigint;
  w integer;
  k integer;
  o integer;
  b integer;
BEGIN
  SELECT array_agg(t.account_id), array_agg(t.left_over), array_agg(t.held), array_agg(t.holds), array_agg(t.owed),
         array_agg(0::bigint), array_agg(0)
  INTO wallet_ids, wallet_free, wallet_held, wallet_holds, wallet_owed, wallet_taken, wallet_count
  FROM (
    SELECT t.account_id, t.balance - t.held AS left_over, t.held, t.holds, t.owed FROM wallets t
    WHERE t.account_id IN (SELECT c.account_id FROM unnest(batch) c)
    ORDER BY t.account_id FOR UPDATE
  ) t;

  SELECT array_agg(t.id), array_agg(t.left_over), array_agg(t.held), array_agg(t.usable),
         array_agg(t.account_usable), array_agg(0::bigint)
  INTO key_ids, key_free, key_held, key_usable, account_usable, key_taken
  FROM (
    SELECT t.id, t.held, coalesce(t.quota - t.used - t.held, unlimited) AS left_over,
           t.state = 'enabled' AND coalesce(t.expires_at > now(), true) AS usable, a.state = 'enabled' AS account_usable
    FROM api_keys t JOIN accounts a ON a.id = t.account_id
    WHERE t.id IN (SELECT c.key_id FROM unnest(batch) c)
    ORDER BY t.id FOR UPDATE OF t
  ) t;

  -- Rows of open calls are only changed with a lock on their wallet, so these stay as they are.
  SELECT coalesce(array_agg(t.id), '{}'), array_agg(t.key_id), array_agg(t.hold), array_agg(t.budget_day),
         array_agg(t.budget_week), array_agg(t.budget_month), array_agg(t.member_id), array_agg(t.team_id),
         array_agg(t.counted_on)
  INTO open_ids, open_keys, open_holds, open_days, open_weeks, open_months, open_members, open_teams, open_dates
  FROM open_calls t WHERE t.id IN (SELECT c.id FROM unnest(batch) c);

  -- A call without a row has been settled, or its row was lost.
  IF cardinality(open_ids) < cardinality(batch) THEN
    FOR lost IN
      SELECT DISTINCT ON (c.id) c.id, c.key_id FROM unnest(batch) c
      WHERE c.id <> ALL (open_ids)
        AND NOT EXISTS (SELECT FROM calls t WHERE t.id = c.id AND t.created_at = c.created_at)
    LOOP
      lost_ids := lost_ids || lost.id;
      open_ids := open_ids || lost.id;
      open_keys := open_keys || lost.key_id;
      open_holds := open_holds || 0::bigint;
      SELECT open_days || c.day, open_weeks || c.week, open_months || c.month, open_members || c.member_id,
             open_teams || c.team_id, open_dates || c.counted_on
      INTO open_days, open_weeks, open_months, open_members, open_teams, open_dates
      FROM current_counts(lost.key_id) c;
    END LOOP;
  END IF;
  open_taken := array_fill(0::bigint, ARRAY[cardinality(open_ids)]);

  -- Budgets are those that the calls were admitted under, not those of the current period.
  any_budget := num_nonnulls(VARIADIC open_days || open_weeks || open_months || open_dates) > 0;
  IF any_budget THEN
    FOR locked IN
      SELECT t.holder_id || ' ' || t.period || ' ' || t.period_start AS name, t.held,
             coalesce(t."limit" - t.used - t.held, unlimited) AS left_over
      FROM budgets t
      WHERE (t.holder_id, t.period, t.period_start) IN (
        SELECT split_part(u.budget, ' ', 1), split_part(u.budget, ' ', 2), split_part(u.budget, ' ', 3)::date
        FROM (SELECT DISTINCT * FROM unnest(open_keys, open_days, open_weeks, open_months, open_members, open_teams,
            open_dates)) AS c (key_id, d, w, m, member_id, team_id, counted_on),
          unnest(budget_names(c.key_id, c.d, c.w, c.m, c.member_id, c.team_id, c.counted_on)) AS u (budget))
      ORDER BY t.holder_id, t.period, t.period_start FOR UPDATE
    LOOP
      budgets := budgets || locked.name;
      budget_free := budget_free || locked.left_over;
      budget_held := budget_held || locked.held;
      budget_taken := budget_taken || 0::bigint;
    END LOOP;
    SELECT array_agg(t.id) INTO barred
    FROM members t JOIN accounts a ON a.id = t.account_id
    WHERE t.id = ANY (open_members) AND NOT (t.state = 'active' AND a.state = 'enabled');
  END IF;

  FOREACH asked IN ARRAY batch LOOP
    w := array_position(wallet_ids, asked.account_id);
    k := array_position(key_ids, asked.key_id);
    o := array_position(open_ids, asked.id);
    granted := 0;  free := wallet_free[w];  on_hold := wallet_held[w];  holds := wallet_holds[w];  period := NULL;
    IF o IS NULL THEN
      outcome := 'closed';
    ELSIF w IS NULL OR k IS NULL OR NOT key_usable[k] THEN
      outcome := 'key_state';
    ELSIF NOT account_usable[k] OR open_members[o] = ANY (barred) THEN
      outcome := 'account_state';
    ELSIF wallet_owed[w] > 0 THEN
      outcome := 'owed';  free := -wallet_owed[w];
    ELSE
      more := least(asked.held + asked.want - open_holds[o], free, key_free[k]);
      IF any_budget THEN
        names := budget_names(asked.key_id, open_days[o], open_weeks[o], open_months[o], open_members[o], open_teams[o],
          open_dates[o]);
        FOREACH name IN ARRAY names LOOP
          more := least(more, budget_free[array_position(budgets, name)]);
        END LOOP;
      END IF;
      granted := least(asked.want, open_holds[o] + more - asked.held);
      IF granted <= 0 THEN
        granted := 0;
        outcome := 'wallet';
        IF key_free[k] < free THEN
          outcome := 'key';  free := key_free[k];  on_hold := key_held[k];
        END IF;
        IF any_budget THEN
          FOREACH name IN ARRAY names LOOP
            b := array_position(budgets, name);
            IF budget_free[b] < free THEN
              free := budget_free[b];  on_hold := budget_held[b];  period := split_part(name, ' ', 2);
              outcome := CASE split_part(name, ' ', 1) WHEN open_members[o] THEN 'member' WHEN open_teams[o] THEN 'team'
                ELSE 'budget' END;
            END IF;
          END LOOP;
        END IF;
      ELSE
        outcome := 'extended';
        more := greatest(more, 0);
        IF more > 0 AND open_holds[o] = 0 AND asked.id = ANY (lost_ids) THEN
          wallet_holds[w] := wallet_holds[w] + 1;
          wallet_count[w] := wallet_count[w] + 1;
        END IF;
        open_holds[o] := open_holds[o] + more;
        open_taken[o] := open_taken[o] + more;
        wallet_free[w] := wallet_free[w] - more;
        wallet_held[w] := wallet_held[w] + more;
        wallet_taken[w] := wallet_taken[w] + more;
        IF key_free[k] <> unlimited THEN key_free[k] := key_free[k] - more; END IF;
        key_held[k] := key_held[k] + more;
        key_taken[k] := key_taken[k] + more;
        IF any_budget THEN
          FOREACH name IN ARRAY names LOOP
            b := array_position(budgets, name);
            CONTINUE WHEN b IS NULL;
            IF budget_free[b] <> unlimited THEN budget_free[b] := budget_free[b] - more; END IF;
            budget_held[b] := budget_held[b] + more;
            budget_taken[b] := budget_taken[b] + more;
          END LOOP;
        END IF;
      END IF;
    END IF;
    RETURN NEXT;
  END LOOP;

  IF any_budget THEN
    UPDATE budgets t SET held = t.held + n.taken
    FROM unnest(budgets, budget_taken) AS n (name, taken)
    WHERE (t.holder_id, t.period, t.period_start)
        = (split_part(n.name, ' ', 1), split_part(n.name, ' ', 2), split_part(n.name, ' ', 3)::date) AND n.taken > 0;
  END IF;

  WITH wallet_rows AS (
    UPDATE wallets t SET held = t.held + n.taken, holds = t.holds + n.calls
    FROM unnest(wallet_ids, wallet_taken, wallet_count) AS n (id, taken, calls)
    WHERE t.account_id = n.id AND n.taken > 0
  ), key_rows AS (
    UPDATE api_keys t SET held = t.held + n.taken
    FROM unnest(key_ids, key_taken) AS n (id, taken)
    WHERE t.id = n.id AND n.taken > 0
  ), lost_rows AS (
    INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, group_name, protocol, stream,
      effort, ip, snapshot, budget_day, budget_week, budget_month, member_id, team_id, counted_on)
    SELECT DISTINCT ON (c.id) c.id, c.account_id, c.key_id, n.hold, c.process_id, c.model, c.created_at, c.group_name,
      c.protocol, c.stream, c.effort, c.ip, snapshots[c.snapshot], n.day, n.week, n.month, n.member_id, n.team_id,
      n.counted_on
    FROM unnest(batch) c
      JOIN unnest(open_ids, open_holds, open_days, open_weeks, open_months, open_members, open_teams, open_dates)
        AS n (id, hold, day, week, month, member_id, team_id, counted_on) USING (id)
    WHERE n.hold > 0 AND c.id = ANY (lost_ids)
  )
  UPDATE open_calls t SET hold = n.hold
  FROM unnest(open_ids, open_holds, open_taken) AS n (id, hold, taken)
  WHERE t.id = n.id AND n.taken > 0;
END $$;
