import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Who admits calls, so that whoever finds a call open can tell whether anybody is still at it. */
export class CreateProcesses20261122120100 implements MigrationInterface {
  readonly name = 'CreateProcesses20261122120100';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(PROCESSES);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const PROCESSES = `
  -- A process that admits calls. It holds a shared advisory lock on its id in a session of its own: while that is held,
  -- it lives, whatever stands here. host, pid and identity (what tells it from a later process with the same number) are
  -- for others on the same machine. They are empty when calls of a process were found of which no row was left.
  CREATE TABLE processes (
    id           text PRIMARY KEY,
    host         text NOT NULL,
    pid          integer NOT NULL,
    identity     text NOT NULL,
    started_at   timestamptz NOT NULL DEFAULT now(),
    heartbeat_at timestamptz NOT NULL DEFAULT now()
  ) WITH (fillfactor = 70);
`;
