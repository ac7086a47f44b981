import type { MigrationInterface, QueryRunner } from 'typeorm';

/** When what takes a payment back was told last, so that what is of no order here need not be kept for ever. */
export class ForgetReversalsOfStrangers20261124120000 implements MigrationInterface {
  readonly name = 'ForgetReversalsOfStrangers20261124120000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TOLD_AT);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const TOLD_AT = `
  -- By our clock: the provider's own times may be of long ago, as where what it lists is entered late.
  ALTER TABLE payment_reversals ADD COLUMN told_at timestamptz NOT NULL DEFAULT now();
  CREATE INDEX payment_reversals_by_time ON payment_reversals (told_at);
`;
