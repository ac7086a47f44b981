import type { MigrationInterface, QueryRunner } from 'typeorm';

/**
 * The two statements that move money: admission and settlement, each for a whole batch of calls.
 * Both lock wallets, then keys, each in the order of their ids, so that any number of processes can run them at once
 * without a deadlock; both decide call by call in the order of arrival from nothing but the locked rows.
 */
export class CreateBillingFunctions20261120120200 implements MigrationInterface {
  readonly name = 'CreateBillingFunctions20261120120200';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ADMIT, SETTLE]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/*
 * batch: [{ id, created_at, account_id, key_id, key_version, catalog_version, process_id, model, facts, snapshot,
 *           prompt, minimum, base, ceiling }], the last four in nanos:
 *   prompt   what the prompt alone is expected to cost
 *   minimum  the least hold under which the call can do anything useful
 *   base     the hold it gets if the money is there
 *   ceiling  what it may hold at most; between base and ceiling it gets what an eighth of the free balance buys
 * One row a call, in order: outcome 'admitted' with its hold; 'stale' when the process used an old key or catalog;
 * 'key_state', 'account_state', 'wallet' or 'key' when that refused it. free and on_hold are of the wallet,
 * or of the key when the key refused, as this call met them.
 */
const ADMIT = `
  CREATE FUNCTION admit_calls(batch jsonb)
  RETURNS TABLE (outcome text, hold bigint, free bigint, on_hold bigint, holds integer) LANGUAGE plpgsql AS $$
  DECLARE
    unlimited CONSTANT bigint := 9223372036854775807;
    catalog_now bigint;
    locked record;
    asked record;
    wallet_ids text[] := '{}';  wallet_free bigint[] := '{}';  wallet_held bigint[] := '{}';  wallet_holds integer[] := '{}';
    wallet_taken bigint[] := '{}';  wallet_count integer[] := '{}';
    key_ids text[] := '{}';  key_free bigint[] := '{}';  key_held bigint[] := '{}';  key_versions integer[] := '{}';
    key_usable boolean[] := '{}';  account_usable boolean[] := '{}';  key_taken bigint[] := '{}';
    admitted_ids text[] := '{}';  admitted_holds bigint[] := '{}';
    w integer;
    k integer;
  BEGIN
    -- Lock wallets in the order of their ids; everything decided below comes from these rows as they are now.
    FOR locked IN
      SELECT t.account_id, t.balance - t.held AS left_over, t.held, t.holds, t.owed FROM wallets t
      WHERE t.account_id IN (SELECT c ->> 'account_id' FROM jsonb_array_elements(batch) c)
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
      WHERE t.id IN (SELECT c ->> 'key_id' FROM jsonb_array_elements(batch) c)
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

    FOR asked IN
      SELECT * FROM jsonb_to_recordset(batch) AS c (id text, account_id text, key_id text, key_version integer,
        catalog_version bigint, prompt bigint, minimum bigint, base bigint, ceiling bigint)
    LOOP
      w := array_position(wallet_ids, asked.account_id);
      k := array_position(key_ids, asked.key_id);
      hold := 0;  free := wallet_free[w];  on_hold := wallet_held[w];  holds := wallet_holds[w];
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
          hold := 0;
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
          admitted_ids := admitted_ids || asked.id;
          admitted_holds := admitted_holds || hold;
        END IF;
      END IF;
      RETURN NEXT;
    END LOOP;

    -- Each row is written once, with its sum: UPDATE … FROM with two rows for one wallet would apply only one of them.
    UPDATE wallets t SET held = t.held + n.taken, holds = t.holds + n.calls
    FROM unnest(wallet_ids, wallet_taken, wallet_count) AS n (id, taken, calls)
    WHERE t.account_id = n.id AND n.calls > 0;

    UPDATE api_keys t SET held = t.held + n.taken
    FROM unnest(key_ids, key_taken) AS n (id, taken)
    WHERE t.id = n.id AND n.taken > 0;

    INSERT INTO open_calls (id, account_id, key_id, hold, process_id, model, created_at, facts, snapshot)
    SELECT c.id, c.account_id, c.key_id, n.hold, c.process_id, c.model, c.created_at, c.facts, c.snapshot
    FROM unnest(admitted_ids, admitted_holds) AS n (id, hold)
    JOIN jsonb_to_recordset(batch) AS c (id text, account_id text, key_id text, process_id text, model text,
      created_at timestamptz, facts jsonb, snapshot jsonb) ON c.id = n.id;
  END $$;
`;

/*
 * batch: the columns of calls, with cost as what the call came to, and beside them
 *   opened    whether the call was admitted: false for a refused one, which moves no money
 *   entry_id  the id for its ledger entry
 *   tries     [{ the columns of call_attempts }]
 * One row a call, in order: what was collected; null when the call had been settled before.
 */
