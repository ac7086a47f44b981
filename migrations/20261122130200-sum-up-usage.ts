import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * Sums of finished calls by quarters of an hour, so that a month of a million calls is shown without reading them. They
 * are exact: made of calls that nothing should be added to any more, and corrected when something is. And a list of what
 * moved each wallet but calls, for a page that would read those of everybody otherwise.
 */
export class SumUpUsage20261122130200 implements MigrationInterface {
  readonly name = 'SumUpUsage20261122130200';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [RESULT, TABLES, SUM_UP, LATE, SAMPLE, MOVEMENTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** A quarter of an hour: every time zone in use has its midnight at the beginning of one. */
const slotOf = (moment: string): string => `date_bin('15 minutes', ${moment}, '2000-01-01 00:00:00+00')`;

const RESULT = `
  -- How a finished call went, as people read it. What the caller has to change is a refusal, whoever refused.
  CREATE FUNCTION call_result(status text, error_reason text, billing_basis text) RETURNS text
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
`;

const TABLES = `
  -- The sums of an account's finished calls, for each quarter of an hour and each of what calls can be filtered by.
  -- Unknown counts of tokens add nothing.
  CREATE TABLE usage_slots (
    account_id        text NOT NULL,
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
    CONSTRAINT usage_slot_key PRIMARY KEY (account_id, slot, model, key_id, group_name, result)
  );

  -- How far the calls of an account are summed up: those created before this moment are, and no others.
  CREATE TABLE usage_sums (
    account_id   text PRIMARY KEY,
    summed_until timestamptz NOT NULL DEFAULT '-infinity'
  );
`;

const SUM_UP = `
  -- Sums up an account's calls for one more day at most, up to an hour ago. Gives how far they are summed up then. Skips
  -- times without calls.
  CREATE FUNCTION sum_up_usage(account text) RETURNS timestamptz LANGUAGE plpgsql AS $$
  DECLARE
    goal  timestamptz := ${slotOf(`now() - interval '1 hour'`)};
    done  timestamptz;
    first timestamptz;
  BEGIN
    INSERT INTO usage_sums (account_id) VALUES (account) ON CONFLICT DO NOTHING;
    -- Late calls wait here, and this waits for those that are just being written: they see, or are seen.
    SELECT s.summed_until INTO done FROM usage_sums s WHERE s.account_id = account FOR UPDATE;
    IF done >= goal THEN RETURN done; END IF;
    SELECT c.created_at INTO first FROM calls c
    WHERE c.account_id = account AND c.created_at >= done AND c.created_at < goal ORDER BY c.created_at LIMIT 1;
    IF FOUND THEN
      goal := least(goal, ${slotOf('first')} + interval '1 day');
      INSERT INTO usage_slots
      SELECT account, ${slotOf('c.created_at')}, c.model, c.key_id, c.group_name,
             call_result(c.status, c.error_reason, c.billing_basis), count(*), sum(c.cost),
             coalesce(sum(c.prompt_tokens), 0), coalesce(sum(c.cached_tokens), 0), coalesce(sum(c.completion_tokens), 0)
      FROM calls c WHERE c.account_id = account AND c.created_at >= first AND c.created_at < goal
      GROUP BY 2, 3, 4, 5, 6;
    END IF;
    UPDATE usage_sums s SET summed_until = goal WHERE s.account_id = account;
    RETURN goal;
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
    INSERT INTO usage_sums (account_id) VALUES (call.account_id) ON CONFLICT DO NOTHING;
    SELECT s.summed_until INTO done FROM usage_sums s WHERE s.account_id = call.account_id FOR SHARE;
    IF call.created_at < done THEN
      INSERT INTO usage_slots AS s VALUES (call.account_id, ${slotOf('call.created_at')}, call.model, call.key_id,
        call.group_name, call_result(call.status, call.error_reason, call.billing_basis), sign, sign * call.cost,
        sign * coalesce(call.prompt_tokens, 0), sign * coalesce(call.cached_tokens, 0),
        sign * coalesce(call.completion_tokens, 0))
      ON CONFLICT ON CONSTRAINT usage_slot_key DO UPDATE SET calls = s.calls + excluded.calls,
        cost = s.cost + excluded.cost, prompt_tokens = s.prompt_tokens + excluded.prompt_tokens,
        cached_tokens = s.cached_tokens + excluded.cached_tokens,
        completion_tokens = s.completion_tokens + excluded.completion_tokens;
    END IF;
    RETURN NULL;
  END $$;

  -- The condition is all that a settlement in time pays for it.
  CREATE TRIGGER late_calls_are_summed_up AFTER INSERT ON calls FOR EACH ROW
    WHEN (NEW.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_usage();
  CREATE TRIGGER late_calls_are_taken_back AFTER DELETE ON calls FOR EACH ROW
    WHEN (OLD.created_at < now() - interval '30 minutes') EXECUTE FUNCTION add_late_usage();
`;

const SAMPLE = `
  -- One call of 32, by the last of the random digits in its id, with all that medians of very many calls are taken from.
  CREATE INDEX calls_sampled ON calls (account_id, created_at)
    INCLUDE (first_token_ms, model, key_id, group_name, status, error_reason, billing_basis)
    WHERE right(id, 2) IN ('00', '20', '40', '60', '80', 'a0', 'c0', 'e0');
`;

const MOVEMENTS = `
  -- Which entries moved the wallet of an account, or what it owes, but for calls: few among the very many lines of those.
  CREATE TABLE wallet_movements (
    account_id text NOT NULL,
    created_at timestamptz NOT NULL,
    entry_id   text NOT NULL CONSTRAINT wallet_movement_is_entry REFERENCES ledger_entries (id),
    CONSTRAINT wallet_movement_key PRIMARY KEY (account_id, created_at, entry_id)
  );

  CREATE FUNCTION movements_of(entries ledger_entries) RETURNS SETOF wallet_movements LANGUAGE sql STABLE AS $$
    SELECT DISTINCT split_part(l.ledger_account, ':', 2), entries.created_at, entries.id FROM ledger_lines l
    WHERE l.entry_id = entries.id AND split_part(l.ledger_account, ':', 1) IN ('wallet', 'owed');
  $$;

  CREATE FUNCTION list_movements() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO wallet_movements SELECT * FROM movements_of(NEW);
    RETURN NULL;
  END $$;

  -- At the end of the transaction: the lines are written after their entry. All that a call pays is the condition.
  CREATE CONSTRAINT TRIGGER movements_are_listed AFTER INSERT ON ledger_entries DEFERRABLE INITIALLY DEFERRED
    FOR EACH ROW WHEN (NEW.kind <> 'calls') EXECUTE FUNCTION list_movements();

  -- After the trigger, which keeps others from writing entries until this is committed: none is missed.
  INSERT INTO wallet_movements SELECT m.* FROM ledger_entries e, LATERAL movements_of(e) m WHERE e.kind <> 'calls';
`;
