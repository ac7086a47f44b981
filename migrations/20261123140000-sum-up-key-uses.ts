import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * From where and for what each key was used, by hours of the last month, so that the page of a key with a million calls
 * reads some thousand rows. Made as the sums of the charts are: exact, and corrected when a call comes late.
 */
export class SumUpKeyUses20261123140000 implements MigrationInterface {
  readonly name = 'SumUpKeyUses20261123140000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TABLES, SUM_UP, LATE]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** So many addresses of a key have rows of their own in an hour. */
const MOST_ADDRESSES = 50;

const hourOf = (moment: string): string => `date_bin('1 hour', ${moment}, '2000-01-01 00:00:00+00')`;

/** No page looks further back. */
const KEPT_FROM = hourOf(`now() - interval '32 days'`);

const TABLES = `
  -- The finished calls of a key in an hour, by the address that they came from and the model. address: empty where it was
  -- not recorded, 'others' for all beyond the ${MOST_ADDRESSES} that most calls came from. Unknown counts of tokens add nothing.
  CREATE TABLE key_uses (
    key_id   text NOT NULL,
    hour     timestamptz NOT NULL,
    address  text NOT NULL,
    model    text NOT NULL,
    calls    bigint NOT NULL,
    refused  bigint NOT NULL,
    failed   bigint NOT NULL,
    cost     bigint NOT NULL,
    tokens   bigint NOT NULL,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    CONSTRAINT key_use_key PRIMARY KEY (key_id, hour, address, model)
  );
  CREATE INDEX key_uses_by_hour ON key_uses (hour);

  -- How far all calls are summed up: those created before this moment are, and no others. One row.
  CREATE TABLE key_use_sums (
    one          boolean PRIMARY KEY DEFAULT true,
    summed_until timestamptz NOT NULL,
    CONSTRAINT key_use_sums_are_one_row CHECK (one)
  );
  INSERT INTO key_use_sums (summed_until) VALUES (${KEPT_FROM});
`;

/** What a call adds. Refused: by whoever refused it; failed: that, and whatever else went wrong. */
const result = (call: string): string => `call_result(${call}.status, ${call}.error_reason, ${call}.billing_basis)`;
const tokens = (call: string): string => `coalesce(${call}.prompt_tokens, 0) + coalesce(${call}.completion_tokens, 0)`;

const SUM_UP = `
  -- Sums up everybody's calls for six more hours at most, up to an hour ago, and forgets what no page shows any more. Gives
  -- how far they are summed up then. Skips times without calls.
  CREATE FUNCTION sum_up_key_uses() RETURNS timestamptz LANGUAGE plpgsql AS $$
  DECLARE
    goal  timestamptz := ${hourOf(`now() - interval '1 hour'`)};
    done  timestamptz;
    first timestamptz;
  BEGIN
    -- Late calls wait here, and this waits for those that are just being written: they see, or are seen.
    SELECT greatest(s.summed_until, ${KEPT_FROM}) INTO done FROM key_use_sums s FOR UPDATE;
    IF done >= goal THEN RETURN done; END IF;
    SELECT c.created_at INTO first FROM calls c
    WHERE c.created_at >= done AND c.created_at < goal ORDER BY c.created_at LIMIT 1;
    IF FOUND THEN
      goal := least(goal, ${hourOf('first')} + interval '6 hours');
      INSERT INTO key_uses
      WITH uses AS (
        SELECT c.key_id, ${hourOf('c.created_at')} AS hour, c.ip, c.model, count(*) AS calls,
               count(*) FILTER (WHERE c.status = 'refused') AS refused,
               count(*) FILTER (WHERE ${result('c')} IN ('refused', 'failed', 'timeout')) AS failed,
               sum(c.cost) AS cost, sum(${tokens('c')}) AS tokens, min(c.created_at) AS first_at, max(c.created_at) AS last_at
          FROM calls c WHERE c.created_at >= first AND c.created_at < goal
         GROUP BY 1, 2, 3, 4
      ), places AS (
        SELECT key_id, hour, ip, row_number() OVER (PARTITION BY key_id, hour ORDER BY sum(calls) DESC, ip) AS place
          FROM uses GROUP BY 1, 2, 3
      )
      SELECT key_id, hour, CASE WHEN place <= ${MOST_ADDRESSES} THEN ip ELSE 'others' END, model, sum(calls), sum(refused),
             sum(failed), sum(cost), sum(tokens), min(first_at), max(last_at)
        FROM uses JOIN places USING (key_id, hour, ip) GROUP BY 1, 2, 3, 4;
    END IF;
    DELETE FROM key_uses WHERE hour < ${KEPT_FROM};
    UPDATE key_use_sums SET summed_until = goal;
    RETURN goal;
  END $$;
`;

const LATE = `
  -- A call that is written, or taken back, after its time was summed up; why half an hour is early enough to look for that
  -- stands with add_late_usage.
  CREATE FUNCTION add_late_key_use() RETURNS trigger LANGUAGE plpgsql AS $$
  DECLARE
    call  calls;
    sign  CONSTANT integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
    done  timestamptz;
    place text;
    how   text;
  BEGIN
    call := CASE TG_OP WHEN 'DELETE' THEN OLD ELSE NEW END;
    -- The lock of all late calls, for the reason that is told there.
    PERFORM pg_advisory_xact_lock(718270005);
    SELECT s.summed_until INTO done FROM key_use_sums s FOR SHARE;
    IF call.created_at >= done OR call.created_at < ${KEPT_FROM} THEN RETURN NULL; END IF;
    -- Among the others, if that is where an address of that hour would have been put.
    SELECT CASE WHEN coalesce(bool_or(u.address = call.ip), false) OR count(DISTINCT u.address) < ${MOST_ADDRESSES}
                THEN call.ip ELSE 'others' END INTO place
      FROM key_uses u WHERE u.key_id = call.key_id AND u.hour = ${hourOf('call.created_at')};
    how := ${result('call')};
    INSERT INTO key_uses AS u VALUES (call.key_id, ${hourOf('call.created_at')}, place, call.model, sign,
      CASE WHEN call.status = 'refused' THEN sign ELSE 0 END,
      CASE WHEN how IN ('refused', 'failed', 'timeout') THEN sign ELSE 0 END,
      sign * call.cost, sign * (${tokens('call')}), call.created_at, call.created_at)
    ON CONFLICT ON CONSTRAINT key_use_key DO UPDATE SET calls = u.calls + excluded.calls,
      refused = u.refused + excluded.refused, failed = u.failed + excluded.failed, cost = u.cost + excluded.cost,
      tokens = u.tokens + excluded.tokens, first_at = least(u.first_at, excluded.first_at),
      last_at = greatest(u.last_at, excluded.last_at);
    RETURN NULL;
  END $$;

  -- The condition is all that a settlement in time pays for it.
  CREATE TRIGGER late_calls_are_key_uses AFTER INSERT ON calls FOR EACH ROW
    WHEN (NEW.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_key_use();
  CREATE TRIGGER late_calls_are_no_key_uses AFTER DELETE ON calls FOR EACH ROW
    WHEN (OLD.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_key_use();
`;
