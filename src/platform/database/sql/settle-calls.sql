-- Settles a batch of calls: collects their cost, releases their holds, and writes their rows.
-- lines: the itemized cost of each call, in the order of the batch. tries: the attempts of all of them.
--
-- Returns one row per call, in order: the amount collected; null if the call had been settled before. What is collected
-- is one ledger entry for the whole batch, with a line per wallet, which its calls reference. Parts of an
-- organization's line name the members and teams. Debts are paid by a second entry, named after it.
--
-- A call settled before changes nothing, with one exception: if it is still open (its admission arrived after it had
-- been abandoned), its hold is released and its row closed. For open calls this is checked only if careful is set or a
-- call of the batch is swept, because it costs a lookup per call. Otherwise, the primary key of calls refuses the
-- batch. A settlement replaces the sweep of a slow process that was taken for a dead one; nothing else is ever
-- replaced.
CREATE OR REPLACE FUNCTION settle_calls(batch settlement[], snapshots jsonb[], lines json[], tries attempt[], entry text,
  careful boolean DEFAULT false)
RETURNS TABLE (collected bigint) LANGUAGE plpgsql
SET enable_seqscan = off SET plan_cache_mode = force_generic_plan AS $$
DECLARE
  unlimited CONSTANT bigint := 9223372036854775807;
  -- Of budgets without a limit: so much that it need not be told apart from less.
  plenty CONSTANT bigint := 4611686018427387904;
  locked record;
  done settlement;
  wallet_ids text[];  wallet_free bigint[];  wallet_owed bigint[];  any_owed boolean;
  wallet_paid bigint[];  wallet_released bigint[];  wallet_count integer[];
  key_ids text[];  key_free bigint[];  key_paid bigint[];  key_released bigint[];
  closed_ids text[];  closed_holds bigint[];  any_sweep boolean;
  -- Calls of the batch that have been settled before, and whether that was a sweep.
  known_ids text[];  known_sweeps boolean[];
  -- The budgets that calls count in: of those just closed, of those swept before, of those whose row was lost.
  counted_ids text[];  counted_keys text[];  counted_days date[];  counted_weeks date[];  counted_months date[];
  counted_members text[];  counted_teams text[];  counted_dates date[];
  any_budget boolean;
  -- Budgets by name, as in budget_names, and for each call what it counts in, null for most.
  budgets text[] := '{}';  budget_free bigint[] := '{}';  budget_paid bigint[] := '{}';  budget_released bigint[] := '{}';
  days date[] := '{}';  weeks date[] := '{}';  months date[] := '{}';
  call_members text[] := '{}';  call_teams text[] := '{}';  dates date[] := '{}';
  -- Names and places in budgets of those of a call; calls with the same are often neighbors.
  names text[];  names_before text[];
  places integer[];
  settled_ids text[] := '{}';
  -- The amount collected for each call; null if it had been settled before.
  taken bigint[] := '{}';
  stored_hold bigint;
  paid bigint;
  total bigint := 0;
  c integer;
  e integer;
  w integer;
  k integer;
  n integer;
  b integer;
