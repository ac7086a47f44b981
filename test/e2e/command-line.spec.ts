import { Readable } from 'node:stream';
import pg from 'pg';
import { json, switchboard } from '../support/command-line.js';
import { freshDatabase, type TestDatabase, withDatabase } from '../support/database.js';

const NONE = { requests_per_minute: null, tokens_per_minute: null, concurrency: null };
const ANN = ['--email', 'ann@example.com'];

describe("the operator's command line", () => {
  let database: TestDatabase;
  const environment = { ...process.env };

  beforeEach(async () => {
    database = await freshDatabase();
    process.env['DATABASE_URL'] = database.url;
    process.env['SECRET_KEY'] = 'a test has no secrets'.padEnd(32, '.');
  });
  afterEach(async () => {
    process.env = { ...environment };
    await database.drop();
  });

  async function query(sql: string, values: unknown[] = []): Promise<void> {
    const client = new pg.Client({ connectionString: database.url });
    await client.connect();
    await client.query(sql, values);
    await client.end();
  }

  const withStdin = async <T>(text: string, work: () => Promise<T>): Promise<T> => {
    const original = Object.getOwnPropertyDescriptor(process, 'stdin');
    Object.defineProperty(process, 'stdin', { value: Readable.from([Buffer.from(text)]), configurable: true });
    try {
      return await work();
    } finally {
      if (original) Object.defineProperty(process, 'stdin', original);
    }
  };

  it('creates, lists, credits and disables accounts', async () => {
    const created = await json(
      'account',
      'create',
      '--email',
      'Ann@Example.com',
      '--name',
      'Ann',
      '--credit',
      '10',
      '--group',
      'saver',
      '--verified',
    );
    expect(created).toEqual({
      id: expect.stringMatching(/^acc_[0-9a-f]{32}$/) as string,
      email: 'ann@example.com',
      password: expect.stringMatching(/^[\w-]{24}$/) as string,
    });
    expect(await json('account', 'credit', ...ANN, '--amount', '-2.5', '--reason', 'correction')).toEqual({
      balance_usd: '7.5',
      held_usd: '0',
      owed_usd: '0',
    });
    expect(await json('account', 'credit', ...ANN, '--amount=-2.5', '--reason', 'correction')).toEqual({
      balance_usd: '5',
      held_usd: '0',
      owed_usd: '0',
    });
    expect(await json('account', 'credit', ...ANN, '--amount', '0.000000001', '--reason', 'dust')).toEqual({
      balance_usd: '5.000000001',
      held_usd: '0',
      owed_usd: '0',
    });
    await expect(switchboard('account', 'disable', ...ANN)).resolves.toMatchObject({ code: 0, stderr: '' });
    expect(await json('account', 'list')).toEqual({
      accounts: [
        {
          id: created['id'],
          email: 'ann@example.com',
          state: 'disabled',
          balance_usd: '5.000000001',
          held_usd: '0',
          owed_usd: '0',
          group: 'saver',
          limits: NONE,
          monthly_allowance_usd: '0',
        },
      ],
    });
    await expect(switchboard('account', 'enable', ...ANN)).resolves.toMatchObject({ code: 0, stderr: '' });
    const { stdout } = await switchboard('account', 'list');
    expect(stdout).toMatch(/ann@example\.com\s+enabled\s+\$5\.000000001\s+\$0\s+\$0\s+saver\s+acc_/);
    await expect(switchboard('ledger', 'check')).resolves.toEqual({ code: 0, stdout: 'ledger exact\n', stderr: '' });
  });

  it('prints the id of a new account, and its password only when it was generated', async () => {
    const generated = await switchboard('account', 'create', ...ANN);
    expect(generated).toMatchObject({ code: 0, stderr: '' });
    expect(generated.stdout).toMatch(/^acc_[0-9a-f]{32}\npassword: [\w-]{24}\n$/);
    const chosen = await switchboard(
      'account',
      'create',
      '--email',
      'bob@example.com',
      '--password',
      'long enough for me',
      '--admin',
    );
    expect(chosen.stdout).toMatch(/^acc_[0-9a-f]{32}\n$/);
    const { password } = await json(
      'account',
      'create',
      '--email',
      'eve@example.com',
      '--password',
      'long enough for me',
    );
    expect(password).toBeUndefined();
  });

  it('refuses with exit 1 and one line that says why, and prints no result', async () => {
    await switchboard('account', 'create', ...ANN);
    const refusals: [string[], string][] = [
      [['account', 'create', ...ANN], 'An account with the email address ann@example.com already exists'],
      [['account', 'create', '--email', 'nobody'], '"nobody" is not a valid email address'],
      [['account', 'create', '--email', 'bob@example.com', '--password', 'short'], '12 to 128 characters'],
      [['account', 'disable', '--email', 'bob@example.com'], 'No account has the email address bob@example.com'],
      [
        ['account', 'credit', ...ANN, '--amount', '-1', '--reason', 'x'],
        'A debit of $1 is not possible: only $0 is available',
      ],
      [['key', 'create', '--email', 'bob@example.com', '--name', 'k'], 'No account'],
      [['key', 'disable', '--id', 'key_none'], 'API key key_none not found'],
      [['usage', 'export', '--from', '2026-01-01', '--to', '2026-02-01', '--email', 'bob@example.com'], 'No account'],
    ];
    for (const [args, reason] of refusals) {
      const { code, stdout, stderr } = await switchboard(...args);
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toContain(reason);
      expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    }
  });

  it.each([
    [[]],
    [['nonsense']],
    [['account']],
    [['account', 'create']],
    [['account', 'create', '--email']],
    [['account', 'create', ...ANN, '--colour', 'red']],
    [['account', 'create', ...ANN, '--credit', 'ten']],
    [['account', 'credit', ...ANN, '--amount', '1e3', '--reason', 'x']],
    [['account', 'credit', ...ANN, '--amount', '1']],
    [['account', 'list', 'surplus']],
    [['key', 'import', ...ANN, '--name', 'k']],
    [['key', 'create', ...ANN, '--name', 'k', '--expires', 'tomorrow']],
    [['key', 'create', ...ANN, '--name', 'k', '--store', 'always']],
    [['key', 'budget', '--id', 'key_1']],
    [['key', 'budget', '--id', 'key_1', '--daily', 'unlimited']],
    [['key', 'limits', '--id', 'key_1']],
    [['key', 'limits', '--id', 'key_1', '--rpm', '0']],
    [['key', 'create', ...ANN, '--name', 'k', '--concurrency', 'none']],
    [['account', 'limits', ...ANN]],
    [['redemption', 'create', '--amount', '5']],
    [['redemption', 'create', '--amount', '5', '--count', '0']],
    [['redemption', 'redeem', ...ANN]],
    [['usage', 'export', '--from', '2026-01-01']],
  ])('takes %j for wrong usage: exit 2 and nothing on stdout', async (args) => {
    const { code, stdout, stderr } = await switchboard(...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).not.toBe('');
  });

  it('shows help on stdout with exit 0', async () => {
    const { code, stdout } = await switchboard('key', '--help');
    expect(code).toBe(0);
    for (const command of ['create', 'import', 'list', 'disable', 'enable', 'delete', 'quota', 'budget', 'limits'])
      expect(stdout).toContain(command);
  });

  it('prints the secret of a new key alone', async () => {
    await switchboard('account', 'create', ...ANN);
    const { code, stdout, stderr } = await switchboard('key', 'create', ...ANN, '--name', 'laptop');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^sk-[0-9A-Za-z]{48}\n$/);
  });

  it('creates, lists, limits, disables and deletes keys', async () => {
    await switchboard('account', 'create', ...ANN);
    const key = await json(
      'key',
      'create',
      ...ANN,
      '--name',
      'ci',
      '--quota',
      '5',
      '--group',
      'saver',
      '--models',
      'a,b',
      '--expires',
      '2030-01-01',
    );
    const { id, secret, hint } = key as Record<string, string>;
    expect(Object.keys(key)).toEqual(['id', 'secret', 'hint']);
    expect(hint).toBe(`${secret?.slice(0, 6)}…${secret?.slice(-4)}`);
    const idOption = ['--id', id ?? ''];
    await expect(switchboard('key', 'quota', ...idOption, '--add', '2.5')).resolves.toMatchObject({
      code: 0,
      stdout: 'quota $7.5\n',
    });
    await expect(switchboard('key', 'quota', ...idOption, '--add=-1')).resolves.toMatchObject({
      code: 0,
      stdout: 'quota $6.5\n',
    });
    await expect(switchboard('key', 'quota', ...idOption, '--add', '-7')).resolves.toMatchObject({
      code: 1,
      stdout: '',
    });
    await expect(switchboard('key', 'disable', ...idOption)).resolves.toMatchObject({ code: 0 });
    await switchboard('key', 'create', ...ANN, '--name', 'plain', '--strict', '--store', 'never');
    const { keys } = (await json('key', 'list', ...ANN)) as { keys: Record<string, unknown>[] };
    expect(keys[0]).toEqual({
      id,
      name: 'ci',
      state: 'disabled',
      hint,
      quota_usd: '6.5',
      used_usd: '0',
      held_usd: '0',
      budgets: { daily: null, weekly: null, monthly: null },
      group: 'saver',
      expires_at: '2030-01-01T00:00:00.000Z',
      strict: false,
      never_stores: false,
      limits: NONE,
      networks: [],
    });
    const plain = { name: 'plain', state: 'enabled', quota_usd: null, group: null, expires_at: null };
    expect(keys[1]).toMatchObject({ ...plain, strict: true, never_stores: true });
    await expect(switchboard('key', 'enable', ...idOption)).resolves.toMatchObject({ code: 0 });
    await expect(switchboard('key', 'delete', ...idOption)).resolves.toMatchObject({ code: 0 });
    await expect(switchboard('key', 'enable', ...idOption)).resolves.toMatchObject({ code: 1 });
    const { stdout } = await switchboard('key', 'list', ...ANN);
    expect(stdout).toMatch(/ci\s+deleted\s+\$6\.5/);
  });

  it('limits what keys and accounts may ask for, and from where', async () => {
    await switchboard('account', 'create', ...ANN);
    const made = ['--rpm', '60', '--tpm', '100000', '--networks', '203.0.113.0/24, 2001:db8::1'];
    const { id } = await json('key', 'create', ...ANN, '--name', 'limited', ...made);
    const limits = (...options: string[]) => switchboard('key', 'limits', '--id', String(id), ...options);
    const networks = ['203.0.113.0/24', '2001:db8::1'];
    expect(await json('key', 'list', ...ANN)).toMatchObject({
      keys: [{ limits: { requests_per_minute: 60, tokens_per_minute: 100_000, concurrency: null }, networks }],
    });
    expect((await limits('--rpm', 'none', '--concurrency', '4')).stdout).toBe(
      'limits: 100,000 tokens/min, 4 at a time\nnetworks: 203.0.113.0/24, 2001:db8::1\n',
    );
    expect((await switchboard('key', 'list', ...ANN)).stdout).toMatch(
      /limited .* key_\w+ +100,000 tokens\/min, 4 at a time +203\.0\.113\.0\/24, 2001:db8::1\n/,
    );
    expect((await limits('--clear', '--concurrency', '2')).stdout).toContain('limits: 2 at a time\n');
    expect((await limits('--networks', 'any')).stdout).toBe('limits: 2 at a time\nnetworks: -\n');
    expect(await json('key', 'limits', '--id', String(id), '--clear')).toEqual({ id, limits: NONE, networks: [] });
    expect(await limits('--networks', 'office')).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('“office” is not a network. Enter addresses and ranges') as string,
    });

    const account = (...options: string[]) => switchboard('account', 'limits', ...ANN, ...options);
    expect(await account('--rpm', '600')).toEqual({ code: 0, stdout: 'limits: 600 calls/min\n', stderr: '' });
    expect(await json('account', 'limits', ...ANN, '--tpm', '9')).toEqual({
      email: 'ann@example.com',
      limits: { requests_per_minute: 600, tokens_per_minute: 9, concurrency: null },
    });
    expect((await switchboard('account', 'list')).stdout).toMatch(/acc_\w+ +600 calls\/min, 9 tokens\/min +\$0\n/);
    expect((await account('--clear')).stdout).toBe('limits: -\n');
    expect(await json('account', 'list')).toMatchObject({ accounts: [{ limits: NONE }] });
    expect(await switchboard('account', 'limits', '--email', 'bob@example.com', '--clear')).toMatchObject({ code: 1 });
  });

  it('takes over a secret from stdin, without its line end, once', async () => {
    await switchboard('account', 'create', ...ANN);
    const secret = `sk-other-${'y'.repeat(40)}`;
    const importIt = (text: string) =>
      withStdin(text, () => switchboard('key', 'import', ...ANN, '--name', 'old', '--secret-stdin'));
    const imported = await importIt(`${secret}\n`);
    expect(imported).toEqual({ code: 0, stdout: expect.stringMatching(/^key_[0-9a-f]{32}\n$/) as string, stderr: '' });
    await expect(importIt(secret)).resolves.toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringContaining('already in use') as string,
    });
    for (const unfit of ['sk-short', '', `pk-${'y'.repeat(40)}`, `sk-${'y'.repeat(40)} z`])
      await expect(importIt(unfit)).resolves.toMatchObject({
        code: 1,
        stdout: '',
        stderr: expect.not.stringContaining('yyyy') as string,
      });
  });

  it('says what is wrong with the ledger and fails', async () => {
    const { id } = await json('account', 'create', ...ANN, '--credit', '1');
    await query('UPDATE wallets SET balance = balance + 1');
    const line = `The balance of wallet ${String(id)} is $1.000000001, but its ledger lines sum to $1`;
    const plain = await switchboard('ledger', 'check');
    expect(plain).toMatchObject({ code: 1, stdout: `${line}\n` });
    expect(plain.stderr.trimEnd().split('\n')).toHaveLength(1);
    const { code, stdout } = await switchboard('ledger', 'check', '--json');
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({ exact: false, differences: [line] });
  });

  it('exports calls as CSV', async () => {
    await switchboard('account', 'create', ...ANN);
    const { code, stdout, stderr } = await switchboard(
      'usage',
      'export',
      '--from',
      '2026-01-01',
      '--to',
      '2030-01-01T00:00:00Z',
      ...ANN,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^time,request_id,.*,ip,upstream_report,result,transport,member,team\n$/);
  });

  it('says in one line that the database cannot be reached', async () => {
    process.env['DATABASE_URL'] = withDatabase(database.url, 'nowhere');
    const { code, stdout, stderr } = await switchboard('account', 'list');
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });

  it('says in one line which variable of the environment is wrong', async () => {
    process.env['PORT'] = 'many';
    const { code, stderr } = await switchboard('account', 'list');
    expect(code).toBe(1);
    expect(stderr).toContain('PORT');
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
  });
});
