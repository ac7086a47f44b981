import type { MigrationInterface, QueryRunner } from 'typeorm';

/** Marks the beginning and end of an allowance by the total that calls had taken, not by times: the clock may step. */
export class CountAllowancesWithoutClocks20261125210000 implements MigrationInterface {
  readonly name = 'CountAllowancesWithoutClocks20261125210000';

  async up(runner: QueryRunner): Promise<void> {
    for (const statement of [TAKEN, COLUMNS]) await runner.query(statement);
  }

  down(): Promise<void> {
    return Promise.reject(new Error('Migrations only go forward: restore a backup instead.'));
  }
}

/*
 * The caller has locked the wallet. Computed from movements other than calls, which are few: calls may have millions of lines.
 * A transaction that has written movements must check the constraint movements_are_listed first.
 */
const TAKEN = `
  -- All that calls, and debts paid out of what they released, have taken out of a wallet.
  CREATE FUNCTION taken_by_calls(wallet text) RETURNS bigint LANGUAGE sql STABLE AS $$
    SELECT coalesce(sum(l.amount), 0)::bigint - (SELECT w.balance FROM wallets w WHERE w.account_id = wallet)
      FROM wallet_movements m
      JOIN ledger_entries e ON e.id = m.entry_id AND e.kind <> 'owed'
      JOIN ledger_lines l ON l.entry_id = m.entry_id AND l.ledger_account = 'wallet:' || wallet
     WHERE m.account_id = wallet
  $$;
`;

/* Months that have ended are taken as they were recorded; those that run go on from what was recorded of them. */
const COLUMNS = `
  -- taken_before, taken_after: the total that calls, and debts paid out of what they released, had taken out of the wallet
  -- when the allowance was given, and when it ended. Allowances that ended before these columns existed: 0 and spent.
  ALTER TABLE allowance_months ADD COLUMN taken_before bigint NOT NULL DEFAULT 0, ADD COLUMN taken_after bigint;
  ALTER TABLE allowance_months ALTER COLUMN taken_before DROP DEFAULT;
  UPDATE allowance_months SET taken_after = spent WHERE ended_at IS NOT NULL;
  UPDATE allowance_months m SET taken_before = taken_by_calls(m.account_id) - m.spent - (m.wallet_balance - w.balance)
    FROM wallets w WHERE w.account_id = m.account_id AND m.ended_at IS NULL;
  ALTER TABLE allowance_months
    ADD CONSTRAINT allowance_end_is_marked CHECK ((ended_at IS NULL) = (taken_after IS NULL));
`;
