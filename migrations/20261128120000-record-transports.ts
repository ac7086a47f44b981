import type { MigrationInterface, QueryRunner } from 'typeorm';

/** The transport of each call and attempt: HTTP or WebSocket. */
export class RecordTransports20261128120000 implements MigrationInterface {
  readonly name = 'RecordTransports20261128120000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(COLUMNS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/* `http` or `websocket`; null: the process of the call ended without recording it, or the call is older. */
const COLUMNS = `
  ALTER TABLE calls ADD COLUMN transport text;
  ALTER TYPE settlement ADD ATTRIBUTE transport text;
  ALTER TABLE call_attempts ADD COLUMN transport text;
  ALTER TYPE attempt ADD ATTRIBUTE transport text;
`;
