import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The networks that keys are used from, and what their owners are told when a use is not like those before. */
export class WatchKeys20261123140010 implements MigrationInterface {
  readonly name = 'WatchKeys20261123140010';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [NETWORKS, NOTICES]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const NETWORKS = `
  -- A network is 203.0.113.0/24, or 2001:db8:0:1::/64.
  CREATE TABLE key_networks (
    key_id   text NOT NULL,
    network  text NOT NULL,
    first_at timestamptz NOT NULL,
    last_at  timestamptz NOT NULL,
    CONSTRAINT key_network_key PRIMARY KEY (key_id, network)
  );

  -- Until when calls have been looked at one by one, and until when their sums have been. One row.
  CREATE TABLE key_watch (
    one           boolean PRIMARY KEY DEFAULT true,
    watched_until timestamptz NOT NULL,
    learnt_until  timestamptz NOT NULL,
    CONSTRAINT key_watch_is_one_row CHECK (one)
  );
  INSERT INTO key_watch (watched_until, learnt_until) VALUES (now(), '-infinity');
`;

const NOTICES = `
  -- Something unusual about a key. occasion: what of its kind happens to the key once, so that it is told once. at: when it
  -- happened. Of a new network: address and network; of an unusual volume: what the hour cost, and the largest one before.
  CREATE TABLE key_notices (
    id              text PRIMARY KEY,
    account_id      text NOT NULL,
    key_id          text NOT NULL,
    kind            text NOT NULL,
    occasion        text NOT NULL,
    at              timestamptz NOT NULL,
    address         text,
    network         text,
    spent           bigint,
    usual           bigint,
    created_at      timestamptz NOT NULL DEFAULT now(),
    acknowledged_at timestamptz,
    CONSTRAINT key_notice_is_told_once UNIQUE (key_id, kind, occasion),
    CONSTRAINT key_notice_says_what_its_kind_does CHECK (CASE kind
      WHEN 'new-network' THEN address IS NOT NULL AND network IS NOT NULL
      WHEN 'unusual-volume' THEN spent IS NOT NULL AND usual IS NOT NULL
      ELSE false END)
  );
  CREATE INDEX key_notices_by_account ON key_notices (account_id, created_at);
  CREATE INDEX key_notices_by_time ON key_notices (created_at);
`;
