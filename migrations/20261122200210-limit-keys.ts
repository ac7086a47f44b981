import type { MigrationInterface, QueryRunner } from 'typeorm';

/** How much keys and accounts may ask for in a minute and at the same time, and from where keys may be used. */
export class LimitKeys20261122200210 implements MigrationInterface {
  readonly name = 'LimitKeys20261122200210';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [ACCOUNTS, API_KEYS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/** Null: what is usual. Of all the account's keys together. */
const ACCOUNTS = `
  ALTER TABLE accounts
    ADD COLUMN requests_per_minute integer,
    ADD COLUMN tokens_per_minute integer,
    ADD COLUMN concurrency integer,
    ADD CONSTRAINT account_limits_are_positive
      CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrency > 0);
`;

/** networks: addresses and ranges (`203.0.113.0/24`, `2001:db8::/32`); null: anywhere. */
const API_KEYS = `
  ALTER TABLE api_keys
    ADD COLUMN requests_per_minute integer,
    ADD COLUMN tokens_per_minute integer,
    ADD COLUMN concurrency integer,
    ADD COLUMN networks text[],
    ADD CONSTRAINT key_limits_are_positive
      CHECK (requests_per_minute > 0 AND tokens_per_minute > 0 AND concurrency > 0),
    ADD CONSTRAINT key_networks_are_not_empty CHECK (cardinality(networks) > 0);
`;
