-- Rollups: 15-minute totals of finished calls. Every time zone in use has its midnight at the start of such a slot.

-- The result of a finished call as shown to users. An error that the caller has to fix is a refusal, whether the relay
-- or the upstream refused.
CREATE OR REPLACE FUNCTION call_result(status text, error_reason text, billing_basis text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE
    WHEN status = 'succeeded' THEN 'completed'
    WHEN status = 'refused' THEN 'refused'
    WHEN status = 'cancelled' OR billing_basis = 'partial' THEN 'cut'
    WHEN error_reason IN ('timeout', 'request_timeout') THEN 'timeout'
    WHEN error_reason IN ('Invalid token', 'insufficient quota', 'permission_denied', 'invalid_request',
      'context_length_exceeded', 'model_not_found', 'not_found', 'method_not_allowed', 'conflict', 'request_too_large',
      'unsupported_media_type', 'rate_limit_exceeded') THEN 'refused'
    ELSE 'failed'
  END
$$;

-- The histogram bucket of a time in milliseconds: each doubling from 1 ms on has ten buckets of equal width, so that
-- none is wider than a tenth of its lower bound. Times of 70 minutes and more are in the last one, 219. Must match
-- bucketOf in src/usage/rollups/latencies.ts.
CREATE OR REPLACE FUNCTION latency_bucket(ms integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT CASE WHEN ms IS NOT NULL THEN
    10 * (width_bucket(least(greatest(ms, 1), 4194303), ARRAY[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
      16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152]) - 1)
    + ((10 * least(greatest(ms, 1), 4194303))
      >> width_bucket(least(greatest(ms, 1), 4194303), ARRAY[2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192,
        16384, 32768, 65536, 131072, 262144, 524288, 1048576, 2097152]))
  END
$$;

-- The histogram of one call. A histogram is one number, so that sum() adds them up: its digits in base 10^12 are the
-- numbers of calls per bucket.
-- PostgreSQL inlines a function only if all its parts are immutable: text joined to text is, text joined to a number is
-- not. Not inlined, it took half to two thirds of the time of a rollup of 200,000 calls.
CREATE OR REPLACE FUNCTION latency_histogram(ms integer) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
  SELECT ('1e' || (12 * latency_bucket(ms))::text)::numeric
$$;

-- Rolls up at most one more day of calls, or some 20,000, up to an hour ago; skips times without calls. Returns whether
-- more calls are left. Sums of histograms need memory. The columns of usage_slots are explained where it is created.
-- The CTE parts must be the same in add_late_usage.
CREATE OR REPLACE FUNCTION sum_up_usage() RETURNS boolean LANGUAGE plpgsql SET work_mem = '64MB' AS $$
DECLARE
  wanted CONSTANT timestamptz := date_bin('15 minutes', now() - interval '1 hour', '2000-01-01 00:00:00+00');
  goal   timestamptz := wanted;
  done   timestamptz;
  first  timestamptz;
  behind timestamptz;
BEGIN
  -- Late calls wait for this lock, and it waits for those that are being written, so that each call is counted once.
  SELECT w.summed_until INTO done FROM usage_watermark w FOR UPDATE;
  IF done >= wanted THEN RETURN false; END IF;
  SELECT c.created_at INTO first FROM calls c
  WHERE c.created_at >= done AND c.created_at < wanted ORDER BY c.created_at LIMIT 1;
  IF FOUND THEN
    goal := least(wanted, date_bin('15 minutes', first, '2000-01-01 00:00:00+00') + interval '1 day');
    SELECT c.created_at INTO behind FROM calls c
    WHERE c.created_at >= first AND c.created_at < goal ORDER BY c.created_at OFFSET 20000 LIMIT 1;
    IF FOUND THEN
      goal := greatest(date_bin('15 minutes', behind, '2000-01-01 00:00:00+00'),
        date_bin('15 minutes', first, '2000-01-01 00:00:00+00') + interval '15 minutes');
    END IF;

    INSERT INTO usage_slots
    WITH parts AS MATERIALIZED (
      SELECT coalesce(c.account_id, '') AS account_id, c.slot, c.model, coalesce(c.key_id, '') AS key_id, c.group_name,
             coalesce(c.channel, '') AS channel, c.result, count(*) AS calls, sum(c.cost) AS cost,
             coalesce(sum(c.prompt_tokens), 0) AS prompt_tokens, coalesce(sum(c.cached_tokens), 0) AS cached_tokens,
             coalesce(sum(c.completion_tokens), 0) AS completion_tokens,
             count(*) FILTER (WHERE c.attempts > 1 AND c.result IN ('refused', 'failed', 'timeout')) AS retried,
             count(c.upstream_cost) AS known, coalesce(sum(c.upstream_cost), 0) AS upstream_cost,
             coalesce(sum(c.cost) FILTER (WHERE c.upstream_cost IS NOT NULL), 0) AS charged_of_known,
             sum(latency_histogram(c.first_token_ms)) AS first_tokens, sum(latency_histogram(c.duration_ms)) AS durations
        FROM (SELECT t.*, date_bin('15 minutes', t.created_at, '2000-01-01 00:00:00+00') AS slot,
                     call_result(t.status, t.error_reason, t.billing_basis) AS result
                FROM calls t WHERE t.created_at >= first AND t.created_at < goal) c
       GROUP BY c.slot, c.model, c.group_name, c.result, GROUPING SETS ((c.account_id, c.key_id), (c.channel))
    ), counted AS MATERIALIZED (
      SELECT *, count(*) OVER (PARTITION BY account_id, slot) > 16 AS many FROM parts
    )
    SELECT account_id, CASE WHEN many THEN 'each' ELSE 'few' END, slot, model, key_id, group_name, channel, result,
           calls, cost, prompt_tokens, cached_tokens, completion_tokens, retried, known, upstream_cost, charged_of_known,
           first_tokens, durations
      FROM counted
     UNION ALL
    SELECT account_id, CASE grouping(model, key_id, group_name, channel) WHEN 7 THEN 'model' WHEN 11 THEN 'key'
             WHEN 13 THEN 'group' WHEN 14 THEN 'channel' ELSE 'all' END, slot, coalesce(model, ''), coalesce(key_id, ''),
           coalesce(group_name, ''), coalesce(channel, ''), result, sum(calls), sum(cost), sum(prompt_tokens),
           sum(cached_tokens), sum(completion_tokens), sum(retried), sum(known), sum(upstream_cost),
           sum(charged_of_known), sum(first_tokens), sum(durations)
      FROM counted WHERE many
     GROUP BY account_id, slot, result, GROUPING SETS ((model), (key_id), (group_name), (channel), ())
    HAVING CASE WHEN account_id = '' THEN grouping(key_id) = 1 ELSE grouping(channel) = 1 END
     ORDER BY 1, 2, 3;
  END IF;
  UPDATE usage_watermark SET summed_until = goal;
  RETURN goal < wanted;
END $$;

-- Adds a call that is inserted, or subtracts one that is deleted, after its slot was rolled up. Calls are rolled up an
-- hour after they began at the earliest, and the triggers fire from half an hour on: no transaction takes that long.
CREATE OR REPLACE FUNCTION add_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  call calls;
  sign CONSTANT integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
  done timestamptz;
BEGIN
  call := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
  -- One transaction with late calls at a time, because two could deadlock on each other's rows. They are rare.
  PERFORM pg_advisory_xact_lock(718270005);
  SELECT w.summed_until INTO done FROM usage_watermark w FOR SHARE;
  IF call.created_at < done THEN
    INSERT INTO usage_slots AS s
    WITH parts AS MATERIALIZED (
      SELECT coalesce(c.account_id, '') AS account_id, c.slot, c.model, coalesce(c.key_id, '') AS key_id, c.group_name,
             coalesce(c.channel, '') AS channel, c.result, count(*) AS calls, sum(c.cost) AS cost,
             coalesce(sum(c.prompt_tokens), 0) AS prompt_tokens, coalesce(sum(c.cached_tokens), 0) AS cached_tokens,
             coalesce(sum(c.completion_tokens), 0) AS completion_tokens,
             count(*) FILTER (WHERE c.attempts > 1 AND c.result IN ('refused', 'failed', 'timeout')) AS retried,
             count(c.upstream_cost) AS known, coalesce(sum(c.upstream_cost), 0) AS upstream_cost,
             coalesce(sum(c.cost) FILTER (WHERE c.upstream_cost IS NOT NULL), 0) AS charged_of_known,
             sum(latency_histogram(c.first_token_ms)) AS first_tokens, sum(latency_histogram(c.duration_ms)) AS durations
        FROM (SELECT t.*, date_bin('15 minutes', t.created_at, '2000-01-01 00:00:00+00') AS slot,
                     call_result(t.status, t.error_reason, t.billing_basis) AS result
                FROM (SELECT call.*) t) c
       GROUP BY c.slot, c.model, c.group_name, c.result, GROUPING SETS ((c.account_id, c.key_id), (c.channel))
    )
    SELECT p.account_id, l.level, p.slot, CASE WHEN l.level IN ('each', 'few', 'model') THEN p.model ELSE '' END,
           CASE WHEN l.level IN ('each', 'few', 'key') THEN p.key_id ELSE '' END,
           CASE WHEN l.level IN ('each', 'few', 'group') THEN p.group_name ELSE '' END,
           CASE WHEN l.level IN ('each', 'few', 'channel') THEN p.channel ELSE '' END, p.result,
           sign * p.calls, sign * p.cost, sign * p.prompt_tokens, sign * p.cached_tokens, sign * p.completion_tokens,
           sign * p.retried, sign * p.known, sign * p.upstream_cost, sign * p.charged_of_known, sign * p.first_tokens,
           sign * p.durations
      FROM parts p, unnest(CASE
             WHEN EXISTS (SELECT FROM usage_slots e
                           WHERE e.account_id = p.account_id AND e.level = 'each' AND e.slot = p.slot)
             THEN ARRAY['each', 'model', 'group', 'all'] || CASE p.account_id WHEN '' THEN 'channel' ELSE 'key' END
             ELSE ARRAY['few'] END) AS l (level)
    ON CONFLICT ON CONSTRAINT usage_slot_key DO UPDATE
      SET calls = s.calls + excluded.calls,
          cost = s.cost + excluded.cost,
          prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
          cached_tokens = s.cached_tokens + excluded.cached_tokens,
          completion_tokens = s.completion_tokens + excluded.completion_tokens,
          retried = s.retried + excluded.retried,
          known = s.known + excluded.known,
          upstream_cost = s.upstream_cost + excluded.upstream_cost,
          charged_of_known = s.charged_of_known + excluded.charged_of_known,
          first_tokens = coalesce(s.first_tokens, 0) + coalesce(excluded.first_tokens, 0),
          durations = coalesce(s.durations, 0) + coalesce(excluded.durations, 0);
    -- Rows without calls are deleted: charts and lists would show their names.
    DELETE FROM usage_slots s
     WHERE s.account_id IN (call.account_id, '') AND s.calls = 0
       AND s.slot = date_bin('15 minutes', call.created_at, '2000-01-01 00:00:00+00')
       AND s.level IN ('each', 'model', 'key', 'group', 'channel', 'all', 'few');
  END IF;
  RETURN NULL;
END $$;
