-- Months of calls: their partitions, and the sums that stay when one is dropped.

-- Creates the partitions of calls and call_attempts for the month of the given time and for months_ahead months after
-- it. They are created as tables and then attached, so that calls can be read and written meanwhile; PARTITION OF would
-- wait for every reader, and block all others behind it.
-- There is no default partition on purpose: a row that fits in no partition must fail.
CREATE OR REPLACE FUNCTION create_call_partitions(first timestamptz, months_ahead integer) RETURNS void
LANGUAGE plpgsql AS $$
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

-- Stores the sums of the calls of a month (its first day, in UTC) before it is dropped. Returns the number of calls.
-- The caller drops the month in the same transaction, and prevents writes to it meanwhile.
CREATE OR REPLACE FUNCTION keep_sums_of_calls(dropped date) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  first  CONSTANT timestamptz := dropped::timestamp AT TIME ZONE 'UTC';
  behind CONSTANT timestamptz := (dropped + interval '1 month') AT TIME ZONE 'UTC';
  number bigint;
BEGIN
  INSERT INTO dropped_calls (key_id, month, account_id, entry_id, calls, cost, last_at)
  SELECT c.key_id, dropped, c.account_id, coalesce(e.id, ''), count(*), sum(c.cost), max(c.created_at)
    FROM calls c LEFT JOIN ledger_entries e ON e.id = c.entry_id AND e.created_at >= behind
   WHERE c.created_at >= first AND c.created_at < behind
   GROUP BY 1, 3, 4;

  INSERT INTO dropped_budget_use AS d (holder_id, period, period_start, used)
  SELECT b.holder_id, b.period, b.period_start, sum(c.cost)
    FROM calls c, LATERAL budgets_of(c) b
   WHERE c.created_at >= first AND c.created_at < behind
   GROUP BY 1, 2, 3
  ON CONFLICT ON CONSTRAINT dropped_budget_use_key DO UPDATE SET used = d.used + excluded.used;

  SELECT coalesce(sum(d.calls), 0) INTO number FROM dropped_calls d WHERE d.month = dropped;
  RETURN number;
END $$;