const SETTLE = `
  CREATE FUNCTION settle_calls(batch jsonb) RETURNS TABLE (collected bigint) LANGUAGE plpgsql AS $$
  DECLARE
    unlimited CONSTANT bigint := 9223372036854775807;
    locked record;
    done record;
    wallet_ids text[] := '{}';  wallet_free bigint[] := '{}';
    wallet_paid bigint[] := '{}';  wallet_released bigint[] := '{}';  wallet_count integer[] := '{}';
    key_ids text[] := '{}';  key_free bigint[] := '{}';  key_paid bigint[] := '{}';  key_released bigint[] := '{}';
    closed_ids text[];  closed_holds bigint[];
    settled_ids text[] := '{}';  settled_costs bigint[] := '{}';
    stored_hold bigint;
    c integer;
    w integer;
    k integer;
  BEGIN
    FOR locked IN
      SELECT t.account_id, t.balance - t.held AS left_over FROM wallets t
      WHERE t.account_id IN (SELECT r ->> 'account_id' FROM jsonb_array_elements(batch) r WHERE (r ->> 'opened')::boolean)
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
      WHERE t.id IN (SELECT r ->> 'key_id' FROM jsonb_array_elements(batch) r WHERE (r ->> 'opened')::boolean)
      ORDER BY t.id FOR UPDATE
    LOOP
      key_ids := key_ids || locked.id;
      key_free := key_free || locked.left_over;
      key_paid := key_paid || 0::bigint;
      key_released := key_released || 0::bigint;
    END LOOP;

    -- What is released is the hold stored with the call, never what a process remembers of it.
    WITH closed AS (
      DELETE FROM open_calls o USING jsonb_array_elements(batch) r WHERE o.id = r ->> 'id' RETURNING o.id, o.hold
    )
    SELECT array_agg(closed.id), array_agg(closed.hold) INTO closed_ids, closed_holds FROM closed;

    FOR done IN
      SELECT * FROM jsonb_to_recordset(batch) AS r (id text, created_at timestamptz, account_id text, key_id text,
        opened boolean, cost bigint)
    LOOP
      collected := 0;
      c := array_position(closed_ids, done.id);
      -- No open call: settled before, and nothing is done twice. Or its row was lost with the database: then no hold.
      IF done.id = ANY (settled_ids)
         OR c IS NULL AND EXISTS (SELECT FROM calls t WHERE t.id = done.id AND t.created_at = done.created_at) THEN
        collected := NULL;
        RETURN NEXT;
        CONTINUE;
      END IF;
      IF done.opened THEN
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
        IF c IS NOT NULL THEN wallet_count[w] := wallet_count[w] + 1; END IF;
        key_paid[k] := key_paid[k] + collected;
        key_released[k] := key_released[k] + stored_hold;
      END IF;
      settled_ids := settled_ids || done.id;
      settled_costs := settled_costs || collected;
      RETURN NEXT;
    END LOOP;

    UPDATE wallets t SET balance = t.balance - n.paid, held = t.held - n.released, holds = t.holds - n.calls
    FROM unnest(wallet_ids, wallet_paid, wallet_released, wallet_count) AS n (id, paid, released, calls)
    WHERE t.account_id = n.id AND (n.calls > 0 OR n.paid > 0);

    UPDATE api_keys t SET used = t.used + n.paid, held = t.held - n.released
    FROM unnest(key_ids, key_paid, key_released) AS n (id, paid, released)
    WHERE t.id = n.id AND (n.paid > 0 OR n.released > 0);

    INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel,
      stream, effort, status, error_reason, error_message, prompt_tokens, cached_tokens, cache_write_tokens,
      completion_tokens, reasoning_tokens, cost, uncollected, billing_basis, first_token_ms, duration_ms, attempts, ip,
      snapshot, lines)
    SELECT r.id, r.created_at, r.account_id, r.key_id, r.model, r.group_name, r.protocol, r.upstream_protocol, r.channel,
      r.stream, r.effort, r.status, r.error_reason, r.error_message, r.prompt_tokens, r.cached_tokens,
      r.cache_write_tokens, r.completion_tokens, r.reasoning_tokens, n.cost, r.cost - n.cost, r.billing_basis,
      r.first_token_ms, r.duration_ms, r.attempts, r.ip, r.snapshot, r.lines
    FROM unnest(settled_ids, settled_costs) AS n (id, cost) JOIN jsonb_populate_recordset(NULL::calls, batch) r ON r.id = n.id;

    INSERT INTO call_attempts
    SELECT a.* FROM jsonb_array_elements(batch) r
    CROSS JOIN LATERAL jsonb_populate_recordset(NULL::call_attempts, r -> 'tries') a
    WHERE r ->> 'id' = ANY (settled_ids);

    INSERT INTO ledger_entries (id, kind, call_id)
    SELECT r ->> 'entry_id', 'call', n.id
    FROM unnest(settled_ids, settled_costs) AS n (id, cost) JOIN jsonb_array_elements(batch) r ON r ->> 'id' = n.id
    WHERE n.cost > 0;

    INSERT INTO ledger_lines (entry_id, ledger_account, amount)
    SELECT r ->> 'entry_id', line.ledger_account, line.amount
    FROM unnest(settled_ids, settled_costs) AS n (id, cost) JOIN jsonb_array_elements(batch) r ON r ->> 'id' = n.id
    CROSS JOIN LATERAL (VALUES ('wallet:' || (r ->> 'account_id'), -n.cost), ('revenue', n.cost)) AS line (ledger_account, amount)
    WHERE n.cost > 0;
  END $$;
`;
