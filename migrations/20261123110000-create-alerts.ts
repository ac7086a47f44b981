import type { MigrationInterface, QueryRunner } from 'typeorm';

/** What people are warned of by mail, and what they were warned of. */
export class CreateAlerts20261123110000 implements MigrationInterface {
  readonly name = 'CreateAlerts20261123110000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [SETTINGS, ALERTS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const SETTINGS = `
  -- The thresholds of an account that has saved its own. 0: no mail of that kind. Amounts in nanos.
  CREATE TABLE alert_settings (
    account_id     text PRIMARY KEY CONSTRAINT alert_settings_belong_to_account REFERENCES accounts (id),
    wallet_below   bigint NOT NULL,
    quota_percent  integer NOT NULL,
    quota_used_up  boolean NOT NULL,
    budget_percent integer NOT NULL,
    budget_used_up boolean NOT NULL,
    expiry_days    integer NOT NULL,
    new_network    boolean NOT NULL,
    unusual_volume boolean NOT NULL,
    CONSTRAINT alert_wallet_threshold_is_not_negative CHECK (wallet_below >= 0),
    CONSTRAINT alert_percentages_leave_something CHECK (quota_percent BETWEEN 0 AND 99 AND budget_percent BETWEEN 0 AND 99),
    CONSTRAINT alert_expiry_is_days_ahead CHECK (expiry_days BETWEEN 0 AND 365)
  );
`;

const ALERTS = `
  -- A threshold that is crossed, for as long as it is, or a notice of something that has happened once.
  -- key_id: empty where it is about the account itself. occasion: which of several it is (the first day of a budget's
  -- period, the time of an expiry, a network); empty where there is but one. facts: the figures of the mail.
  -- next_try_at: whoever sends it moves this on first, and nobody else takes it up before.
  CREATE TABLE alerts (
    id          uuid PRIMARY KEY DEFAULT gen_random_uuid(),
    account_id  text NOT NULL CONSTRAINT alert_belongs_to_account REFERENCES accounts (id),
    kind        text NOT NULL,
    key_id      text NOT NULL DEFAULT '',
    occasion    text NOT NULL DEFAULT '',
    facts       jsonb NOT NULL,
    state       text NOT NULL DEFAULT 'due',
    raised_at   timestamptz NOT NULL DEFAULT now(),
    next_try_at timestamptz NOT NULL DEFAULT now(),
    tries       integer NOT NULL DEFAULT 0,
    CONSTRAINT alert_is_raised_once UNIQUE (account_id, kind, key_id, occasion),
    CONSTRAINT alert_kind_is_known CHECK (kind IN ('wallet', 'quota', 'quota-used-up', 'budget', 'budget-used-up', 'expiry',
      'new-network', 'unusual-volume')),
    -- unneeded: switched off, or something worse is told of the same; stale: could not be sent for too long.
    CONSTRAINT alert_state_is_known CHECK (state IN ('due', 'sent', 'unneeded', 'refused', 'stale'))
  );
  CREATE INDEX alerts_that_are_due ON alerts (next_try_at) WHERE state = 'due';
`;
