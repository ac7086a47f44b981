import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The sums of all accounts together know the channels of their calls, so that operators' charts of a month by channel
 * read some thousand rows. Which channel calls went to that are not kept any more nobody knows: their sums stay, under no
 * channel. All others are made anew, the oldest first, and pages read the calls themselves until then.
 */
export class SumUpChannels20261124110000 implements MigrationInterface {
  readonly name = 'SumUpChannels20261124110000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [END_OF_OLD, TABLE, KEPT, ROLL_UP, LATE]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** A quarter of an hour: every time zone in use has its midnight at the beginning of one. */
const slotOf = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

const END_OF_OLD = `
  ALTER TABLE usage_slots DROP CONSTRAINT usage_slot_key;
  DROP INDEX usage_slots_by_time;
  ALTER TABLE usage_slots RENAME TO old_usage_slots;

  -- Of what was dropped nothing but the sums is left; all later calls are there to be summed up again.
  UPDATE usage_watermark
     SET summed_until = (SELECT coalesce((max(month) + interval '1 month') AT TIME ZONE 'UTC', '-infinity') FROM dropped_calls);
`;

const TABLE = `
  -- The sums of finished calls for each quarter of an hour, of each account and, under no account, of all together. Keys
  -- are an account's, and channels the operators': all together have no keys, and those of accounts no channels. A
  -- call's channel is that of its last attempt, under the name that it had then; empty: none, or not known any more.
  -- Where an account has many rows for what its calls can be filtered by (level "each"), their sums by one of these alone
  -- ("model", "key", "group", "channel", and "all" by none) stand beside them, with nothing in the columns of the others;
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
    channel           text NOT NULL,
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
    CONSTRAINT usage_slot_key PRIMARY KEY (account_id, level, slot, model, key_id, group_name, channel, result),
    CONSTRAINT usage_slot_level_is_known CHECK (level IN ('each', 'model', 'key', 'group', 'channel', 'all', 'few'))
  );
  -- For operators: what was charged to whom.
  CREATE INDEX usage_slots_by_time ON usage_slots (slot, account_id) INCLUDE (calls, cost)
    WHERE level IN ('all', 'few');
  -- All quarters of an hour with a name stand together. Rows of level "model" have no group, and the other way round; of
  -- those of level "few" each pair of names is one. Nobody is offered the names of all accounts together.
  CREATE INDEX usage_slots_by_name ON usage_slots (account_id, level, model, group_name, slot)
    WHERE account_id <> '' AND level IN ('model', 'group', 'few');
`;

/** Everything that is summed up, in the order of the columns. */
const SUMS =
  'calls cost prompt_tokens cached_tokens completion_tokens retried known upstream_cost charged_of_known first_tokens durations'.split(
    ' ',
  );
const SUMMED = SUMS.map((sum) => `sum(${sum}) AS ${sum}`).join(', ');

const KEPT = `
  INSERT INTO usage_slots
  SELECT account_id, level, slot, model, key_id, group_name, '', result, ${SUMS.join(', ')}
    FROM old_usage_slots
   WHERE slot < (SELECT summed_until FROM usage_watermark) AND calls > 0 AND NOT (account_id = '' AND level = 'key')
   UNION ALL
  SELECT account_id, 'channel', slot, '', '', '', '', result, ${SUMS.join(', ')}
    FROM old_usage_slots
   WHERE slot < (SELECT summed_until FROM usage_watermark) AND calls > 0 AND account_id = '' AND level = 'all';
  DROP TABLE old_usage_slots;
`;

/** The CTE "parts": the rows of every account, and of all together, for everything that their calls can be filtered by. */
const partsOf = (calls: string): string => `
  parts AS MATERIALIZED (
    SELECT coalesce(c.account_id, '') AS account_id, c.slot, c.model, coalesce(c.key_id, '') AS key_id, c.group_name,
           coalesce(c.channel, '') AS channel, c.result, count(*) AS calls, sum(c.cost) AS cost,
           coalesce(sum(c.prompt_tokens), 0) AS prompt_tokens, coalesce(sum(c.cached_tokens), 0) AS cached_tokens,
           coalesce(sum(c.completion_tokens), 0) AS completion_tokens,
           count(*) FILTER (WHERE c.attempts > 1 AND c.result IN ('refused', 'failed', 'timeout')) AS retried,
           count(c.upstream_cost) AS known, coalesce(sum(c.upstream_cost), 0) AS upstream_cost,
           coalesce(sum(c.cost) FILTER (WHERE c.upstream_cost IS NOT NULL), 0) AS charged_of_known,
           sum(latency_histogram(c.first_token_ms)) AS first_tokens, sum(latency_histogram(c.duration_ms)) AS durations
      FROM (SELECT t.*, ${slotOf('t.created_at')} AS slot,
                   call_result(t.status, t.error_reason, t.billing_basis) AS result FROM ${calls}) c
     GROUP BY c.slot, c.model, c.group_name, c.result, GROUPING SETS ((c.account_id, c.key_id), (c.channel))
  )`;

const ROLL_UP = `
  -- Sums up calls for one more day, or of some 20,000, at most, up to an hour ago; skips times without calls. Gives whether
  -- there are more to be summed up. Sums of histograms take memory.
  CREATE OR REPLACE FUNCTION sum_up_usage() RETURNS boolean LANGUAGE plpgsql SET work_mem = '64MB' AS $$
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
      SELECT account_id, CASE WHEN many THEN 'each' ELSE 'few' END, slot, model, key_id, group_name, channel, result,
             ${SUMS.join(', ')}
        FROM counted
       UNION ALL
      SELECT account_id, CASE grouping(model, key_id, group_name, channel) WHEN 7 THEN 'model' WHEN 11 THEN 'key'
               WHEN 13 THEN 'group' WHEN 14 THEN 'channel' ELSE 'all' END, slot, coalesce(model, ''), coalesce(key_id, ''),
             coalesce(group_name, ''), coalesce(channel, ''), result, ${SUMMED}
        FROM counted WHERE many
       GROUP BY account_id, slot, result, GROUPING SETS ((model), (key_id), (group_name), (channel), ())
      HAVING CASE WHEN account_id = '' THEN grouping(key_id) = 1 ELSE grouping(channel) = 1 END
       ORDER BY 1, 2, 3;
    END IF;
    UPDATE usage_watermark SET summed_until = goal;
    RETURN goal < wanted;
  END $$;
`;

const LATE = `
  -- A call that is written, or taken back, after its time was summed up. A call is summed up an hour after it began at the
  -- earliest, and whoever writes it then has begun to half an hour before that: no transaction lasts so long.
  CREATE OR REPLACE FUNCTION add_late_usage() RETURNS trigger LANGUAGE plpgsql AS $$
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
             CASE WHEN l.level IN ('each', 'few', 'group') THEN p.group_name ELSE '' END,
             CASE WHEN l.level IN ('each', 'few', 'channel') THEN p.channel ELSE '' END, p.result,
             ${SUMS.map((sum) => `sign * p.${sum}`).join(', ')}
        FROM parts p, unnest(CASE
               WHEN EXISTS (SELECT FROM usage_slots e WHERE e.account_id = p.account_id AND e.level = 'each' AND e.slot = p.slot)
               THEN ARRAY['each', 'model', 'group', 'all'] || CASE p.account_id WHEN '' THEN 'channel' ELSE 'key' END
               ELSE ARRAY['few'] END) AS l (level)
      ON CONFLICT ON CONSTRAINT usage_slot_key DO UPDATE
        SET ${SUMS.map((sum) => `${sum} = coalesce(s.${sum}, 0) + coalesce(excluded.${sum}, 0)`).join(', ')};
      -- Of what no call is left there is no row: charts and lists would name it.
      DELETE FROM usage_slots s
       WHERE s.account_id IN (call.account_id, '') AND s.slot = ${slotOf('call.created_at')} AND s.calls = 0
         AND s.level IN ('each', 'model', 'key', 'group', 'channel', 'all', 'few');
    END IF;
    RETURN NULL;
  END $$;
`;
