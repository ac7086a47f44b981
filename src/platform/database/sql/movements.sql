-- Wallet movements: the index, by account, of ledger entries other than calls, which are few among very many lines.

-- The movements of an entry: one per account whose wallet or debt it changed.
CREATE OR REPLACE FUNCTION movements_of(entries ledger_entries) RETURNS SETOF wallet_movements LANGUAGE sql STABLE AS $$
  SELECT DISTINCT split_part(l.ledger_account, ':', 2), entries.created_at, entries.id FROM ledger_lines l
  WHERE l.entry_id = entries.id AND split_part(l.ledger_account, ':', 1) IN ('wallet', 'owed');
$$;

-- Runs at the end of the transaction, because lines are written after their entry.
CREATE OR REPLACE FUNCTION list_movements() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO wallet_movements SELECT * FROM movements_of(NEW);
  RETURN NULL;
END $$;

-- The total that calls, and debts paid from the holds that they released, have taken from a wallet. The caller has
-- locked the wallet. Computed from the movements other than calls, because calls may have millions of lines. A
-- transaction that has written movements must first check the deferred constraint movements_are_listed.
CREATE OR REPLACE FUNCTION taken_by_calls(wallet text) RETURNS bigint LANGUAGE sql STABLE AS $$
  SELECT coalesce(sum(l.amount), 0)::bigint - (SELECT w.balance FROM wallets w WHERE w.account_id = wallet)
    FROM wallet_movements m
    JOIN ledger_entries e ON e.id = m.entry_id AND e.kind <> 'owed'
    JOIN ledger_lines l ON l.entry_id = m.entry_id AND l.ledger_account = 'wallet:' || wallet
   WHERE m.account_id = wallet
$$;
