-- Admits a batch of calls: places a hold for each. snapshots: the prices that the admissions reference.
--
-- Returns one row per call, in order: outcome 'admitted' with its hold; 'stale' when the process used an old key or
-- catalog; 'key_state', 'account_state', 'owed', 'wallet', 'key', 'budget' (of the key), 'member' or 'team' when that
-- refused it. free and on_hold are those of the wallet, or of the key or budget that refused, as this call found them;
-- free is minus the debt of an account that owes. period: of the budget that refused.
--
-- All functions that move money lock wallets, then keys, then budgets, each by primary key, so that they cannot
-- deadlock: IDs of keys sort before those of members and teams. Sequential scans are off because a plan made while a table is small would stay after it has grown. Generic
-- plans, because PostgreSQL otherwise plans every statement for each batch, which takes as long as executing it.
CREATE OR REPLACE FUNCTION admit_calls(batch admission[], snapshots jsonb[])
RETURNS TABLE (outcome text, hold bigint, free bigint, on_hold bigint, holds integer, period text)
LANGUAGE plpgsql SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  unlimited CONSTANT bigint := 9223372036854775807;
  periods CONSTANT text[] := '{day,week,month}';
  starts date[];
  catalog_now bigint;
  locked record;
  asked admission;
  wallet_ids text[];  wallet_free bigint[];  wallet_held bigint[];  wallet_holds integer[];  wallet_owed bigint[];
  wallet_taken bigint[];  wallet_count integer[];
  key_ids text[];  key_free bigint[];  key_held bigint[];  key_versions integer[];  key_usable boolean[];
  account_usable boolean[];  key_taken bigint[];
  -- The member and team of each key; both null for most.
  key_members text[];  key_teams text[];
  -- Members and teams, what is free of the tightest of their budgets, and which that is. The tightest stays the same,
  -- because a call counts in all of them.
  holders text[];  holder_free bigint[];  holder_held bigint[];  holder_period text[];  holder_taken bigint[];
  -- Members who left, are suspended, or have a role that may not use keys.
  barred text[];
  -- Keys with budgets, and the budgets of key k in the places 3k - 2 to 3k; null where it has none.
  budgeted text[];  any_budget boolean;
  budget_free bigint[];  budget_held bigint[];  budget_taken bigint[];
  -- For each call its hold, null when it is not admitted, and the periods it counts in, null for most.
  granted bigint[] := '{}';  days date[] := '{}';  weeks date[] := '{}';  months date[] := '{}';
  w integer;
  k integer;
  b integer;
  member_at integer;
  team_at integer;
