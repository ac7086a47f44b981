import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much may be asked for in a minute and at the same time: of groups, and usually. */
export class LimitGroups20261122200200 implements MigrationInterface {
  readonly name = 'LimitGroups20261122200200';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [GROUPS, USUAL_LIMITS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** Null: no such limit. Of all the group's calls together. */
const GROUPS = `
  ALTER TABLE groups
    ADD COLUMN requests_per_minute integer,
    ADD COLUMN tokens_per_minute integer,
    ADD COLUMN concurrency integer,
    ADD CONSTRAINT group_limits_are_positive
      CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrency > 0);
`;

/** What each key, account or address has that has no such limit of its own. */
const USUAL_LIMITS = `
  CREATE TABLE usual_limits (
    subject             text PRIMARY KEY,
    requests_per_minute integer,
    tokens_per_minute   integer,
    concurrency         integer,
    CONSTRAINT usual_limits_subject_is_known CHECK (subject IN ('key', 'account', 'address')),
    CONSTRAINT usual_limits_are_positive
      CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrency > 0)
  );
  INSERT INTO usual_limits (subject) VALUES ('key'), ('account'), ('address');
`;
