import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Channels and credentials that are left alone for a while, for all processes to know. */
export class CreateChannelRests20261122200000 implements MigrationInterface {
  readonly name = 'CreateChannelRests20261122200000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(RESTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const RESTS = `
  -- A row only while something is wrong. Not worth the log: after a crash it is found out again.
  -- subject: a channel at its address, or one of its credentials; no secret. strikes: the how manieth rest in a row.
  -- probe_until: until then one call of one process tries whether it is over.
  CREATE UNLOGGED TABLE channel_rests (
    subject     text PRIMARY KEY,
    id          text NOT NULL,
    reason      text NOT NULL,
    strikes     integer NOT NULL,
    until       timestamptz NOT NULL,
    probe_until timestamptz,
    CONSTRAINT channel_rest_reason_is_known CHECK (reason IN ('failures', 'rate_limit', 'refused', 'no_money'))
  );
`;
