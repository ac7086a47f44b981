import type { TestingModule } from '@nestjs/testing';
import { DataSource } from 'typeorm';
import { ApiKeyService, KeysModule } from '../../src/keys/index.js';
import { Onboarding, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { UsageExport, UsageModule, type UsageSelection } from '../../src/usage/index.js';
import { aCallRow } from '../support/call-rows.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { startOn } from '../support/modules.js';

const YEAR: UsageSelection = { from: new Date('2026-01-01'), to: new Date('2030-01-01') };

describe('the usage export', () => {
  let database: TestDatabase;
  let app: TestingModule;
  let sql: DataSource;
  let ann: { accountId: string; keyId: string };
  let bob: { accountId: string; keyId: string };

  const someone = async (email: string, name: string) => {
    const { id: accountId } = await app.get(Onboarding).createAccount({ email });
    const { id: keyId } = await app.get(ApiKeyService).create({ accountId, name });
    return { accountId, keyId };
  };
  const lines = async (selection: UsageSelection): Promise<string[]> => {
    let text = '';
    for await (const piece of app.get(UsageExport).csv(selection)) text += piece;
    return text.trimEnd().split('\n');
  };
  const ids = async (selection: UsageSelection) => (await lines(selection)).slice(1).map((line) => line.split(',')[1]);

  beforeEach(async () => {
    database = await freshDatabase();
    app = await startOn(database, [UsageModule, KeysModule, OnboardingModule]);
    sql = app.get(DataSource);
    await sql.query(`SELECT create_call_partitions('2026-10-01', 4)`);
    ann = await someone('ann@example.com', 'laptop');
    bob = await someone('bob@example.com', '=cmd()');
  });
  afterEach(async () => {
    await app.close();
    await database.drop();
  });

  it('writes the header line alone when there is no call', async () => {
    const [header, ...rows] = await lines(YEAR);
    expect(header).toMatch(/^time,request_id,account,key,model,/);
    expect(rows).toEqual([]);
  });

  it('writes a call with the address of its account and the name of its key', async () => {
    await aCallRow(sql, { ...ann, id: 'req_1', createdAt: '2026-11-20T10:00:00.123Z' });
    expect((await lines(YEAR))[1]).toBe(
      '2026-11-20T10:00:00.123Z,req_1,ann@example.com,laptop,gpt-5.5,default,responses,messages,main,true,succeeded,,' +
        '100,40,0,20,5,0.0015,reported,250,900,1,127.0.0.1,,completed,,,',
    );
  });

  it('leaves what is unknown empty and names the reason of a refusal', async () => {
    const refused = {
      status: 'refused',
      errorReason: 'insufficient quota',
      promptTokens: null,
      firstTokenMs: null,
      cost: 0n,
    };
    await aCallRow(sql, { ...bob, ...refused, id: 'req_1', createdAt: '2026-11-20T10:00:00Z' });
    expect((await lines(YEAR))[1]).toBe(
      `2026-11-20T10:00:00.000Z,req_1,bob@example.com,'=cmd(),gpt-5.5,default,responses,messages,main,true,refused,` +
        'insufficient quota,,40,0,20,5,0,reported,,900,1,127.0.0.1,,refused,,,',
    );
  });

  it('includes the first moment and excludes the last, over the end of a month', async () => {
    const times = [
      '2026-10-31T23:59:59.999Z',
      '2026-11-01T00:00:00.000Z',
      '2026-11-30T23:59:59.999Z',
      '2026-12-01T00:00:00.000Z',
    ];
    for (const [index, createdAt] of times.entries()) await aCallRow(sql, { ...ann, id: `req_${index}`, createdAt });
    await expect(ids({ from: new Date('2026-11-01'), to: new Date('2026-12-01') })).resolves.toEqual([
      'req_1',
      'req_2',
    ]);
    await expect(ids({ from: new Date('2026-10-31T23:59:59.999Z'), to: new Date('2026-11-01') })).resolves.toEqual([
      'req_0',
    ]);
  });

  it('is ordered by time, whatever the order of settlement, and can be limited to one account', async () => {
    await aCallRow(sql, { ...ann, id: 'req_3', createdAt: '2026-11-03T00:00:00Z' });
    await aCallRow(sql, { ...bob, id: 'req_2', createdAt: '2026-11-02T00:00:00Z' });
    await aCallRow(sql, { ...ann, id: 'req_1', createdAt: '2026-11-01T00:00:00Z' });
    await expect(ids(YEAR)).resolves.toEqual(['req_1', 'req_2', 'req_3']);
    await expect(ids({ ...YEAR, accountId: ann.accountId })).resolves.toEqual(['req_1', 'req_3']);
  });

  it('gives every one of many calls once, also those of the same moment', async () => {
    await sql.query(
      `INSERT INTO calls (id, created_at, account_id, key_id, model, group_name, protocol, upstream_protocol, channel, stream, effort,
         status, error_reason, error_message, cost, uncollected, billing_basis, duration_ms, attempts, ip)
       SELECT 'req_' || lpad(n::text, 5, '0'), timestamptz '2026-11-01' + (n / 700) * interval '1 second', $1, $2, 'm', 'default', '', '', '',
         false, '', 'succeeded', '', '', 0, 0, 'free', 0, 0, '' FROM generate_series(1, 2500) AS n`,
      [ann.accountId, ann.keyId],
    );
    const expected = Array.from({ length: 2500 }, (_, index) => `req_${String(index + 1).padStart(5, '0')}`);
    await expect(ids(YEAR)).resolves.toEqual(expected);
  });

  it('finds a partition for calls of this month and three more', async () => {
    const names = await sql.query<{ name: string }[]>(
      `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'calls'::regclass`,
    );
    const months = [0, 1, 2, 3].map((ahead) => {
      const month = new Date();
      month.setUTCMonth(month.getUTCMonth() + ahead, 1);
      return `calls_${month.toISOString().slice(0, 7).replace('-', '_')}`;
    });
    expect(names.map(({ name }) => name)).toEqual(expect.arrayContaining(months));
  });

  it('lets two processes make the same partitions together', async () => {
    const { CallPartitions } = await import('../../src/usage/retention/partitions.js');
    for (const parent of ['calls', 'call_attempts'])
      for (const { name } of await sql.query<{ name: string }[]>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = '${parent}'::regclass`,
      ))
        await sql.query(`DROP TABLE ${name}`);
    const partitions = app.get(CallPartitions);
    await Promise.all([partitions.make(), partitions.make(), partitions.make()]);
    const [row] = await sql.query<{ count: string }[]>(
      `SELECT count(*) FROM pg_inherits WHERE inhparent = 'calls'::regclass`,
    );
    expect(row?.count).toBe('4');
  });
});
