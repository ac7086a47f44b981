import { jest } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { newId, parseUsd } from '../../src/platform/shared/index.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { aRequest } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { gate, responseIn, waitFor } from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

const EXACT = { exact: true, differences: [] };
/** What a call of the model `fee` costs. */
const FEE = '0.02';
const MEMBERS = 3;
/** Of each member: calls, and those that the budget pays for. */
const CALLS = 1000;
const PAID = 100;
/** Calls that run at the same time. */
const CLIENTS = 300;

jest.setTimeout(6 * TIMEOUT_MS);

interface TestMember {
  readonly id: string;
  readonly teamId: string | undefined;
  /** Secrets. */
  readonly keys: readonly string[];
}

/** As columns name them, in dollars. */
type Limits = Readonly<Partial<Record<'quota' | 'daily_budget' | 'weekly_budget' | 'monthly_budget', string>>>;

describe('budgets of an organization', () => {
  let relay: RelayApp;
  let sql: DataSource;
  let organization: TestCaller;
  beforeAll(async () => {
    execFileSync(process.execPath, [join(import.meta.dirname, '../../scripts/build.mjs')], { stdio: 'ignore' });
    relay = await RelayApp.start();
    sql = relay.get(DataSource);
  });
  afterAll(() => relay.close());
  beforeEach(async () => {
    organization = await relay.caller({ credit: '1000' });
    await sql.query(`UPDATE accounts SET kind = 'organization' WHERE id = $1`, [organization.accountId]);
    await sql.query('INSERT INTO organizations (id) VALUES ($1)', [organization.accountId]);
    relay.upstream.script(responseIn('chat-completions'));
  });
  afterEach(() => relay.upstream.reset());

  async function insert(table: 'members' | 'teams', columns: object, limits: Limits): Promise<void> {
    const nanos = Object.entries(limits).map(([name, usd]) => [name, parseUsd(usd)] as const);
    const row = Object.entries({ organization_id: organization.accountId, ...columns, ...Object.fromEntries(nanos) });
    const places = row.map((_, index) => `$${index + 1}`);
    await sql.query(
      `INSERT INTO ${table} (${row.map(([name]) => name).join()}) VALUES (${places.join()})`,
      row.map(([, value]) => value),
    );
  }

  async function team(limits: Limits = {}): Promise<string> {
    const id = newId('team', Date.now());
    await insert('teams', { id, name: id }, limits);
    return id;
  }

  async function member(
    limits: Limits,
    { teamId, keys = 1 }: { teamId?: string; keys?: number } = {},
  ): Promise<TestMember> {
    const person = await relay.caller({ credit: '0' });
    const id = newId('mem', Date.now());
    await insert('members', { id, account_id: person.accountId, role: 'member', team_id: teamId ?? null }, limits);
    const secrets: string[] = [];
    for (let index = 0; index < keys; index += 1) {
      const key = await relay.get(ApiKeyService).create({ accountId: organization.accountId, name: `${index}` });
      await sql.query('UPDATE api_keys SET member_id = $2, team_id = $3 WHERE id = $1', [key.id, id, teamId ?? null]);
      secrets.push(key.secret.reveal());
    }
    return { id, teamId, keys: secrets };
  }

  const call = (key = '', address?: string): Promise<Response> =>
    address === undefined
      ? relay.post('/v1/chat/completions', key, aRequest('chat-completions', { model: 'fee' }))
      : fetch(`${address}/v1/chat/completions`, {
          method: 'POST',
          headers: { authorization: `Bearer ${key}` },
          body: JSON.stringify(aRequest('chat-completions', { model: 'fee' })),
        });

  const errorOf = async (response: Response): Promise<string> =>
    ((await response.json()) as { error: { message: string } }).error.message;

  const usedBy = async (holder: string): Promise<readonly unknown[]> =>
    sql.query('SELECT period, used, held FROM budgets WHERE holder_id = $1 ORDER BY period', [holder]);

  const allPeriods = (usd: string) =>
    ['day', 'lifetime', 'month', 'week'].map((period) => ({ period, used: parseUsd(usd).toString(), held: '0' }));

  /** How many calls of each member were answered with 200. */
  async function paidOf(members: readonly TestMember[], addresses: readonly (string | undefined)[]): Promise<number[]> {
    const paid = members.map(() => 0);
    const calls = Array.from({ length: MEMBERS * CALLS }, (_, index) => index).values();
    const client = async (): Promise<void> => {
      for (const index of calls) {
        const at = index % MEMBERS;
        const { keys } = members[at]!;
        const response = await call(keys[index % keys.length], addresses[index % addresses.length]);
        await response.text();
        if (response.status === 200) paid[at]! += 1;
      }
    };
    await Promise.all(Array.from({ length: CLIENTS }, client));
    return paid;
  }

  it.each([1, 2])(
    `pays for exactly ${PAID} of ${CALLS} parallel calls of each of ${MEMBERS} members with 2 keys: %i process(es)`,
    async (processes) => {
      const quota = (PAID * 0.02).toFixed(2);
      const members = await Promise.all(Array.from({ length: MEMBERS }, () => member({ quota }, { keys: 2 })));
      const other =
        processes === 1
          ? undefined
          : await Service.start(undefined, {
              DATABASE_URL: relay.databaseUrl,
              SECRET_KEY: 'a test has no secrets'.padEnd(32, '.'),
              DEMO: 'off',
              MAX_EVENT_LOOP_DELAY_MS: '60000',
            });
      try {
        const addresses = other ? [undefined, other.address] : [undefined];
        expect(await paidOf(members, addresses)).toEqual(members.map(() => PAID));
        for (const { id } of members) expect(await usedBy(id)).toEqual(allPeriods(quota));
        expect(await relay.wallet(organization)).toEqual({
          balance: (1000 - MEMBERS * 2).toString(),
          held: '0',
          holds: 0,
        });
        expect(await relay.ledger()).toEqual(EXACT);
      } finally {
        await other?.stop('SIGKILL');
        await other?.remove();
      }
    },
  );

  it.each([
    [{ quota: FEE }, 'your budget in this organization', 'Ask an administrator of the organization'],
    [{ daily_budget: FEE }, 'your daily budget in this organization', 'It resets at 00:00 UTC every day.'],
    [{ weekly_budget: FEE }, 'your weekly budget in this organization', 'It resets at 00:00 UTC every Monday.'],
    [
      { monthly_budget: FEE },
      'your monthly budget in this organization',
      'It resets at 00:00 UTC on the first day of each month.',
    ],
  ])('names the budget that refused and says when it resets: %j', async (limits, budget, advice) => {
    const { keys } = await member(limits);
    expect((await call(keys[0])).status).toBe(200);
    const refused = await call(keys[0]);
    expect(refused.status).toBe(429);
    const message = await errorOf(refused);
    expect(message).toContain(`insufficient quota: ${budget} has $0 left and this call needs at least $0.02.`);
    expect(message).toContain(advice);
  });

  it('does not tell members the balance of the organization', async () => {
    const poor = await relay.caller({ credit: '0.01' });
    await sql.query(`UPDATE accounts SET kind = 'organization' WHERE id = $1`, [poor.accountId]);
    await sql.query('INSERT INTO organizations (id) VALUES ($1)', [poor.accountId]);
    organization = poor;
    const { keys } = await member({});
    expect(await errorOf(await call(keys[0]))).toContain(
      'insufficient quota: the wallet of the organization does not have the $0.02 that this call needs. Ask an administrator of the organization to top it up.',
    );
    expect(await errorOf(await call(poor.key))).toContain('your wallet has $0.01 left');
  });

  it('lets the members of a team share its budget', async () => {
    const teamId = await team({ monthly_budget: '0.04' });
    const [first, second, outside] = await Promise.all([member({}, { teamId }), member({}, { teamId }), member({})]);
    expect([(await call(first.keys[0])).status, (await call(second.keys[0])).status]).toEqual([200, 200]);
    expect(await errorOf(await call(first.keys[0]))).toContain('the monthly budget of your team has $0 left');
    expect((await call(outside.keys[0])).status).toBe(200);
    expect(await usedBy(teamId)).toEqual(allPeriods('0.04'));
    expect(await relay.ledger()).toEqual(EXACT);
  });

  it('counts a running call for the member that it was admitted for when its key changes hands', async () => {
    const [before, after] = [await member({}), await member({})];
    const handedOver = gate();
    relay.upstream.script([waitFor(handedOver), responseIn('chat-completions')]);
    const response = call(before.keys[0]);
    await eventually(() => expect(relay.upstream.requests).toHaveLength(1));
    await sql.query('UPDATE api_keys SET member_id = $2 WHERE member_id = $1', [before.id, after.id]);
    handedOver.open();
    expect((await response).status).toBe(200);
    expect([await usedBy(before.id), await usedBy(after.id)]).toEqual([allPeriods(FEE), []]);
    expect(await relay.ledger()).toEqual(EXACT);
  });

  it('refuses a member who left or is suspended, and finds what the ledger does not say', async () => {
    const [left, suspended] = [await member({}), await member({})];
    expect([(await call(left.keys[0])).status, (await call(suspended.keys[0])).status]).toEqual([200, 200]);
    await sql.query(`UPDATE members SET state = 'left' WHERE id = $1`, [left.id]);
    await sql.query(
      `UPDATE accounts SET state = 'disabled' WHERE id = (SELECT account_id FROM members WHERE id = $1)`,
      [suspended.id],
    );
    expect([(await call(left.keys[0])).status, (await call(suspended.keys[0])).status]).toEqual([401, 401]);
    await sql.query(`UPDATE budgets SET used = used + 1 WHERE holder_id = $1 AND period = 'lifetime'`, [left.id]);
    expect(await relay.ledger()).toMatchObject({
      differences: [
        expect.stringContaining(`The usage of the budget of ${left.id}, lifetime`),
        expect.stringContaining(`The spending of all members of organization ${organization.accountId}`),
      ],
    });
    await sql.query(`UPDATE budgets SET used = used - 1 WHERE holder_id = $1 AND period = 'lifetime'`, [left.id]);
  });
});
