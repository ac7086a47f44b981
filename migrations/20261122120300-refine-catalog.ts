import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What a group charges for single models, and how fast a model is taken to think out of sight. */
export class RefineCatalog20261122120300 implements MigrationInterface {
  readonly name = 'RefineCatalog20261122120300';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [GROUPS, MODELS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** model_multipliers: { model: multiplier }, decimals as strings; a model that is not there has the group's own. */
const GROUPS = `
  ALTER TABLE groups ADD COLUMN model_multipliers jsonb NOT NULL DEFAULT '{}';
`;

const MODELS = `
  ALTER TABLE models ADD COLUMN hidden_tokens_per_second integer NOT NULL DEFAULT 150,
    ADD CONSTRAINT model_hidden_tokens_are_not_negative CHECK (hidden_tokens_per_second >= 0);
`;
