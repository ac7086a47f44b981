import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The two statements that move money: admission and settlement, each for a whole batch of calls.
 * Both lock wallets, then keys, each in the order of their ids, so that any number of processes can run them at once
 * without a deadlock; both decide call by call in the order of arrival from nothing but the locked rows.
 */
export class CreateBillingFunctions20261120120200 implements MigrationInterface {
  readonly name = 'CreateBillingFunctions20261120120200';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ADMISSION, ADMIT, SETTLEMENT, SETTLE]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/**
 * Every row is found by its key. Left to itself, the planner reads a small table whole, and keeps to that plan when the
 * table has grown or is full of rows that are gone: `open_calls` is small and changes all the time.
 */
const BY_INDEX = 'SET enable_seqscan = off';

/*
 * What admission is asked for one call. It comes as a row and not as JSON, which costs PostgreSQL five times as much to
 * read. snapshot: which of the snapshots beside the batch, from 1: most calls of a batch are priced alike. In nanos:
 *   prompt   what the prompt alone is expected to cost
 *   minimum  the least hold under which the call can do anything useful
 *   base     the hold it gets if the money is there
 *   ceiling  what it may hold at most; between base and ceiling it gets what an eighth of the free balance buys
 */
const ADMISSION = `
  CREATE TYPE admission AS (
    id text, created_at timestamptz, account_id text, key_id text, key_version integer, catalog_version bigint,
    process_id text, model text, group_name text, protocol text, stream boolean, effort text, ip text, snapshot integer,
    prompt bigint, minimum bigint, base bigint, ceiling bigint
  );
`;

/*
 * One row a call, in order: outcome 'admitted' with its hold; 'stale' when the process used an old key or catalog;
 * 'key_state', 'account_state', 'wallet' or 'key' when that refused it. free and on_hold are of the wallet,
 * or of the key when the key refused, as this call met them.
 */
const ADMIT = `
  CREATE FUNCTION admit_calls(batch admission[], snapshots jsonb[])
  RETURNS TABLE (outcome text, hold bigint, free bigint, on_hold bigint, holds integer) LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    unlimited CONSTANT bigint := 9223372036854775807;
    catalog_now bigint;
    locked record;
    asked admission;
    wallet_ids text[] := '{}';  wallet_free bigint[] := '{}';  wallet_held bigint[] := '{}';  wallet_holds integer[] := '{}';
    wallet_taken bigint[] := '{}';  wallet_count integer[] := '{}';
    key_ids text[] := '{}';  key_free bigint[] := '{}';  key_held bigint[] := '{}';  key_versions integer[] := '{}';
    key_usable boolean[] := '{}';  account_usable boolean[] := '{}';  key_taken bigint[] := '{}';
    -- For each call its hold; null when it is not admitted.
    granted bigint[] := '{}';
    w integer;
    k integer;
  BEGIN
    -- Lock wallets in the order of their ids; everything decided below comes from these rows as they are now.
    FOR locked IN
      SELECT t.account_id, t.balance - t.held AS left_over, t.held, t.holds, t.owed FROM wallets t
      WHERE t.account_id IN (SELECT c.account_id FROM unnest(batch) c)
      ORDER BY t.account_id FOR UPDATE
    LOOP
      wallet_ids := wallet_ids || locked.account_id;
      -- While something is owed, nothing is free.
      wallet_free := wallet_free || CASE WHEN locked.owed > 0 THEN 0 ELSE locked.left_over END;
      wallet_held := wallet_held || locked.held;
      wallet_holds := wallet_holds || locked.holds;
      wallet_taken := wallet_taken || 0::bigint;
      wallet_count := wallet_count || 0;
    END LOOP;

    -- Then keys, likewise; the lock makes their state and version those that hold until this commits.
    FOR locked IN
      SELECT t.id, t.version, t.held, coalesce(t.quota - t.used - t.held, unlimited) AS left_over,
             t.state = 'enabled' AND coalesce(t.expires_at > now(), true) AS usable, a.state = 'enabled' AS account_usable
      FROM api_keys t JOIN accounts a ON a.id = t.account_id
      WHERE t.id IN (SELECT c.key_id FROM unnest(batch) c)
      ORDER BY t.id FOR UPDATE OF t
    LOOP
      key_ids := key_ids || locked.id;
      key_versions := key_versions || locked.version;
      key_free := key_free || locked.left_over;
      key_held := key_held || locked.held;
      key_usable := key_usable || locked.usable;
      account_usable := account_usable || locked.account_usable;
      key_taken := key_taken || 0::bigint;
    END LOOP;

    SELECT version INTO catalog_now FROM catalog_state;

    FOREACH asked IN ARRAY batch LOOP
      w := array_position(wallet_ids, asked.account_id);
      k := array_position(key_ids, asked.key_id);
      hold := NULL;  free := wallet_free[w];  on_hold := wallet_held[w];  holds := wallet_holds[w];
      IF w IS NULL OR k IS NULL OR NOT key_usable[k] THEN
        outcome := 'key_state';
      ELSIF NOT account_usable[k] THEN
        outcome := 'account_state';
      ELSIF key_versions[k] <> asked.key_version OR catalog_now <> asked.catalog_version THEN
        outcome := 'stale';
      ELSE
        hold := least(asked.ceiling, greatest(asked.base, asked.prompt + free / 8), free, key_free[k]);
        -- A call that does not fit takes nothing from those behind it.
        IF hold < asked.minimum THEN
          outcome := 'wallet';
          IF key_free[k] < free THEN
            outcome := 'key';  free := key_free[k];  on_hold := key_held[k];
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
        END IF;
      END IF;
      granted := granted || hold;
      RETURN NEXT;
    END LOOP;

    -- One statement writes all of it: each has its price. Each row is written once, with its sum: UPDATE … FROM with two
    -- rows for one wallet would apply only one of them.
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
      effort, ip, snapshot)
    SELECT c.id, c.account_id, c.key_id, granted[c.ordinality], c.process_id, c.model, c.created_at, c.group_name,
      c.protocol, c.stream, c.effort, c.ip, snapshots[c.snapshot]
    FROM unnest(batch) WITH ORDINALITY AS c
    WHERE granted[c.ordinality] IS NOT NULL;
  END $$;
`;

