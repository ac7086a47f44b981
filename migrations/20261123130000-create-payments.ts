import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Payments through a provider: orders, what takes them back, and what the provider has told. */
export class CreatePayments20261123130000 implements MigrationInterface {
  readonly name = 'CreatePayments20261123130000';

  async up(runner: QueryRunner): Promise<void> {
    await runner.query(TOP_UPS);
    await runner.query(REVERSALS);
    await runner.query(EVENTS);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

const TOP_UPS = `
  -- An order of money. reference: of the provider's checkout; payment: of what was paid in it; taken_back: what refunds
  -- and disputes have taken from the wallet again, or have put on what its account owes.
  CREATE TABLE top_ups (
    id         text PRIMARY KEY,
    account_id text NOT NULL CONSTRAINT top_up_is_of_account REFERENCES accounts (id),
    provider   text NOT NULL,
    reference  text,
    payment    text,
    address    text,
    amount     bigint NOT NULL,
    currency   text NOT NULL,
    state      text NOT NULL DEFAULT 'created',
    reason     text NOT NULL DEFAULT '',
    taken_back bigint NOT NULL DEFAULT 0,
    created_at timestamptz NOT NULL DEFAULT now(),
    changed_at timestamptz NOT NULL DEFAULT now(),
    paid_at    timestamptz,
    CONSTRAINT top_up_provider_is_known CHECK (provider IN ('stripe')),
    CONSTRAINT top_up_currency_is_dollars CHECK (currency = 'usd'),
    CONSTRAINT top_up_amount_is_positive CHECK (amount > 0),
    CONSTRAINT top_up_state_is_known CHECK (state IN ('created', 'pending', 'paid', 'failed', 'expired',
                                                      'partly_refunded', 'refunded', 'disputed')),
    CONSTRAINT top_up_is_paid_once_money_came CHECK
      ((paid_at IS NOT NULL) = (state IN ('paid', 'partly_refunded', 'refunded', 'disputed'))),
    CONSTRAINT top_up_gives_back_what_it_brought CHECK
      (taken_back BETWEEN 0 AND amount AND (paid_at IS NOT NULL OR taken_back = 0)),
    CONSTRAINT top_up_has_a_checkout_of_its_own UNIQUE (provider, reference),
    CONSTRAINT top_up_has_a_payment_of_its_own UNIQUE (provider, payment)
  );
  CREATE INDEX top_ups_by_account ON top_ups (account_id, created_at, id);

  -- The ledger entries that an order has led to: the money that came, and all that was taken back or given back again.
  CREATE TABLE top_up_entries (
    entry_id  text PRIMARY KEY CONSTRAINT top_up_entry_is_entry REFERENCES ledger_entries (id),
    top_up_id text NOT NULL CONSTRAINT top_up_entry_is_of_top_up REFERENCES top_ups (id)
  );
  CREATE INDEX top_up_entries_by_top_up ON top_up_entries (top_up_id);
`;

const REVERSALS = `
  -- A refund, what a payment was refunded of altogether, or a dispute, as the provider told of it last. It may come before
  -- the payment that it takes back, so it names that as the provider does. counts: whether its amount is with the payer.
  -- Of two tellings the later one holds; of one second, which is all that the provider tells, the one of higher rank.
  CREATE TABLE payment_reversals (
    provider text NOT NULL,
    id       text NOT NULL,
    payment  text NOT NULL,
    kind     text NOT NULL,
    amount   bigint NOT NULL,
    counts   boolean NOT NULL,
    began_at timestamptz NOT NULL,
    as_of    timestamptz NOT NULL,
    rank     smallint NOT NULL,
    CONSTRAINT payment_reversal_key PRIMARY KEY (provider, id),
    CONSTRAINT payment_reversal_kind_is_known CHECK (kind IN ('refund', 'refunds', 'dispute')),
    CONSTRAINT payment_reversal_amount_is_not_negative CHECK (amount >= 0)
  );
  CREATE INDEX payment_reversals_by_payment ON payment_reversals (provider, payment);
`;

const EVENTS = `
  -- What the provider has told and was done: told again, it does nothing.
  CREATE TABLE payment_events (
    provider    text NOT NULL,
    id          text NOT NULL,
    type        text NOT NULL,
    received_at timestamptz NOT NULL DEFAULT now(),
    CONSTRAINT payment_event_key PRIMARY KEY (provider, id)
  );

  -- What the provider has told and does not match its order: no money was moved, and an operator has to look at it.
  CREATE TABLE payment_problems (
    id          text PRIMARY KEY,
    provider    text NOT NULL,
    reference   text NOT NULL,
    top_up_id   text NOT NULL,
    problem     text NOT NULL,
    found_at    timestamptz NOT NULL DEFAULT now(),
    resolved_at timestamptz,
    CONSTRAINT payment_problem_is_told_once UNIQUE (provider, reference, problem)
  );
`;
