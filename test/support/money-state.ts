import { newId } from '../../src/platform/shared/index.js';
import type { BillingBench } from './billing-bench.js';
import { PERIODS } from './money-model.js';
import { stateText, type World } from './money-world.js';

type Row = Record<string, string | null>;

/** Puts the accounts of all worlds into the database. */
export async function createWorlds(bench: BillingBench, worlds: readonly World[]): Promise<void> {
  const rows = worlds.flatMap(({ accountId, keyIds, model }) =>
    model.keys.map(({ quota, budgets: [budgets] }, index) => ({
      account: accountId,
      balance: model.balance.toString(),
      key: keyIds[index],
      quota: quota?.toString(),
      day: budgets?.day.limit?.toString(),
      week: budgets?.week.limit?.toString(),
      month: budgets?.month.limit?.toString(),
    })),
  );
  const organizations = worlds.filter(({ holderIds }) => holderIds.length > 0);
  await bench.query(
    `WITH asked AS (SELECT * FROM json_to_recordset($1) AS r (account text, balance bigint, key text, quota bigint,
                      day bigint, week bigint, month bigint)),
          owners AS (SELECT DISTINCT account, balance FROM asked),
          accounts AS (INSERT INTO accounts (id, email, password_hash) SELECT account, account || '@example.com', '' FROM owners),
          wallets AS (INSERT INTO wallets (account_id, balance) SELECT account, balance FROM owners),
          entries AS (INSERT INTO ledger_entries (id, kind) SELECT 'led_' || account, 'credit' FROM owners),
          lines AS (INSERT INTO ledger_lines SELECT 'led_' || account, l.name, l.amount FROM owners, LATERAL
            (VALUES ('wallet:' || account, balance), ('grants', -balance)) AS l (name, amount) WHERE l.amount <> 0)
     INSERT INTO api_keys (id, account_id, name, secret_hash, hint, quota, daily_budget, weekly_budget, monthly_budget)
     SELECT key, account, 'k', key::bytea, '', quota, day, week, month FROM asked`,
    [JSON.stringify(rows)],
  );
  await createOrganizations(bench, organizations);
  await handOver(
    bench,
    organizations.flatMap(({ keyIds, holderIds, model }) =>
      keyIds.map((key, index) => ({ key, holders: model.keys[index]!.holders.map((holder) => holderIds[holder]) })),
    ),
  );
}

/** Turns accounts into organizations with one member, who is a person of their own, and one team. */
async function createOrganizations(bench: BillingBench, worlds: readonly World[]): Promise<void> {
  const rows = worlds.map(({ accountId, holderIds: [member, team], model }) => {
    const limits = model.holders.map(({ lifetime, budgets: [now] }) =>
      [lifetime, now!.day, now!.week, now!.month].map(({ limit }) => limit?.toString() ?? null),
    );
    return { account: accountId, person: newId('acc', Date.now()), member, team, limits };
  });
  await bench.query(
    `WITH asked AS (SELECT * FROM json_to_recordset($1) AS r (account text, person text, member text, team text, limits bigint[])),
          accounts AS (UPDATE accounts a SET kind = 'organization' FROM asked WHERE a.id = asked.account),
          people AS (INSERT INTO accounts (id, email, password_hash) SELECT person, person || '@example.com', '' FROM asked),
          organizations AS (INSERT INTO organizations (id) SELECT account FROM asked),
          teams AS (INSERT INTO teams (id, organization_id, name, quota, daily_budget, weekly_budget, monthly_budget)
            SELECT team, account, 't', limits[2][1], limits[2][2], limits[2][3], limits[2][4] FROM asked)
     INSERT INTO members (id, organization_id, account_id, role, quota, daily_budget, weekly_budget, monthly_budget)
     SELECT member, account, person, 'owner', limits[1][1], limits[1][2], limits[1][3], limits[1][4] FROM asked`,
    [JSON.stringify(rows)],
  );
}

/** Gives keys to members and teams, by ID. */
export async function handOver(
  bench: BillingBench,
  keys: readonly { readonly key: string; readonly holders: readonly (string | undefined)[] }[],
): Promise<void> {
  const rows = keys.map(({ key, holders }) => ({
    key,
    member: holders.find((id) => id?.startsWith('mem_')),
    team: holders.find((id) => id?.startsWith('team_')),
  }));
  await bench.query(
    `UPDATE api_keys k SET member_id = r.member, team_id = r.team
       FROM json_to_recordset($1) AS r (key text, member text, team text) WHERE k.id = r.key`,
    [JSON.stringify(rows)],
  );
}

