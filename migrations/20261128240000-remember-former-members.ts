import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Lets budgets of members outlive their accounts. */
export class RememberFormerMembers20261128240000 implements MigrationInterface {
  readonly name = 'RememberFormerMembers20261128240000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(FORMER_ADDRESS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const FORMER_ADDRESS = `
  -- Of members whose account was deleted: SHA-256 of the verified address in the form in which all its spellings are
  -- alike. A new account with that address takes over the membership with its budgets.
  ALTER TABLE members ADD COLUMN former_address bytea;
  CREATE INDEX members_by_former_address ON members (former_address) WHERE former_address IS NOT NULL;
`;
