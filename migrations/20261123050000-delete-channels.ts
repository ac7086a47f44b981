import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A channel can be deleted and renamed; what calls say of it stays. */
export class DeleteChannels20261123050000 implements MigrationInterface {
  readonly name = 'DeleteChannels20261123050000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(DELETED_CHANNELS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const DELETED_CHANNELS = `
  -- deleted_at: nothing finds the channel any more, and its name is free. former_names: under which attempts stand that
  -- were made before it was renamed; a name that another channel has taken is no longer its own.
  ALTER TABLE channels
    ADD COLUMN deleted_at timestamptz,
    ADD COLUMN former_names text[] NOT NULL DEFAULT '{}',
    DROP CONSTRAINT channel_name_is_unique;
  CREATE UNIQUE INDEX channel_name_is_unique ON channels (name) WHERE deleted_at IS NULL;
`;
