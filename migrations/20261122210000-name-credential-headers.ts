import type { MigrationInterface, QueryRunner } from 'typeorm';

/** A vendor may look for its keys in a header that nobody has thought of. */
export class NameCredentialHeaders20261122210000 implements MigrationInterface {
  readonly name = 'NameCredentialHeaders20261122210000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(ANY_HEADER);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const ANY_HEADER = `
  ALTER TABLE channels
    DROP CONSTRAINT channel_auth_is_known,
    ADD CONSTRAINT channel_auth_is_a_form_or_a_header
      CHECK (auth IN ('bearer', 'none') OR auth ~ '^[a-z0-9]+(-[a-z0-9]+)+$');
`;
