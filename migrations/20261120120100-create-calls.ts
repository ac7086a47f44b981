import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The record of calls: open ones in a small table, finished ones in an append-only table partitioned by month. */
export class CreateCalls20261120120100 implements MigrationInterface {
  readonly name = 'CreateCalls20261120120100';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [OPEN_CALLS, CALLS, ATTEMPTS, PARTITIONS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const OPEN_CALLS = `
  -- A call between admission and settlement, with the money held for it, and with what whoever closes it in place of a
  -- process that died needs for its row. snapshot: the prices it was admitted under.
  CREATE TABLE open_calls (
    id         text PRIMARY KEY,
    account_id text NOT NULL,
    key_id     text NOT NULL,
    hold       bigint NOT NULL,
    process_id text NOT NULL,
    model      text NOT NULL,
    created_at timestamptz NOT NULL,
    group_name text NOT NULL,
    protocol   text NOT NULL,
    stream     boolean NOT NULL,
    effort     text NOT NULL,
    ip         text NOT NULL,
    snapshot   jsonb NOT NULL,
    CONSTRAINT open_call_hold_is_not_negative CHECK (hold >= 0)
  );
  CREATE INDEX open_calls_by_account ON open_calls (account_id);
`;

const CALLS = `
  -- created_at is the time inside the id, so that a lookup by id reads one partition.
  -- Token counts are null when unknown. snapshot: the prices the call was admitted under; lines: the itemised cost,
  -- kept as it was written because nothing is ever looked for in it. entry_id: what moved the money, if any moved.
  CREATE TABLE calls (
    id                 text NOT NULL,
    created_at         timestamptz NOT NULL,
    account_id         text NOT NULL,
    key_id             text NOT NULL,
    model              text NOT NULL,
    group_name         text NOT NULL,
    protocol           text NOT NULL,
    upstream_protocol  text NOT NULL,
    channel            text NOT NULL,
    stream             boolean NOT NULL,
    effort             text NOT NULL,
    status             text NOT NULL,
    error_reason       text NOT NULL,
    error_message      text NOT NULL,
    prompt_tokens      bigint,
    cached_tokens      bigint,
    cache_write_tokens bigint,
    completion_tokens  bigint,
    reasoning_tokens   bigint,
    cost               bigint NOT NULL,
    uncollected        bigint NOT NULL,
    billing_basis      text NOT NULL,
    first_token_ms     integer,
    duration_ms        integer NOT NULL,
    attempts           integer NOT NULL,
    ip                 text NOT NULL,
    snapshot           jsonb,
    lines              json,
    entry_id           text,
    CONSTRAINT call_key PRIMARY KEY (id, created_at),
    CONSTRAINT call_status_is_known CHECK (status IN ('succeeded', 'failed', 'cancelled', 'interrupted', 'refused')),
    CONSTRAINT call_billing_basis_is_known CHECK (billing_basis IN ('reported', 'estimated', 'partial', 'free')),
    CONSTRAINT call_cost_is_not_negative CHECK (cost >= 0 AND uncollected >= 0)
  ) PARTITION BY RANGE (created_at);
  CREATE INDEX calls_by_time ON calls (created_at, id);
  CREATE INDEX calls_by_account ON calls (account_id, created_at, id);
`;

const ATTEMPTS = `
  -- One row for each request that went to an upstream. Times in milliseconds from the attempt's start; null: never came.
  CREATE TABLE call_attempts (
    call_id         text NOT NULL,
    ordinal         integer NOT NULL,
    created_at      timestamptz NOT NULL,
    channel         text NOT NULL,
    protocol        text NOT NULL,
    upstream_model  text NOT NULL,
    upstream_status integer,
    outcome         text NOT NULL,
    headers_ms      integer,
    first_token_ms  integer,
    duration_ms     integer NOT NULL,
    CONSTRAINT call_attempt_key PRIMARY KEY (call_id, ordinal, created_at)
  ) PARTITION BY RANGE (created_at);
`;

const PARTITIONS = `
  -- Makes the partitions of calls and call_attempts for the month of the given time and so many months after it.
  -- Made aside and then attached, which lets calls be read and written meanwhile; PARTITION OF would wait for every
  -- reader, and make all others wait behind it.
  -- There is no default partition on purpose: a row that fits nowhere is a fault to be seen.
  CREATE FUNCTION create_call_partitions(first timestamptz, months_ahead integer) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    month  timestamp := date_trunc('month', first AT TIME ZONE 'UTC');
    parent text;
    part   text;
  BEGIN
    FOR ahead IN 0 .. months_ahead LOOP
      FOREACH parent IN ARRAY ARRAY['calls', 'call_attempts'] LOOP
        part := parent || '_' || to_char(month + make_interval(months => ahead), 'YYYY_MM');
        CONTINUE WHEN to_regclass(part) IS NOT NULL;
        EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL)', part, parent);
        EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%L) TO (%L)', parent, part,
          (month + make_interval(months => ahead)) AT TIME ZONE 'UTC',
          (month + make_interval(months => ahead + 1)) AT TIME ZONE 'UTC');
      END LOOP;
    END LOOP;
  END $$;
  SELECT create_call_partitions(now(), 3);
`;
