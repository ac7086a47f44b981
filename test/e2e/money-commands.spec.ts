import { freshDatabase, type TestDatabase } from '../support/database.js';
import { json, switchboard } from '../support/command-line.js';

const ANN = ['--email', 'ann@example.com'];
const CODE = /^[0-9A-HJKMNP-TV-Z]{4}(?:-[0-9A-HJKMNP-TV-Z]{4}){6}$/;

describe('the commands that give and limit money', () => {
  let database: TestDatabase;
  const environment = { ...process.env };

  beforeEach(async () => {
    database = await freshDatabase();
    process.env['DATABASE_URL'] = database.url;
    process.env['SECRET_KEY'] = 'a test has no secrets'.padEnd(32, '.');
    await switchboard('account', 'create', ...ANN);
  });
  afterEach(async () => {
    process.env = { ...environment };
    await database.drop();
  });

  it('make codes one a line, redeem one once, and list them without what people type', async () => {
    const made = await switchboard('redemption', 'create', '--amount', '5', '--count', '3', '--note', 'course');
    expect(made).toMatchObject({ code: 0, stderr: '' });
    const codes = made.stdout.trimEnd().split('\n');
    expect(codes).toHaveLength(3);
    for (const code of codes) expect(code).toMatch(CODE);
    const [code = ''] = codes;
    const options = ['--amount', '2.5', '--count', '1', '--expires', '2099-01-01'];
    const { codes: more } = await json('redemption', 'create', ...options);
    expect(more).toEqual([expect.stringMatching(CODE)]);

    expect(await json('redemption', 'redeem', ...ANN, '--code', code.toLowerCase())).toEqual({
      amount_usd: '5',
      balance_usd: '5',
      held_usd: '0',
      owed_usd: '0',
    });
    const again = await switchboard('redemption', 'redeem', ...ANN, '--code', code);
    expect(again).toMatchObject({ code: 1, stdout: '' });
    expect(again.stderr).toMatch(/^error: This code was already redeemed for this account on .* UTC\.\n$/);
    await expect(switchboard('redemption', 'redeem', ...ANN, '--code', codes[1] ?? '')).resolves.toEqual({
      code: 0,
      stdout: 'redeemed $5; balance $10, of which $0 on hold\n',
      stderr: '',
    });

    const { codes: listed } = (await json('redemption', 'list')) as { codes: Record<string, unknown>[] };
    const open = { state: 'open', redeemed_at: null, redeemed_by: null, created_at: expect.stringMatching(/Z$/) };
    const redeemed = { state: 'redeemed', redeemed_at: expect.stringMatching(/Z$/), redeemed_by: 'ann@example.com' };
    expect(listed).toHaveLength(4);
    expect(listed.filter(({ state }) => state === 'redeemed')).toMatchObject([redeemed, redeemed]);
    expect(listed.filter(({ state }) => state === 'open')).toEqual([
      { id: expect.stringMatching(/^cod_/), amount_usd: '5', note: 'course', expires_at: null, ...open },
      { id: expect.any(String), amount_usd: '2.5', note: '', expires_at: '2099-01-01T00:00:00.000Z', ...open },
    ]);
    const { stdout } = await switchboard('redemption', 'list');
    expect(stdout).toMatch(/cod_[0-9a-f]{32}\s+\$5\s+redeemed\s+-\s+2\S+Z\s+ann@example\.com\s+course\n/);
    for (const one of codes) expect(stdout + JSON.stringify(listed)).not.toContain(one);
    await expect(switchboard('ledger', 'check')).resolves.toEqual({ code: 0, stdout: 'ledger exact\n', stderr: '' });
  });

  it.each([
    [['create', '--amount', '-5', '--count', '1'], 'worth more than $0'],
    [['create', '--amount', '5', '--count', '1001'], 'from 1 to 1000'],
    [['create', '--amount', '5', '--count', '1', '--expires', '2020-01-01'], 'must be in the future'],
    [['redeem', ...ANN, '--code', 'nonsense'], 'Unknown code'],
    [['redeem', '--email', 'bob@example.com', '--code', 'x'], 'No account'],
  ])('refuse redemption %j in one line', async (args, reason) => {
    const { code, stdout, stderr } = await switchboard('redemption', ...args);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(reason);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('set budgets of a key, lift them, and show them', async () => {
    const { id } = await json('key', 'create', ...ANN, '--name', 'ci', '--daily', '5', '--monthly', '100');
    const listed = async (): Promise<unknown> => {
      const { keys } = (await json('key', 'list', ...ANN)) as { keys: Record<string, unknown>[] };
      return keys[0]?.['budgets'];
    };
    const budget = (limit: string): object => ({
      limit_usd: limit,
      used_usd: '0',
      held_usd: '0',
      left_usd: limit,
      resets_at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT00:00:00\.000Z$/) as string,
    });
    expect(await listed()).toEqual({ daily: budget('5'), weekly: null, monthly: budget('100') });
    expect(await json('key', 'budget', '--id', String(id), '--daily', 'none', '--weekly', '20')).toEqual({
      id,
      budgets: { daily: null, weekly: budget('20'), monthly: budget('100') },
    });
    expect(await listed()).toEqual({ daily: null, weekly: budget('20'), monthly: budget('100') });
    await expect(switchboard('key', 'budget', '--id', String(id), '--monthly', '80')).resolves.toEqual({
      code: 0,
      stdout: 'budgets: weekly $0 of $20, monthly $0 of $80\n',
      stderr: '',
    });
    const { stdout } = await switchboard('key', 'list', ...ANN);
    expect(stdout).toMatch(/ci\s+enabled\s+unlimited\s+\$0\s+\$0\s+weekly \$0 of \$20, monthly \$0 of \$80\s/);
    const refused = await switchboard('key', 'budget', '--id', String(id), '--daily=-1');
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr).toContain('A daily budget must be between $0 and');
    await expect(switchboard('key', 'budget', '--id', 'key_none', '--daily', '1')).resolves.toMatchObject({ code: 1 });
  });
});