BEGIN
  SELECT array_agg(t.account_id), array_agg(t.left_over), array_agg(t.owed), bool_or(t.owed > 0),
         array_agg(0::bigint), array_agg(0::bigint), array_agg(0)
  INTO wallet_ids, wallet_free, wallet_owed, any_owed, wallet_paid, wallet_released, wallet_count
  FROM (
    SELECT t.account_id, t.balance - t.held AS left_over, t.owed FROM wallets t
    WHERE t.account_id IN (SELECT r.account_id FROM unnest(batch) r WHERE r.opened)
    ORDER BY t.account_id FOR UPDATE
  ) t;

  SELECT array_agg(t.id), array_agg(t.left_over), array_agg(0::bigint), array_agg(0::bigint)
  INTO key_ids, key_free, key_paid, key_released
  FROM (
    SELECT t.id, coalesce(t.quota - t.used - t.held, unlimited) AS left_over FROM api_keys t
    WHERE t.id IN (SELECT r.key_id FROM unnest(batch) r WHERE r.opened)
    ORDER BY t.id FOR UPDATE
  ) t;

  -- Releases the hold stored with the call, never the one that a process remembers.
  WITH closed AS (
    DELETE FROM open_calls o USING unnest(batch) r WHERE o.id = r.id AND r.opened
    RETURNING o.id, o.hold, o.key_id, o.budget_day, o.budget_week, o.budget_month, o.member_id, o.team_id, o.counted_on,
      r.status
  )
  SELECT coalesce(array_agg(t.id), '{}'), array_agg(t.hold), bool_or(t.status = 'interrupted'), array_agg(t.key_id),
         array_agg(t.budget_day), array_agg(t.budget_week), array_agg(t.budget_month), array_agg(t.member_id),
         array_agg(t.team_id), array_agg(t.counted_on),
         bool_or(num_nonnulls(t.budget_day, t.budget_week, t.budget_month, t.counted_on) > 0)
  INTO closed_ids, closed_holds, any_sweep, counted_keys, counted_days, counted_weeks, counted_months, counted_members,
       counted_teams, counted_dates, any_budget
  FROM closed t;
  counted_ids := closed_ids;

  -- Without an open call: settled or swept before, or the row was lost with the database, and there is no hold.
  IF careful OR any_sweep OR cardinality(closed_ids) < cardinality(batch) THEN
    SELECT array_agg(t.id), array_agg(t.status = 'interrupted' AND t.cost = 0), counted_ids || array_agg(t.id),
           counted_keys || array_agg(t.key_id), counted_days || array_agg(t.budget_day),
           counted_weeks || array_agg(t.budget_week), counted_months || array_agg(t.budget_month),
           counted_members || array_agg(t.member_id), counted_teams || array_agg(t.team_id),
           counted_dates || array_agg(t.counted_on)
    INTO known_ids, known_sweeps, counted_ids, counted_keys, counted_days, counted_weeks, counted_months,
         counted_members, counted_teams, counted_dates
    FROM unnest(batch) r, LATERAL (SELECT * FROM calls t WHERE t.id = r.id AND t.created_at = r.created_at LIMIT 1) t
    WHERE careful OR any_sweep OR r.id <> ALL (closed_ids);
    FOR locked IN
      SELECT r.id, r.key_id FROM unnest(batch) r WHERE r.opened AND r.cost > 0 AND r.id <> ALL (counted_ids)
    LOOP
      counted_ids := counted_ids || locked.id;
      counted_keys := counted_keys || locked.key_id;
      SELECT counted_days || t.day, counted_weeks || t.week, counted_months || t.month, counted_members || t.member_id,
             counted_teams || t.team_id, counted_dates || t.counted_on
      INTO counted_days, counted_weeks, counted_months, counted_members, counted_teams, counted_dates
      FROM current_counts(locked.key_id) t;
    END LOOP;
    any_budget := num_nonnulls(VARIADIC counted_days || counted_weeks || counted_months || counted_dates) > 0;
  END IF;

  IF any_budget THEN
    FOR locked IN
      SELECT t.holder_id || ' ' || t.period || ' ' || t.period_start AS name,
             coalesce(t."limit" - t.used - t.held, plenty) AS left_over
      FROM budgets t
      WHERE (t.holder_id, t.period, t.period_start) IN (
        SELECT split_part(u.budget, ' ', 1), split_part(u.budget, ' ', 2), split_part(u.budget, ' ', 3)::date
        FROM (SELECT DISTINCT * FROM unnest(counted_keys, counted_days, counted_weeks, counted_months, counted_members,
            counted_teams, counted_dates)) AS x (key_id, d, w, m, member_id, team_id, counted_on),
          unnest(budget_names(x.key_id, x.d, x.w, x.m, x.member_id, x.team_id, x.counted_on)) AS u (budget))
      ORDER BY t.holder_id, t.period, t.period_start FOR UPDATE
    LOOP
      budgets := budgets || locked.name;
      budget_free := budget_free || locked.left_over;
      budget_paid := budget_paid || 0::bigint;
      budget_released := budget_released || 0::bigint;
    END LOOP;
  END IF;

  FOREACH done IN ARRAY batch LOOP
    collected := 0;
    c := array_position(closed_ids, done.id);
    e := array_position(known_ids, done.id);
    IF (c IS NULL AND done.id = ANY (settled_ids))
       OR (e IS NOT NULL AND NOT (known_sweeps[e] AND done.status <> 'interrupted')) THEN
      collected := NULL;
    ELSIF e IS NOT NULL THEN
      DELETE FROM call_attempts t WHERE t.call_id = done.id AND t.created_at = done.created_at;
      DELETE FROM calls t WHERE t.id = done.id AND t.created_at = done.created_at;
    END IF;
    IF done.opened AND (collected IS NOT NULL OR c IS NOT NULL) THEN
      w := array_position(wallet_ids, done.account_id);
      k := array_position(key_ids, done.key_id);
      stored_hold := coalesce(closed_holds[c], 0);
      IF any_budget THEN
        n := array_position(counted_ids, done.id);
        names := budget_names(done.key_id, counted_days[n], counted_weeks[n], counted_months[n], counted_members[n],
          counted_teams[n], counted_dates[n]);
        IF names IS DISTINCT FROM names_before THEN
          names_before := names;
          SELECT coalesce(array_agg(p), '{}') INTO places
          FROM (SELECT array_position(budgets, u.budget) AS p FROM unnest(names) AS u (budget)) t WHERE p IS NOT NULL;
        END IF;
      END IF;
      IF collected IS NOT NULL THEN
        collected := least(done.cost, stored_hold + wallet_free[w]);
        IF key_free[k] <> unlimited THEN collected := least(collected, stored_hold + key_free[k]); END IF;
        IF any_budget THEN
          n := cardinality(taken) + 1;
          FOREACH b IN ARRAY places LOOP
            collected := least(collected, stored_hold + budget_free[b]);
          END LOOP;
          b := array_position(counted_ids, done.id);
          days[n] := counted_days[b];  weeks[n] := counted_weeks[b];  months[n] := counted_months[b];
          call_members[n] := counted_members[b];  call_teams[n] := counted_teams[b];  dates[n] := counted_dates[b];
        END IF;
      END IF;
      paid := coalesce(collected, 0);
      wallet_free[w] := wallet_free[w] + stored_hold - paid;
      wallet_paid[w] := wallet_paid[w] + paid;
      wallet_released[w] := wallet_released[w] + stored_hold;
      IF key_free[k] <> unlimited THEN key_free[k] := key_free[k] + stored_hold - paid; END IF;
      key_paid[k] := key_paid[k] + paid;
      key_released[k] := key_released[k] + stored_hold;
      IF any_budget THEN
        FOREACH b IN ARRAY places LOOP
          budget_free[b] := budget_free[b] + stored_hold - paid;
          budget_paid[b] := budget_paid[b] + paid;
          budget_released[b] := budget_released[b] + stored_hold;
        END LOOP;
      END IF;
      total := total + paid;
      IF c IS NOT NULL THEN
        wallet_count[w] := wallet_count[w] + 1;
        -- A second settlement of the call in this batch must not find it.
        closed_ids[c] := NULL;
      END IF;
    END IF;
    taken := taken || collected;
    IF collected IS NOT NULL THEN settled_ids := settled_ids || done.id; END IF;
    RETURN NEXT;
  END LOOP;

  WITH wallet_rows AS (
    UPDATE wallets t SET balance = t.balance - n.paid, held = t.held - n.released, holds = t.holds - n.calls
    FROM unnest(wallet_ids, wallet_paid, wallet_released, wallet_count) AS n (id, paid, released, calls)
    WHERE t.account_id = n.id AND (n.calls > 0 OR n.paid > 0)
  ), key_rows AS (
    UPDATE api_keys t SET used = t.used + n.paid, held = t.held - n.released
    FROM unnest(key_ids, key_paid, key_released) AS n (id, paid, released)
    WHERE t.id = n.id AND (n.paid > 0 OR n.released > 0)
  ), entries AS (
    INSERT INTO ledger_entries (id, kind) SELECT entry, 'calls' WHERE total > 0
  )
  INSERT INTO ledger_lines (entry_id, ledger_account, amount)
  SELECT entry, 'wallet:' || n.id, -n.paid FROM unnest(wallet_ids, wallet_paid) AS n (id, paid) WHERE n.paid > 0
  UNION ALL SELECT entry, 'revenue', total WHERE total > 0;

  INSERT INTO call_attempts (call_id, ordinal, created_at, channel, credential, protocol, upstream_model,
    upstream_status, upstream_request_id, outcome, reason, begun_ms, connect_ms, headers_ms, first_byte_ms,
    first_token_ms, duration_ms, cost_version, upstream_cost, transport)
  SELECT a.call_id, a.ordinal, a.created_at, a.channel, a.credential, a.protocol, a.upstream_model,
    a.upstream_status, a.upstream_request_id, a.outcome, a.reason, a.begun_ms, a.connect_ms, a.headers_ms,
    a.first_byte_ms, a.first_token_ms, a.duration_ms, a.cost_version, a.upstream_cost, a.transport
  FROM unnest(tries) a WHERE a.call_id = ANY (settled_ids);

  INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
    stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
    completion_tokens, reasoning_tokens, cost, uncollected, upstream_cost, billing_basis, first_token_ms, duration_ms,
    attempts, ip, snapshot, lines, entry_id, budget_day, budget_week, budget_month, hold_begun_ms, hold_ms,
    settle_wait_ms, waits, upstream_report, output_limit, transport, member_id, team_id, counted_on)
  SELECT r.id, r.created_at, r.account_id, r.key_id, r.model, r.group_name, r.protocol, r.upstream_protocol, r.channel,
    r.stream, r.effort, r.status, r.error_reason, r.error_message, r.prompt_tokens, r.cached_tokens,
    r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens, taken[r.ordinality], r.cost - taken[r.ordinality],
    r.upstream_cost, r.billing_basis, r.first_token_ms, r.duration_ms, r.attempts, r.ip, snapshots[r.snapshot],
    lines[r.ordinality], CASE WHEN taken[r.ordinality] > 0 THEN entry END, days[r.ordinality], weeks[r.ordinality],
    months[r.ordinality], r.hold_begun_ms, r.hold_ms, r.settle_wait_ms, r.waits, r.upstream_report,
    r.output_limit, r.transport, call_members[r.ordinality], call_teams[r.ordinality], dates[r.ordinality]
  FROM unnest(batch) WITH ORDINALITY AS r
  WHERE taken[r.ordinality] IS NOT NULL;

  IF any_budget THEN
    UPDATE budgets t SET used = t.used + n.paid, held = t.held - n.released
    FROM unnest(budgets, budget_paid, budget_released) AS n (name, paid, released)
    WHERE (t.holder_id, t.period, t.period_start)
        = (split_part(n.name, ' ', 1), split_part(n.name, ' ', 2), split_part(n.name, ' ', 3)::date)
      AND (n.paid > 0 OR n.released > 0);
    INSERT INTO ledger_line_parts (entry_id, account_id, member_id, team_id, amount)
    SELECT entry, r.account_id, coalesce(call_members[r.ordinality], ''), coalesce(call_teams[r.ordinality], ''),
      -sum(taken[r.ordinality])
    FROM unnest(batch) WITH ORDINALITY AS r
    WHERE taken[r.ordinality] > 0 AND dates[r.ordinality] IS NOT NULL
    GROUP BY 1, 2, 3, 4;
  END IF;

  -- Money that is free now pays debts first.
  IF any_owed THEN
    FOR i IN 1 .. cardinality(wallet_ids) LOOP
      wallet_paid[i] := least(wallet_owed[i], wallet_free[i]);
    END LOOP;
    UPDATE wallets t SET balance = t.balance - n.paid, owed = t.owed - n.paid
    FROM unnest(wallet_ids, wallet_paid) AS n (id, paid) WHERE t.account_id = n.id AND n.paid > 0;
    IF FOUND THEN
      INSERT INTO ledger_entries (id, kind) VALUES (entry || '-owed', 'owed');
      INSERT INTO ledger_lines (entry_id, ledger_account, amount)
      SELECT entry || '-owed', side.ledger_account, side.amount
      FROM unnest(wallet_ids, wallet_paid) AS n (id, paid),
        LATERAL (VALUES ('wallet:' || n.id, -n.paid), ('owed:' || n.id, n.paid)) AS side (ledger_account, amount)
      WHERE n.paid > 0;
    END IF;
  END IF;
END $$;

-- Releases the holds of calls that are still open a minute after they began although they are settled: their admission
-- was abandoned and arrived late. Returns their number. entry: the ledger entry if the released money pays a debt.
CREATE OR REPLACE FUNCTION release_settled_holds(entry text) RETURNS integer
LANGUAGE plpgsql SET enable_seqscan = off AS $$
DECLARE
  late settlement[];
BEGIN
  SELECT array_agg(jsonb_populate_record(NULL::settlement, jsonb_build_object('id', o.id, 'created_at', o.created_at,
           'account_id', o.account_id, 'key_id', o.key_id, 'status', 'interrupted', 'cost', 0, 'opened', true)))
  INTO late
  FROM open_calls o
  WHERE o.created_at < now() - interval '1 minute'
    AND EXISTS (SELECT FROM calls t WHERE t.id = o.id AND t.created_at = o.created_at);
  IF late IS NULL THEN RETURN 0; END IF;
  PERFORM settle_calls(late, '{}', '{}', '{}', entry);
  RETURN cardinality(late);
END $$;
