import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What accounts are given each month, and what became of it. */
export class CreateAllowances20261123120000 implements MigrationInterface {
  readonly name = 'CreateAllowances20261123120000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [KINDS, TABLES]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/*
 * payment: what came through a payment provider. allowance: what an account is given for a month. expiry: what of it was
 * not spent in its month.
 * Not valid: every entry that is there has one of the kinds of before, and reading years of them would keep the service
 * from starting.
 */
const KINDS = `
  ALTER TABLE ledger_entries DROP CONSTRAINT ledger_entry_kind_is_known,
    ADD CONSTRAINT ledger_entry_kind_is_known CHECK (kind IN
      ('credit', 'debit', 'calls', 'owed', 'redemption', 'payment', 'refund', 'allowance', 'expiry')) NOT VALID;
`;

const TABLES = `
  -- What an account is given at the beginning of each month, UTC. No row: nothing.
  CREATE TABLE allowances (
    account_id text PRIMARY KEY CONSTRAINT allowance_is_of_wallet REFERENCES wallets (account_id),
    amount     bigint NOT NULL,
    CONSTRAINT allowance_is_positive CHECK (amount > 0)
  );

  -- The allowance of one month (its first day), from when it was given until what is unspent of it expires.
  -- remaining, spent: as of when the wallet was last moved by anything but a call; it had wallet_balance then. What it has
  -- less by now, calls have taken, and they take the allowance first. Once ended_at is set: as of then, expired included.
  CREATE TABLE allowance_months (
    account_id      text NOT NULL CONSTRAINT allowance_month_is_of_wallet REFERENCES wallets (account_id),
    month           date NOT NULL,
    granted         bigint NOT NULL,
    entry_id        text NOT NULL CONSTRAINT allowance_was_given_by_entry REFERENCES ledger_entries (id),
    given_at        timestamptz NOT NULL DEFAULT clock_timestamp(),
    remaining       bigint NOT NULL,
    spent           bigint NOT NULL DEFAULT 0,
    wallet_balance  bigint NOT NULL,
    ended_at        timestamptz,
    expired         bigint,
    expiry_entry_id text CONSTRAINT allowance_expired_by_entry REFERENCES ledger_entries (id),
    CONSTRAINT allowance_is_given_once_a_month PRIMARY KEY (account_id, month),
    CONSTRAINT allowance_month_is_a_month CHECK (month = date_trunc('month', month)),
    CONSTRAINT allowance_given_is_positive CHECK (granted > 0),
    CONSTRAINT allowance_remaining_is_what_calls_left CHECK (remaining BETWEEN 0 AND greatest(granted - spent, 0)),
    CONSTRAINT allowance_spent_is_not_negative CHECK (spent >= 0),
    CONSTRAINT allowance_expires_when_it_ends CHECK ((ended_at IS NULL) = (expired IS NULL)),
    CONSTRAINT allowance_expires_at_most_whole CHECK (expired BETWEEN 0 AND remaining),
    CONSTRAINT allowance_expiry_has_its_entry CHECK ((coalesce(expired, 0) > 0) = (expiry_entry_id IS NOT NULL))
  );
  CREATE UNIQUE INDEX allowance_months_running ON allowance_months (account_id) WHERE ended_at IS NULL;
`;
