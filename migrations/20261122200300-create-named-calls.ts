import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which calls run under a name of their client's, for all processes to know. */
export class CreateNamedCalls20261122200300 implements MigrationInterface {
  readonly name = 'CreateNamedCalls20261122200300';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(NAMED_CALLS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const NAMED_CALLS = `
  -- A row only while the call runs; of a process that died, until it is swept. Not worth the log: after a crash of the
  -- server no call of before can be answered any more. name: a digest of the key's id and the Idempotency-Key.
  CREATE UNLOGGED TABLE named_calls (
    name       bytea PRIMARY KEY,
    call_id    text NOT NULL,
    process_id text NOT NULL REFERENCES processes (id) ON DELETE CASCADE
  );
  CREATE INDEX named_calls_by_process ON named_calls (process_id);
`;