/*
 * A finished call: the columns of calls of the same names, cost being what the call came to. opened: whether it was
 * admitted; a refused one moves no money. snapshot: as in an admission, null when there is none.
 */
const SETTLEMENT = `
  CREATE TYPE settlement AS (
    id text, created_at timestamptz, account_id text, key_id text, model text, group_name text, protocol text,
    upstream_protocol text, channel text, stream boolean, effort text, status text, error_reason text, error_message text,
    prompt_tokens bigint, cached_tokens bigint, cache_write_tokens bigint, completion_tokens bigint,
    reasoning_tokens bigint, cost bigint, billing_basis text, first_token_ms integer, duration_ms integer,
    attempts integer, ip text, opened boolean, snapshot integer
  );
  -- The columns of call_attempts of the same names.
  CREATE TYPE attempt AS (
    call_id text, ordinal integer, created_at timestamptz, channel text, protocol text, upstream_model text,
    upstream_status integer, outcome text, headers_ms integer, first_token_ms integer, duration_ms integer
  );
`;

/*
 * lines: the itemised cost of each call, in the order of the batch. tries: the attempts of all of them.
 * One row a call, in order: what was collected; null when the call had been settled before. What is collected is one
 * entry of the ledger for the whole batch, with a line for each wallet: its calls name it.
 */