BEGIN
  -- Lock wallets in the order of their ids; all decisions below use these rows.
  SELECT array_agg(t.account_id), array_agg(t.left_over), array_agg(t.held), array_agg(t.holds), array_agg(t.owed),
         array_agg(0::bigint), array_agg(0)
  INTO wallet_ids, wallet_free, wallet_held, wallet_holds, wallet_owed, wallet_taken, wallet_count
  FROM (
    SELECT t.account_id, t.balance - t.held AS left_over, t.held, t.holds, t.owed FROM wallets t
    WHERE t.account_id IN (SELECT c.account_id FROM unnest(batch) c)
    ORDER BY t.account_id FOR UPDATE
  ) t;

  -- Then keys. The lock keeps their state and version until this commits.
  SELECT array_agg(t.id), array_agg(t.version), array_agg(t.left_over), array_agg(t.held), array_agg(t.usable),
         array_agg(t.account_usable), array_agg(0::bigint), array_agg(t.id) FILTER (WHERE t.has_budget),
         array_agg(t.member_id), array_agg(t.team_id)
  INTO key_ids, key_versions, key_free, key_held, key_usable, account_usable, key_taken, budgeted, key_members, key_teams
  FROM (
    SELECT t.id, t.version, t.member_id, t.team_id, t.held, coalesce(t.quota - t.used - t.held, unlimited) AS left_over,
           t.state = 'enabled' AND coalesce(t.expires_at > now(), true) AS usable, a.state = 'enabled' AS account_usable,
           num_nonnulls(t.daily_budget, t.weekly_budget, t.monthly_budget) > 0 AS has_budget
    FROM api_keys t JOIN accounts a ON a.id = t.account_id
    WHERE t.id IN (SELECT c.key_id FROM unnest(batch) c)
    ORDER BY t.id FOR UPDATE OF t
  ) t;

  -- Then budgets, if the batch has any.
  any_budget := budgeted IS NOT NULL;
  IF any_budget THEN
    PERFORM open_key_budgets(budgeted);
    SELECT array_agg(budget_period_start(p, now())) INTO starts FROM unnest(periods) p;
    budget_free := array_fill(NULL::bigint, ARRAY[3 * cardinality(key_ids)]);
    budget_held := budget_free;
    budget_taken := array_fill(0::bigint, ARRAY[3 * cardinality(key_ids)]);
    FOR locked IN
      SELECT t.holder_id, array_position(periods, t.period) AS place, t.held, t."limit" - t.used - t.held AS left_over
      FROM budgets t
      WHERE t.holder_id = ANY (budgeted) AND t.period_start = starts[array_position(periods, t.period)]
        AND t."limit" IS NOT NULL
      ORDER BY t.holder_id, t.period, t.period_start FOR UPDATE
    LOOP
      b := 3 * array_position(key_ids, locked.holder_id) - 3 + locked.place;
      budget_free[b] := locked.left_over;
      budget_held[b] := locked.held;
    END LOOP;
  END IF;

  -- Then those of members and teams.
  SELECT array_agg(DISTINCT h) INTO holders FROM unnest(key_members || key_teams) h WHERE h IS NOT NULL;
  IF holders IS NOT NULL THEN
    PERFORM open_member_budgets(holders);
    holder_free := array_fill(unlimited, ARRAY[cardinality(holders)]);
    holder_held := array_fill(0::bigint, ARRAY[cardinality(holders)]);
    holder_taken := holder_held;
    holder_period := array_fill(NULL::text, ARRAY[cardinality(holders)]);
    FOR locked IN
      SELECT t.holder_id, t.period, t.held, t."limit" - t.used - t.held AS left_over
      FROM budgets t
      WHERE t.holder_id = ANY (holders) AND t.period_start = budget_period_start(t.period, now())
      ORDER BY t.holder_id, t.period, t.period_start FOR UPDATE
    LOOP
      b := array_position(holders, locked.holder_id);
      IF locked.left_over < holder_free[b] THEN
        holder_free[b] := locked.left_over;  holder_held[b] := locked.held;  holder_period[b] := locked.period;
      END IF;
    END LOOP;
    SELECT coalesce(array_agg(t.id), '{}') INTO barred
    FROM members t JOIN accounts a ON a.id = t.account_id
    WHERE t.id = ANY (holders) AND NOT (a.state = 'enabled' AND may_use_keys(t.state, t.role));
  END IF;

  SELECT version INTO catalog_now FROM catalog_state;

  FOREACH asked IN ARRAY batch LOOP
    w := array_position(wallet_ids, asked.account_id);
    k := array_position(key_ids, asked.key_id);
    hold := NULL;  free := wallet_free[w];  on_hold := wallet_held[w];  holds := wallet_holds[w];  period := NULL;
    IF w IS NULL OR k IS NULL OR NOT key_usable[k] THEN
      outcome := 'key_state';
    ELSIF NOT account_usable[k] OR key_members[k] = ANY (barred) THEN
      outcome := 'account_state';
    ELSIF wallet_owed[w] > 0 THEN
      outcome := 'owed';  free := -wallet_owed[w];
    ELSIF key_versions[k] <> asked.key_version OR catalog_now <> asked.catalog_version THEN
      outcome := 'stale';
    ELSE
      -- An eighth of what is free, so that parallel calls of one account all get a share.
      hold := least(asked.ceiling, greatest(asked.base, asked.prompt + free / 8), free, key_free[k]);
      IF any_budget THEN
        hold := least(hold, budget_free[3 * k - 2], budget_free[3 * k - 1], budget_free[3 * k]);
      END IF;
      IF holders IS NOT NULL THEN
        member_at := array_position(holders, key_members[k]);
        team_at := array_position(holders, key_teams[k]);
        hold := least(hold, holder_free[member_at], holder_free[team_at]);
      END IF;
      -- A call that does not fit takes nothing from the calls after it.
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
        IF holders IS NOT NULL THEN
          b := member_at;
          IF holder_free[b] < free THEN
            outcome := 'member';  free := holder_free[b];  on_hold := holder_held[b];  period := holder_period[b];
          END IF;
          b := team_at;
          IF holder_free[b] < free THEN
            outcome := 'team';  free := holder_free[b];  on_hold := holder_held[b];  period := holder_period[b];
          END IF;
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
        IF holders IS NOT NULL THEN
          FOREACH b IN ARRAY array_remove(ARRAY[member_at, team_at], NULL) LOOP
            IF holder_free[b] <> unlimited THEN holder_free[b] := holder_free[b] - hold; END IF;
            holder_held[b] := holder_held[b] + hold;
            holder_taken[b] := holder_taken[b] + hold;
          END LOOP;
        END IF;
      END IF;
    END IF;
    granted := granted || hold;
    RETURN NEXT;
  END LOOP;

  IF any_budget THEN
    UPDATE budgets t SET held = t.held + n.taken
    FROM (SELECT key_ids[(u.place + 2) / 3] AS key_id, (u.place - 1) % 3 + 1 AS p, u.taken
          FROM unnest(budget_taken) WITH ORDINALITY AS u (taken, place)) AS n
    WHERE t.holder_id = n.key_id AND t.period = periods[n.p] AND t.period_start = starts[n.p] AND n.taken > 0
      AND t."limit" IS NOT NULL;
  END IF;

  IF holders IS NOT NULL THEN
    UPDATE budgets t SET held = t.held + n.taken
    FROM unnest(holders, holder_taken) AS n (id, taken)
    WHERE t.holder_id = n.id AND t.period_start = budget_period_start(t.period, now()) AND n.taken > 0;
  END IF;

  -- One statement writes the rest, because each has a cost. Each row is written once, with its sum: UPDATE … FROM with
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
    effort, ip, snapshot, budget_day, budget_week, budget_month, member_id, team_id, counted_on)
  SELECT c.id, c.account_id, c.key_id, granted[c.ordinality], c.process_id, c.model, c.created_at, c.group_name,
    c.protocol, c.stream, c.effort, c.ip, snapshots[c.snapshot], days[c.ordinality], weeks[c.ordinality],
    months[c.ordinality], key_members[n.k], key_teams[n.k],
    CASE WHEN coalesce(key_members[n.k], key_teams[n.k]) IS NOT NULL THEN budget_period_start('day', now()) END
  FROM unnest(batch) WITH ORDINALITY AS c, LATERAL (SELECT array_position(key_ids, c.key_id) AS k) n
  WHERE granted[c.ordinality] IS NOT NULL;
END $$;