/** What the database says of every world, in the words of `World.expected`. */
export async function storedStates(bench: BillingBench, worlds: readonly World[]): Promise<string[]> {
  const accounts = [worlds.map(({ accountId }) => accountId)];
  const keys = [worlds.flatMap(({ keyIds }) => keyIds)];
  const holders = [worlds.flatMap(({ keyIds, holderIds }) => [...keyIds, ...holderIds])];
  const [wallets, ledger, monthly, months, topUps, keyRows, budgets, open, calls] = await Promise.all([
    bench.query<Row>('SELECT * FROM wallets WHERE account_id = ANY ($1)', accounts),
    bench.query<Row>(
      `SELECT ledger_account, sum(amount)::text AS sum FROM ledger_lines
        WHERE ledger_account = ANY (SELECT kind || account FROM unnest('{wallet:,owed:}'::text[]) kind, unnest($1::text[]) account)
        GROUP BY 1`,
      accounts,
    ),
    bench.query<Row>('SELECT account_id, amount FROM allowances WHERE account_id = ANY ($1)', accounts),
    // What the wallet has less than when it was last moved, calls have taken.
    bench.query<Row>(
      `SELECT m.account_id, m.granted, greatest(m.remaining - taken, 0)::text AS remaining, (m.spent + taken)::text AS spent,
              m.expired
         FROM allowance_months m JOIN wallets w USING (account_id),
              LATERAL (SELECT CASE WHEN m.ended_at IS NULL THEN m.wallet_balance - w.balance ELSE 0 END AS taken) AS calls
        WHERE m.account_id = ANY ($1) ORDER BY m.month`,
      accounts,
    ),
    bench.query<Row>('SELECT id, paid_at, taken_back FROM top_ups WHERE account_id = ANY ($1)', accounts),
    bench.query<Row>('SELECT id, quota, used, held FROM api_keys WHERE id = ANY ($1)', keys),
    bench.query<Row>(
      `SELECT holder_id, period, used, held, "limit" FROM budgets
        WHERE holder_id = ANY ($1) AND (used > 0 OR held > 0) ORDER BY period_start`,
      holders,
    ),
    bench.query<Row>('SELECT id, hold FROM open_calls WHERE account_id = ANY ($1)', accounts),
    bench.query<Row>('SELECT id, status, cost, uncollected FROM calls WHERE account_id = ANY ($1)', accounts),
  ]);
  const walletOf = by('account_id', wallets);
  const sumOf = by('ledger_account', ledger);
  const monthlyOf = by('account_id', monthly);
  const monthsOf = grouped(months, (row) => row['account_id'] ?? '');
  const topUpOf = by('id', topUps);
  const keyOf = by('id', keyRows);
  const budgetsOf = grouped(budgets, (row) => `${row['holder_id']} ${row['period']}`);
  const openOf = by('id', open);
  const callOf = by('id', calls);
  const seen = worlds.map(({ accountId, keyIds, holderIds, payments, calls: begun }) => {
    const wallet = walletOf.get(accountId);
    const ids = begun.map(({ request }) => request.id);
    return stateText({
      wallet: [wallet?.['balance'], wallet?.['held'], wallet?.['holds'], wallet?.['owed']],
      ledger: [`wallet:${accountId}`, `owed:${accountId}`].map((name) => sumOf.get(name)?.['sum'] ?? '0'),
      allowance: [
        monthlyOf.get(accountId)?.['amount'] ?? '0',
        ...(monthsOf.get(accountId) ?? []).map((row) => [
          row['granted'],
          row['remaining'],
          row['spent'],
          row['expired'],
        ]),
      ],
      payments: payments.map(({ id }) => {
        const topUp = topUpOf.get(id);
        return [id, topUp !== undefined && topUp['paid_at'] !== null, topUp?.['taken_back']];
      }),
      keys: keyIds.map((id) => ['quota', 'used', 'held'].map((name) => keyOf.get(id)?.[name])),
      budgets: [...keyIds, ...holderIds].flatMap((id, holder) =>
        PERIODS.flatMap((period) =>
          (budgetsOf.get(`${id} ${period}`) ?? []).map((row) => [
            holder,
            period,
            row['limit'],
            row['used'],
            row['held'],
          ]),
        ),
      ),
      lifetimes: holderIds.flatMap((id, holder) =>
        (budgetsOf.get(`${id} lifetime`) ?? []).map((row) => [holder, row['limit'], row['used'], row['held']]),
      ),
      open: ids.flatMap((id) => (openOf.has(id) ? [[id, openOf.get(id)?.['hold']]] : [])),
      calls: ids.flatMap((id) => {
        const row = callOf.get(id);
        return row ? [[id, row['status'], row['cost'], row['uncollected']]] : [];
      }),
    });
  });
  const known = worlds.reduce((count, { calls: begun }) => count + begun.filter(({ row }) => row).length, 0);
  if (known !== calls.length) throw new Error(`${calls.length} calls are on record, and not ${known}`);
  return seen;
}

const by = (name: string, rows: readonly Row[]): Map<string | null | undefined, Row> =>
  new Map(rows.map((row) => [row[name], row]));

function grouped(rows: readonly Row[], nameOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) groups.set(nameOf(row), [...(groups.get(nameOf(row)) ?? []), row]);
  return groups;
}
