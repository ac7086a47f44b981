import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The sums of calls by quarters of an hour are made in the background, of all accounts up to one moment, and know what
 * operators see and how long calls took. Sums of calls that are not kept any more stay as they are; all others are made
 * anew, the oldest first, and pages read the calls themselves until then.
 */
export class RollUpUsage20261123090000 implements MigrationInterface {
  readonly name = 'RollUpUsage20261123090000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [END_OF_OLD, HISTOGRAMS, TABLE, WATERMARK, KEPT, ROLL_UP, LATE])
      await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** A quarter of an hour: every time zone in use has its midnight at the beginning of one. */
const slotOf = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

const END_OF_OLD = `
  DROP TRIGGER late_calls_are_summed_up ON calls;
  DROP TRIGGER late_calls_are_taken_back ON calls;
  DROP FUNCTION add_late_usage();
  DROP FUNCTION sum_up_usage(text);
  DROP TABLE usage_sums;
  -- Percentiles are read from histograms now, and not from one call in 32.
  DROP INDEX calls_sampled;
`;

const HELD = 'least(greatest(ms, 1), 4194303)';
/** How often 1 ms was doubled where a time is. */
const DOUBLING = `width_bucket(${HELD}, ARRAY[${Array.from({ length: 21 }, (_, index) => 2 ** (index + 1)).join(', ')}])`;

const HISTOGRAMS = `
  -- In which bucket of a histogram a time of so many milliseconds is counted: each doubling from 1 ms on has ten of equal
  -- width, so that none is wider than a tenth of where it begins. Times of 70 minutes and more are in the last one, 219.
  -- The same as bucketOf in src/usage/latency-buckets.ts.
  CREATE FUNCTION latency_bucket(ms integer) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT CASE WHEN ms IS NOT NULL THEN 10 * (${DOUBLING} - 1) + ((10 * ${HELD}) >> ${DOUBLING}) END
  $$;

  -- A histogram is one number, so that a sum adds it up: its digits in base 10^12 are how many calls are in each bucket.
  -- This one has one call.
  CREATE FUNCTION latency_histogram(ms integer) RETURNS numeric LANGUAGE sql IMMUTABLE PARALLEL SAFE AS $$
    SELECT ('1e' || 12 * latency_bucket(ms))::numeric
  $$;
`;

const TABLE = `
  ALTER TABLE usage_slots DROP CONSTRAINT usage_slot_key;
  ALTER TABLE usage_slots RENAME TO old_usage_slots;

  -- The sums of finished calls for each quarter of an hour, of each account and, under no account and no key, of all
  -- together. Where an account has many rows for what its calls can be filtered by (level "each"), their sums by one of
  -- these alone ("model", "key", "group", and "all" by none) stand beside them, with nothing in the columns of the others;
  -- where it has few, these are for every reader ("few"). So whoever reads takes the rows of one level, and of "few".
  -- Unknown counts of tokens add nothing. retried: failed calls that had been tried more than once. known: calls whose
  -- upstream cost is known, then what these cost the operator and what was charged for them. first_tokens, durations:
  -- histograms of milliseconds; null: unknown, or of no call.
  CREATE TABLE usage_slots (
    account_id        text NOT NULL,
    level             text NOT NULL,
    slot              timestamptz NOT NULL,
    model             text NOT NULL,
    key_id            text NOT NULL,
    group_name        text NOT NULL,
    result            text NOT NULL,
    calls             bigint NOT NULL,
    cost              bigint NOT NULL,
    prompt_tokens     bigint NOT NULL,
    cached_tokens     bigint NOT NULL,
    completion_tokens bigint NOT NULL,
    retried           bigint NOT NULL,
    known             bigint NOT NULL,
    upstream_cost     bigint NOT NULL,
    charged_of_known  bigint NOT NULL,
    first_tokens      numeric,
    durations         numeric,
    CONSTRAINT usage_slot_key PRIMARY KEY (account_id, level, slot, model, key_id, group_name, result),
    CONSTRAINT usage_slot_level_is_known CHECK (level IN ('each', 'model', 'key', 'group', 'all', 'few'))
  );
  -- For operators: what was charged to whom.
  CREATE INDEX usage_slots_by_time ON usage_slots (slot, account_id) INCLUDE (calls, cost)
    WHERE level IN ('all', 'few');
`;

const WATERMARK = `
  -- How far calls are summed up: those of every account created before this moment are, and no others.
  CREATE TABLE usage_watermark (
    only_row     boolean NOT NULL DEFAULT true CONSTRAINT usage_watermark_key PRIMARY KEY,
    summed_until timestamptz NOT NULL,
    CONSTRAINT usage_watermark_has_one_row CHECK (only_row)
  );

  -- Of what was dropped nothing but the sums is left; all later calls are there to be summed up again.
  INSERT INTO usage_watermark (summed_until)
  SELECT coalesce((max(month) + interval '1 month') AT TIME ZONE 'UTC', '-infinity') FROM dropped_calls;
`;

const KEPT = `
  INSERT INTO usage_slots
  SELECT coalesce(account_id, ''), 'few', slot, model, coalesce(key_id, ''), group_name, result, sum(calls), sum(cost),
         sum(prompt_tokens), sum(cached_tokens), sum(completion_tokens), 0, 0, 0, 0, NULL, NULL
    FROM old_usage_slots WHERE slot < (SELECT summed_until FROM usage_watermark)
   GROUP BY GROUPING SETS ((account_id, slot, model, key_id, group_name, result), (slot, model, group_name, result));
  DROP TABLE old_usage_slots;
`;

/** Everything that is summed up, in the order of the columns. */
const SUMS =
  'calls cost prompt_tokens cached_tokens completion_tokens retried known upstream_cost charged_of_known first_tokens durations'.split(
    ' ',
  );
const SUMMED = SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(', ');

/** CTEs: the rows of every account, `parts`, for all that its calls can be filtered by, and those of all accounts. */
const partsOf = (calls: string): string => `
  each AS MATERIALIZED (
    SELECT c.account_id, c.slot, c.model, c.key_id, c.group_name, c.result, count(*) AS calls, sum(c.cost) AS cost,
           coalesce(sum(c.prompt_tokens), 0) AS prompt_tokens, coalesce(sum(c.cached_tokens), 0) AS cached_tokens,
           coalesce(sum(c.completion_tokens), 0) AS completion_tokens,
           count(*) FILTER (WHERE c.attempts > 1 AND c.result IN ('refused', 'failed', 'timeout')) AS retried,
           count(c.upstream_cost) AS known, coalesce(sum(c.upstream_cost), 0) AS upstream_cost,
           coalesce(sum(c.cost) FILTER (WHERE c.upstream_cost IS NOT NULL), 0) AS charged_of_known,
           sum(latency_histogram(c.first_token_ms)) AS first_tokens, sum(latency_histogram(c.duration_ms)) AS durations
      FROM (SELECT t.*, ${slotOf('t.created_at')} AS slot,
                   call_result(t.status, t.error_reason, t.billing_basis) AS result FROM ${calls}) c
     GROUP BY 1, 2, 3, 4, 5, 6
  ), parts AS (
    SELECT * FROM each
     UNION ALL
    SELECT '', slot, model, '', group_name, result, ${SUMMED} FROM each GROUP BY slot, model, group_name, result
  )`;

const ROLL_UP = `
  -- Sums up calls for one more day, or of some 20,000, at most, up to an hour ago; skips times without calls. Gives whether
  -- there are more to be summed up. Sums of histograms take memory.
  CREATE FUNCTION sum_up_usage() RETURNS boolean LANGUAGE plpgsql SET work_mem = '64MB' AS $$
  DECLARE
    wanted CONSTANT timestamptz := ${slotOf(`now() - interval '1 hour'`)};
    goal   timestamptz := wanted;
    done   timestamptz;
    first  timestamptz;
    behind timestamptz;
  BEGIN
    -- Late calls wait here, and this waits for those that are just being written: they see, or are seen.
    SELECT w.summed_until INTO done FROM usage_watermark w FOR UPDATE;
    IF done >= wanted THEN RETURN false; END IF;
    SELECT c.created_at INTO first FROM calls c
    WHERE c.created_at >= done AND c.created_at < wanted ORDER BY c.created_at LIMIT 1;
    IF FOUND THEN
      goal := least(wanted, ${slotOf('first')} + interval '1 day');
      SELECT c.created_at INTO behind FROM calls c
      WHERE c.created_at >= first AND c.created_at < goal ORDER BY c.created_at OFFSET 20000 LIMIT 1;
      IF FOUND THEN goal := greatest(${slotOf('behind')}, ${slotOf('first')} + interval '15 minutes'); END IF;

      INSERT INTO usage_slots
      WITH ${partsOf('calls t WHERE t.created_at >= first AND t.created_at < goal')}, counted AS MATERIALIZED (
        SELECT *, count(*) OVER (PARTITION BY account_id, slot) > 16 AS many FROM parts
      )
      SELECT account_id, CASE WHEN many THEN 'each' ELSE 'few' END, slot, model, key_id, group_name, result, ${SUMS.join(', ')}
        FROM counted
       UNION ALL
      SELECT account_id, CASE grouping(model, key_id, group_name) WHEN 3 THEN 'model' WHEN 5 THEN 'key' WHEN 6 THEN 'group'
               ELSE 'all' END, slot, coalesce(model, ''), coalesce(key_id, ''), coalesce(group_name, ''), result, ${SUMMED}
        FROM counted WHERE many
       GROUP BY account_id, slot, result, GROUPING SETS ((model), (key_id), (group_name), ())
       ORDER BY 1, 2, 3;
    END IF;
    UPDATE usage_watermark SET summed_until = goal;
    RETURN goal < wanted;
  END $$;
`;

const LATE = `
  -- A call that is written, or taken back, after its time was summed up. A call is summed up an hour after it began at the
  -- earliest, and whoever writes it then has begun to half an hour before that: no transaction lasts so long.
  CREATE FUNCTION add_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    call calls;
    sign CONSTANT integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
    done timestamptz;
  BEGIN
    call := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    -- One transaction with late calls at a time: in which order they meet the sums of each other is anybody's guess, and
    -- two would wait for one another. They are rare.
    PERFORM pg_advisory_xact_lock(718270005);
    SELECT w.summed_until INTO done FROM usage_watermark w FOR SHARE;
    IF call.created_at < done THEN
      INSERT INTO usage_slots AS s
      WITH ${partsOf('(SELECT call.*) t')}
      SELECT p.account_id, l.level, p.slot, CASE WHEN l.level IN ('each', 'few', 'model') THEN p.model ELSE '' END,
             CASE WHEN l.level IN ('each', 'few', 'key') THEN p.key_id ELSE '' END,
             CASE WHEN l.level IN ('each', 'few', 'group') THEN p.group_name ELSE '' END, p.result,
             ${SUMS.map((sum) => `sign * p.${sum}`).join(', ')}
        FROM parts p, unnest(CASE
               WHEN EXISTS (SELECT FROM usage_slots e WHERE e.account_id = p.account_id AND e.level = 'each' AND e.slot = p.slot)
               THEN ARRAY['each', 'model', 'key', 'group', 'all'] ELSE ARRAY['few'] END) AS l (level)
      ON CONFLICT ON CONSTRAINT usage_slot_key DO UPDATE
        SET ${SUMS.map((sum) => `${sum} = coalesce(s.${sum}, 0) + coalesce(excluded.${sum}, 0)`).join(', ')};
    END IF;
    RETURN NULL;
  END $$;

  -- The condition is all that a settlement in time pays for it.
  CREATE TRIGGER late_calls_are_summed_up AFTER INSERT ON calls FOR EACH ROW
    WHEN (NEW.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_usage();
  CREATE TRIGGER late_calls_are_taken_back AFTER DELETE ON calls FOR EACH ROW
    WHEN (OLD.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_usage();
`;
