-- Raises the holds of a batch of running calls, with the same locks in the same order as admit_calls.
--
-- Returns one row per call, in order: outcome 'extended' with the amount granted, at most the amount wanted; 'closed'
-- if the call has been settled or swept; 'key_state', 'account_state', 'owed', 'wallet', 'key' or 'budget' if that
-- refused it and nothing was granted. free, on_hold, holds and period are as in admit_calls.
--
-- The hold becomes held + want, or as much of it as is available. A row that is behind its process (the server crashed
-- and lost an extension) catches up, and one that is ahead (a response was lost) is not raised twice. A missing row has
-- a hold of 0: it is inserted again if everything that its process relies on can be held.
CREATE OR REPLACE FUNCTION extend_calls(batch extension[], snapshots jsonb[])
RETURNS TABLE (outcome text, granted bigint, free bigint, on_hold bigint, holds integer, period text)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  unlimited CONSTANT bigint := 9223372036854775807;
  periods CONSTANT text[] := '{day,week,month}';
  locked record;
  lost record;
  asked extension;
  wallet_ids text[];  wallet_free bigint[];  wallet_held bigint[];  wallet_holds integer[];  wallet_owed bigint[];
  wallet_taken bigint[];  wallet_count integer[];
  key_ids text[];  key_free bigint[];  key_held bigint[];  key_usable boolean[];  account_usable boolean[];
  key_taken bigint[];
  -- Budgets by the name '<key> <period> <its first day>'.
  budgets text[] := '{}';  budget_free bigint[] := '{}';  budget_held bigint[] := '{}';  budget_taken bigint[] := '{}';
  open_ids text[];  open_keys text[];  open_holds bigint[];  open_taken bigint[];
  open_days date[];  open_weeks date[];  open_months date[];
  -- The calls in open_ids that have no row.
  lost_ids text[] := '{}';
  any_budget boolean;
  names text[];
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
         array_agg(t.budget_week), array_agg(t.budget_month)
  INTO open_ids, open_keys, open_holds, open_days, open_weeks, open_months
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
      SELECT open_days || c.day, open_weeks || c.week, open_months || c.month INTO open_days, open_weeks, open_months
      FROM current_budgets(lost.key_id) c;
    END LOOP;
  END IF;
  open_taken := array_fill(0::bigint, ARRAY[cardinality(open_ids)]);

  -- Budgets are those that the calls were admitted under, not those of the current period.
  any_budget := num_nonnulls(VARIADIC open_days || open_weeks || open_months) > 0;
  IF any_budget THEN
    FOR locked IN
      SELECT t.key_id || ' ' || t.period || ' ' || t.period_start AS name, t.held,
             coalesce(t."limit" - t.used - t.held, unlimited) AS left_over
      FROM key_budgets t
      WHERE (t.key_id, t.period, t.period_start) IN (
        SELECT c.key_id, p.period, p.start
        FROM unnest(open_keys, open_days, open_weeks, open_months) AS c (key_id, d, w, m),
          LATERAL (VALUES ('day', c.d), ('week', c.w), ('month', c.m)) AS p (period, start))
      ORDER BY t.key_id, t.period, t.period_start FOR UPDATE
    LOOP
      budgets := budgets || locked.name;
      budget_free := budget_free || locked.left_over;
      budget_held := budget_held || locked.held;
      budget_taken := budget_taken || 0::bigint;
    END LOOP;
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
    ELSIF NOT account_usable[k] THEN
      outcome := 'account_state';
    ELSIF wallet_owed[w] > 0 THEN
      outcome := 'owed';  free := -wallet_owed[w];
    ELSE
      names := ARRAY[asked.key_id || ' day ' || open_days[o], asked.key_id || ' week ' || open_weeks[o],
        asked.key_id || ' month ' || open_months[o]];
      more := least(asked.held + asked.want - open_holds[o], free, key_free[k]);
      IF any_budget THEN
        FOR p IN 1 .. 3 LOOP
          more := least(more, budget_free[array_position(budgets, names[p])]);
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
          FOR p IN 1 .. 3 LOOP
            b := array_position(budgets, names[p]);
            IF budget_free[b] < free THEN
              outcome := 'budget';  free := budget_free[b];  on_hold := budget_held[b];  period := periods[p];
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
          FOR p IN 1 .. 3 LOOP
            b := array_position(budgets, names[p]);
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
    UPDATE key_budgets t SET held = t.held + n.taken
    FROM unnest(budgets, budget_taken) AS n (name, taken)
    WHERE (t.key_id, t.period, t.period_start)
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
      effort, ip, snapshot, budget_day, budget_week, budget_month)
    SELECT DISTINCT ON (c.id) c.id, c.account_id, c.key_id, n.hold, c.process_id, c.model, c.created_at, c.group_name,
      c.protocol, c.stream, c.effort, c.ip, snapshots[c.snapshot], n.day, n.week, n.month
    FROM unnest(batch) c
      JOIN unnest(open_ids, open_holds, open_days, open_weeks, open_months) AS n (id, hold, day, week, month) USING (id)
    WHERE n.hold > 0 AND c.id = ANY (lost_ids)
  )
  UPDATE open_calls t SET hold = n.hold
  FROM unnest(open_ids, open_holds, open_taken) AS n (id, hold, taken)
  WHERE t.id = n.id AND n.taken > 0;
END $$;
