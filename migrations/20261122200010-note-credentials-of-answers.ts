import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Which account at its upstream made an answer: another one of the same channel does not know it. */
export class NoteCredentialsOfAnswers20261122200010 implements MigrationInterface {
  readonly name = 'NoteCredentialsOfAnswers20261122200010';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query('ALTER TABLE stored_answers ADD COLUMN credential_id text');
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}
