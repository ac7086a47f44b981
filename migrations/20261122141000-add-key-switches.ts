import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What the owner of a key can demand of every call under it, whatever its client asks for. */
export class AddKeySwitches20261122141000 implements MigrationInterface {
  readonly name = 'AddKeySwitches20261122141000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(API_KEYS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/**
 * `strict`: a call that would lose something on its way into another dialect is refused.
 * `never_stores`: no answer of it is kept, so a call that asks for that, or leans on one that was, is refused.
 */
const API_KEYS = `
  ALTER TABLE api_keys
    ADD COLUMN strict boolean NOT NULL DEFAULT false,
    ADD COLUMN never_stores boolean NOT NULL DEFAULT false;
`;
