-- Use of keys: hourly totals of finished calls by address and model, for the last 32 days, which is as far as pages
-- show.

-- Rolls up at most six more hours of calls, up to an hour ago, and deletes rows that no page shows any more. Returns
-- the time up to which calls are rolled up. Skips times without calls.
-- An hour of a key has rows for the 50 addresses with the most calls, and one for all "others".
CREATE OR REPLACE FUNCTION sum_up_key_uses() RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  kept_from CONSTANT timestamptz := date_bin('1 hour', now() - interval '32 days', '2000-01-01 00:00:00+00');
  goal  timestamptz := date_bin('1 hour', now() - interval '1 hour', '2000-01-01 00:00:00+00');
  done  timestamptz;
  first timestamptz;
BEGIN
  -- Late calls wait for this lock, and it waits for those that are being written, so that each call is counted once.
  SELECT greatest(s.summed_until, kept_from) INTO done FROM key_use_sums s FOR UPDATE;
  IF done >= goal THEN RETURN done; END IF;
  SELECT c.created_at INTO first FROM calls c
  WHERE c.created_at >= done AND c.created_at < goal ORDER BY c.created_at LIMIT 1;
  IF FOUND THEN
    goal := least(goal, date_bin('1 hour', first, '2000-01-01 00:00:00+00') + interval '6 hours');
    INSERT INTO key_uses
    WITH uses AS (
      SELECT c.key_id, date_bin('1 hour', c.created_at, '2000-01-01 00:00:00+00') AS hour, c.ip, c.model,
             count(*) AS calls,
             count(*) FILTER (WHERE call_result(c.status, c.error_reason, c.billing_basis) = 'refused') AS refused,
             count(*) FILTER (WHERE call_result(c.status, c.error_reason, c.billing_basis)
               IN ('refused', 'failed', 'timeout')) AS failed,
             sum(c.cost) AS cost, sum(coalesce(c.prompt_tokens, 0) + coalesce(c.completion_tokens, 0)) AS tokens,
             min(c.created_at) AS first_at, max(c.created_at) AS last_at
        FROM calls c WHERE c.created_at >= first AND c.created_at < goal
       GROUP BY 1, 2, 3, 4
    ), places AS (
      SELECT key_id, hour, ip, row_number() OVER (PARTITION BY key_id, hour ORDER BY sum(calls) DESC, ip) AS place
        FROM uses GROUP BY 1, 2, 3
    )
    SELECT key_id, hour, CASE WHEN place <= 50 THEN ip ELSE 'others' END, model, sum(calls), sum(refused),
           sum(failed), sum(cost), sum(tokens), min(first_at), max(last_at)
      FROM uses JOIN places USING (key_id, hour, ip) GROUP BY 1, 2, 3, 4;
  END IF;
  DELETE FROM key_uses WHERE hour < kept_from;
  UPDATE key_use_sums SET summed_until = goal;
  RETURN goal;
END $$;

-- Adds a call that is inserted, or subtracts one that is deleted, after its hour was rolled up, as add_late_usage does.
CREATE OR REPLACE FUNCTION add_late_key_use() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  kept_from CONSTANT timestamptz := date_bin('1 hour', now() - interval '32 days', '2000-01-01 00:00:00+00');
  call  calls;
  sign  CONSTANT integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
  done  timestamptz;
  its_hour timestamptz;
  place text;
  how   text;
BEGIN
  call := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  -- The lock of all late calls: see add_late_usage.
  PERFORM pg_advisory_xact_lock(718270005);
  SELECT s.summed_until INTO done FROM key_use_sums s FOR SHARE;
  IF call.created_at >= done OR call.created_at < kept_from THEN RETURN NULL; END IF;
  its_hour := date_bin('1 hour', call.created_at, '2000-01-01 00:00:00+00');
  -- A new address counts among the others if the hour is full.
  SELECT CASE WHEN coalesce(bool_or(u.address = call.ip), false) OR count(DISTINCT u.address) < 50
              THEN call.ip ELSE 'others' END INTO place
    FROM key_uses u WHERE u.key_id = call.key_id AND u.hour = its_hour;
  how := call_result(call.status, call.error_reason, call.billing_basis);
  INSERT INTO key_uses AS u VALUES (call.key_id, its_hour, place, call.model, sign,
    CASE WHEN how = 'refused' THEN sign ELSE 0 END,
    CASE WHEN how IN ('refused', 'failed', 'timeout') THEN sign ELSE 0 END,
    sign * call.cost, sign * (coalesce(call.prompt_tokens, 0) + coalesce(call.completion_tokens, 0)), call.created_at,
    call.created_at)
  ON CONFLICT ON CONSTRAINT key_use_key DO UPDATE SET calls = u.calls + excluded.calls,
    refused = u.refused + excluded.refused, failed = u.failed + excluded.failed, cost = u.cost + excluded.cost,
    tokens = u.tokens + excluded.tokens, first_at = least(u.first_at, excluded.first_at),
    last_at = greatest(u.last_at, excluded.last_at);
  RETURN NULL;
END $$;