const SETTLE = `
  CREATE FUNCTION settle_calls(batch settlement[], snapshots jsonb[], lines json[], tries attempt[], entry text)
  RETURNS TABLE (collected bigint) LANGUAGE plpgsql ${BY_INDEX} AS $$
  DECLARE
    unlimited CONSTANT bigint := 9223372036854775807;
    locked record;
    done settlement;
    wallet_ids text[] := '{}';  wallet_free bigint[] := '{}';
    wallet_paid bigint[] := '{}';  wallet_released bigint[] := '{}';  wallet_count integer[] := '{}';
    key_ids text[] := '{}';  key_free bigint[] := '{}';  key_paid bigint[] := '{}';  key_released bigint[] := '{}';
    closed_ids text[];  closed_holds bigint[];
    settled_ids text[] := '{}';
    -- For each call what was collected; null when it had been settled before.
    taken bigint[] := '{}';
    stored_hold bigint;
    total bigint := 0;
    c integer;
    w integer;
    k integer;
  BEGIN
    FOR locked IN
      SELECT t.account_id, t.balance - t.held AS left_over FROM wallets t
      WHERE t.account_id IN (SELECT r.account_id FROM unnest(batch) r WHERE r.opened)
      ORDER BY t.account_id FOR UPDATE
    LOOP
      wallet_ids := wallet_ids || locked.account_id;
      wallet_free := wallet_free || locked.left_over;
      wallet_paid := wallet_paid || 0::bigint;
      wallet_released := wallet_released || 0::bigint;
      wallet_count := wallet_count || 0;
    END LOOP;

    FOR locked IN
      SELECT t.id, coalesce(t.quota - t.used - t.held, unlimited) AS left_over FROM api_keys t
      WHERE t.id IN (SELECT r.key_id FROM unnest(batch) r WHERE r.opened)
      ORDER BY t.id FOR UPDATE
    LOOP
      key_ids := key_ids || locked.id;
      key_free := key_free || locked.left_over;
      key_paid := key_paid || 0::bigint;
      key_released := key_released || 0::bigint;
    END LOOP;

    -- What is released is the hold stored with the call, never what a process remembers of it.
    WITH closed AS (
      DELETE FROM open_calls o USING unnest(batch) r WHERE o.id = r.id RETURNING o.id, o.hold
    )
    SELECT array_agg(closed.id), array_agg(closed.hold) INTO closed_ids, closed_holds FROM closed;

    FOREACH done IN ARRAY batch LOOP
      collected := 0;
      c := array_position(closed_ids, done.id);
      -- No open call: settled before, and nothing is done twice. Or its row was lost with the database: then no hold.
      IF c IS NULL AND (done.id = ANY (settled_ids)
         OR EXISTS (SELECT FROM calls t WHERE t.id = done.id AND t.created_at = done.created_at)) THEN
        collected := NULL;
      ELSIF done.opened THEN
        w := array_position(wallet_ids, done.account_id);
        k := array_position(key_ids, done.key_id);
        stored_hold := coalesce(closed_holds[c], 0);
        collected := least(done.cost, stored_hold + wallet_free[w]);
        IF key_free[k] <> unlimited THEN
          collected := least(collected, stored_hold + key_free[k]);
          key_free[k] := key_free[k] + stored_hold - collected;
        END IF;
        wallet_free[w] := wallet_free[w] + stored_hold - collected;
        wallet_paid[w] := wallet_paid[w] + collected;
        wallet_released[w] := wallet_released[w] + stored_hold;
        key_paid[k] := key_paid[k] + collected;
        key_released[k] := key_released[k] + stored_hold;
        total := total + collected;
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
    ), entry_lines AS (
      INSERT INTO ledger_lines (entry_id, ledger_account, amount)
      SELECT entry, 'wallet:' || n.id, -n.paid FROM unnest(wallet_ids, wallet_paid) AS n (id, paid) WHERE n.paid > 0
      UNION ALL SELECT entry, 'revenue', total WHERE total > 0
    ), attempts AS (
      INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status,
        outcome, headers_ms, first_token_ms, duration_ms)
      SELECT a.call_id, a.ordinal, a.created_at, a.channel, a.protocol, a.upstream_model, a.upstream_status, a.outcome,
        a.headers_ms, a.first_token_ms, a.duration_ms
      FROM unnest(tries) a WHERE a.call_id = ANY (settled_ids)
    )
    INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
      stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
      completion_tokens, reasoning_tokens, cost, uncollected, billing_basis, first_token_ms, duration_ms, attempts, ip,
      snapshot, lines, entry_id)
    SELECT r.id, r.created_at, r.account_id, r.key_id, r.model, r.group_name, r.protocol, r.upstream_protocol, r.channel,
      r.stream, r.effort, r.status, r.error_reason, r.error_message, r.prompt_tokens, r.cached_tokens,
      r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens, taken[r.ordinality], r.cost - taken[r.ordinality],
      r.billing_basis, r.first_token_ms, r.duration_ms, r.attempts, r.ip, snapshots[r.snapshot], lines[r.ordinality],
      CASE WHEN taken[r.ordinality] > 0 THEN entry END
    FROM unnest(batch) WITH ORDINALITY AS r
    WHERE taken[r.ordinality] IS NOT NULL;
  END $$;
`;
