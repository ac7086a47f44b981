import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import type { TestingModule } from '@nestjs/testing';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { BillingRepository } from '../../src/relay/billing/billing.repository.js';
import { BillingModule } from '../../src/relay/billing/index.js';
import { ApiKeyService, KeysModule, OwnKeys } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { Settings } from '../../src/platform/settings/index.js';
import { newId, parseUsd } from '../../src/platform/shared/index.js';
import { CallLookup, CallRetention, KeyUse, UsageModule } from '../../src/usage/index.js';
import { LedgerCheck, WalletModule } from '../../src/wallet/index.js';
import { EXACT } from '../support/billing-bench.js';
import { admissionOf, attemptOf, finished } from '../support/billing-rows.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { startOn } from '../support/modules.js';

interface SelectionQuery {
  readonly at: Date;
  readonly cost: bigint;
}

jest.setTimeout(2 * TIMEOUT_MS);

describe('calls that are kept for two months', () => {
  /** The tenth of a month, so many months ago, at noon. */
  const tenth = (monthsAgo: number): Date => {
    const now = new Date();
    return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsAgo, 10, 12));
  };
  const [GONE, KEPT] = [tenth(3), tenth(2)];
  let database: TestDatabase;
  let app: TestingModule;
  let owner: { accountId: string; keyId: string };

  const get = <Provider>(token: abstract new (...parts: never[]) => Provider): Provider =>
    app.get<Provider>(token as never, { strict: false });
  const query = <Row>(text: string, values: unknown[] = []): Promise<Row[]> => get(DataSource).query(text, values);
  const keepMonths = async (months: number | null): Promise<void> => {
    await query(`DELETE FROM settings WHERE section = 'retention'`);
    await query(`INSERT INTO settings (section, value) VALUES ('retention', $1)`, [
      JSON.stringify({ callsMonths: months }),
    ]);
    await get(Settings).reload();
  };
  /** Calls that were settled together, by one entry of the ledger, which was written then. Gives their ids. */
  const settled = async (writtenAt: Date, ...calls: readonly SelectionQuery[]): Promise<string[]> => {
    const requested = calls.map(({ at, cost }) =>
      admissionOf(owner, cost, { id: newId('req', at.getTime()), created_at: at.toISOString() }),
    );
    const version = await query<{ version: string }>('SELECT version FROM catalog_state');
    await get(BillingRepository).admit(
      requested.map((each) => ({ ...each, catalog_version: version[0]?.version ?? '' })),
    );
    await get(BillingRepository).settle(
      requested.map((each, index) => finished(each, calls[index]?.cost ?? 0n, { attempt_rows: [attemptOf(each)] })),
    );
    const ids = requested.map(({ id }) => id);
    await query('ALTER TABLE ledger_entries DISABLE TRIGGER ledger_entries_are_append_only');
    await query(
      'UPDATE ledger_entries SET created_at = $1 WHERE id IN (SELECT entry_id FROM calls WHERE id = ANY ($2))',
      [writtenAt.toISOString(), ids],
    );
    await query('ALTER TABLE ledger_entries ENABLE TRIGGER ledger_entries_are_append_only');
    return ids;
  };
  const callsLeft = async (): Promise<string[]> =>
    (await query<{ id: string }>('SELECT id FROM calls ORDER BY created_at, id')).map(({ id }) => id);
  const changes = (): Promise<unknown[]> =>
    query('SELECT actor_name, action, object_kind, object_name, lines FROM audit_entries ORDER BY id');
  const check = (): Promise<unknown> => get(LedgerCheck).run();
  const apply = (): Promise<void> => get(CallRetention).apply();

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [BillingModule, WalletModule, KeysModule, OnboardingModule, UsageModule]);
    const credit = { amount: parseUsd('1'), reason: 'test' };
    const { id: accountId } = await get(Onboarding).createAccount({ email: 'ann@example.com' }, credit);
    const { id: keyId } = await get(ApiKeyService).create({ accountId, name: 'laptop' });
    owner = { accountId, keyId };
    await query('UPDATE api_keys SET daily_budget = 1e9, weekly_budget = 1e9, monthly_budget = 1e9');
    await query('SELECT create_call_partitions($1, 6)', [tenth(4).toISOString()]);
    await keepMonths(2);
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('are dropped on the first day after N whole months, and the ledger stays exact', async () => {
    await settled(GONE, { at: GONE, cost: 100n }, { at: GONE, cost: 0n });
    // Settled late, together with calls that are kept: the entry has calls of both kinds.
    const [, late] = await settled(KEPT, { at: GONE, cost: 50n }, { at: KEPT, cost: 20n });
    const [kept] = await settled(KEPT, { at: KEPT, cost: 3n });
    expect(await check()).toEqual(EXACT);

    await apply();
    expect(new Set(await callsLeft())).toEqual(new Set([late, kept]));
    expect(await query('SELECT FROM call_attempts')).toHaveLength(2);
    expect(await check()).toEqual(EXACT);
    await apply();
    expect(await check()).toEqual(EXACT);

    // What was kept of them is looked at: without it there is a difference.
    await query(`UPDATE dropped_calls SET cost = cost + 1 WHERE entry_id = ''`);
    expect(await check()).toMatchObject({ exact: false });
  });

  it('are all kept while nothing says for how long', async () => {
    const ids = await settled(GONE, { at: GONE, cost: 100n });
    await keepMonths(null);
    await apply();
    expect(await callsLeft()).toEqual(ids);
    expect(await changes()).toEqual([]);
  });

  it('leave a line in the audit log, the sums of the charts, and when the key was used last', async () => {
    const [id = ''] = await settled(GONE, { at: GONE, cost: 100n });
    await query('UPDATE api_keys SET created_at = $1', [tenth(4).toISOString()]);
    await apply();
    const first = new Date(Date.UTC(GONE.getUTCFullYear(), GONE.getUTCMonth() + 1, 1));
    const name = `calls before 1 ${first.toLocaleString('en-US', { month: 'short', timeZone: 'UTC' })} ${first.getUTCFullYear()}`;
    const change = { actor_name: 'System', action: 'dropped', object_kind: 'calls', lines: ['1 row'] };
    expect(await changes()).toContainEqual({ ...change, object_name: name });
    expect(await query(`SELECT calls, cost FROM usage_slots WHERE account_id <> ''`)).toEqual([
      { calls: '1', cost: '100' },
    ]);
    const use = await get(KeyUse).recent({ accountId: owner.accountId, id: owner.keyId }, GONE);
    expect(use.lastAt).toEqual(GONE);
    expect((await get(OwnKeys).get({ accountId: owner.accountId, id: owner.keyId })).lastUsedAt).toEqual(GONE);
    await expect(get(CallLookup).find(owner, id)).rejects.toMatchObject({ kind: 'not_found' });
    expect(await get(CallRetention).missingFrom(GONE)).toBe(`C${name.slice(1)} have been deleted.`);
    expect(await get(CallRetention).missingFrom(first)).toBeUndefined();
  });

  it('stay, and are not even summed up to the end, when the process stops meanwhile', async () => {
    const DAYS_MS = 3 * 24 * 60 * 60 * 1000;
    const ids = await settled(GONE, { at: GONE, cost: 1n }, { at: new Date(GONE.getTime() + DAYS_MS), cost: 1n });
    const stopping = new AbortController();
    const source = get(DataSource);
    const ask = source.query.bind(source);
    const requested = jest.spyOn(source, 'query').mockImplementation((text, ...rest) => {
      if (text.includes('sum_up_usage')) stopping.abort();
      return ask(text, ...rest);
    });
    await get(CallRetention).apply(stopping.signal);
    requested.mockRestore();
    expect(await callsLeft()).toEqual(ids);
    const [row] = await query<{ calls: string }>(`SELECT sum(calls) AS calls FROM usage_slots WHERE account_id <> ''`);
    expect(row?.calls).toBe('1');
  });

  it('stay when dropping fails, which is logged, and are dropped with the next run', async () => {
    const ids = await settled(GONE, { at: GONE, cost: 100n });
    const reported = jest.spyOn(Logger.prototype, 'error').mockImplementation(() => undefined);
    await query('ALTER TABLE dropped_calls RENAME TO away');
    get(CallRetention).start();
    await eventually(() => expect(reported).toHaveBeenCalledWith(expect.stringContaining('retrying in an hour')));
    expect(await callsLeft()).toEqual(ids);
    await query('ALTER TABLE away RENAME TO dropped_calls');
    await apply();
    expect(await callsLeft()).toEqual([]);
    reported.mockRestore();
  });

  it('wait, with all that came after them, while one of them is open or its settlement failed', async () => {
    const ids = await settled(GONE, { at: GONE, cost: 100n });
    const [open] = [admissionOf(owner, 5n, { id: newId('req', GONE.getTime()), created_at: GONE.toISOString() })];
    await get(BillingRepository).admit([open]);
    await apply();
    expect(await callsLeft()).toEqual(ids);

    await get(BillingRepository).settle([finished(open, 5n)]);
    await query(`INSERT INTO settlement_failures (call_id, error, call) VALUES ('req_x', 'why', $1)`, [
      JSON.stringify({ created_at: GONE.toISOString(), cost: '0' }),
    ]);
    await apply();
    expect(await callsLeft()).toHaveLength(2);

    await query('UPDATE settlement_failures SET resolved_at = now()');
    await apply();
    expect(await callsLeft()).toEqual([]);
    expect(await check()).toEqual(EXACT);
  });

  it('are dropped once when several processes try', async () => {
    await settled(GONE, { at: GONE, cost: 100n });
    const other = await startOn(database, [UsageModule]);
    await Promise.all([apply(), other.get(CallRetention, { strict: false }).apply()]);
    await other.close();
    expect(await query('SELECT calls FROM dropped_calls')).toEqual([{ calls: '1' }]);
    expect(await callsLeft()).toEqual([]);
  });

  it('stay while they are read for long, as by a backup, and calls go on meanwhile', async () => {
    const ids = await settled(GONE, { at: GONE, cost: 100n });
    const reader = new pg.Client({ connectionString: database.url });
    await reader.connect();
    await reader.query('BEGIN; SELECT FROM calls');
    const dropping = apply();
    dropping.catch(() => undefined); // looked at below
    const more = await settled(new Date(), { at: new Date(), cost: 1n });
    await expect(dropping).rejects.toThrow('The partition is in use');
    expect(new Set(await callsLeft())).toEqual(new Set([...ids, ...more]));
    expect(await query('SELECT FROM dropped_calls')).toHaveLength(0);
    await reader.end();
    await apply();
    expect(await callsLeft()).toEqual(more);
    expect(await check()).toEqual(EXACT);
  });
});
