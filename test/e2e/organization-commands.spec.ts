import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { json, switchboard } from '../support/command-line.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

describe('switchboard organization', () => {
  const environment = { ...process.env };
  let dataDir: string;
  let database: TestDatabase;

  beforeEach(async () => {
    dataDir = temporaryDataDir();
    database = await freshDatabase();
    const SECRET_KEY = 'a test has no secrets'.padEnd(32, '.');
    Object.assign(process.env, { DATABASE_URL: database.url, DATA_DIR: dataDir, SECRET_KEY });
    for (const name of ['ann', 'bob', 'cy']) await json('account', 'create', '--email', `${name}@example.com`);
  });
  afterEach(async () => {
    process.env = { ...environment };
    await database.drop();
    removeDataDir(dataDir);
  });

  const file = (...lines: string[]): string => {
    const path = join(dataDir, 'members.csv');
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
  const ofAcme = (...command: string[]) => ['organization', ...command, '--organization', 'acme'];
  const create = (...options: string[]) =>
    json('organization', 'create', '--name', 'Acme', '--owner', 'ann@example.com', ...options);
  const show = (): Promise<Record<string, unknown>> => json(...ofAcme('show'));
  const entries = async (): Promise<readonly string[]> => {
    const sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
    try {
      const { rows } = await sql.query<Record<'actor' | 'action' | 'kind' | 'name', string>>(
        `SELECT actor_kind AS actor, action, object_kind AS kind, object_name AS name
           FROM audit_entries WHERE object_kind <> 'account' ORDER BY id`,
      );
      return rows.map(({ actor, action, kind, name }) => `${actor} ${action} ${kind} ${name}`);
    } finally {
      await sql.end();
    }
  };

  it('creates an organization with an owner and credit, and lists it apart from accounts', async () => {
    const { id } = await create('--credit', '12.5');
    expect(id).toMatch(/^org_\w{32}$/);
    const { organizations } = await json('organization', 'list');
    expect(organizations).toMatchObject([
      {
        id,
        name: 'Acme',
        state: 'enabled',
        owner: 'ann@example.com',
        members: 1,
        balance_usd: '12.5',
        group: 'default',
      },
    ]);
    expect((await json('account', 'list'))['accounts']).toHaveLength(3);
    await expect(entries()).resolves.toEqual([
      'command-line created organization Acme',
      'command-line credited organization Acme',
    ]);
    await expect(switchboard('organization', 'create', '--name', ' ', '--owner', 'ann@example.com')).resolves.toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Enter a name for the organization: 1 to 100 characters without line breaks.\n',
    });
  });

  it('adds, changes and removes members with budgets, all or none', async () => {
    await create();
    await json(...ofAcme('team', 'add'), '--name', 'Research', '--models', 'gpt-5', '--monthly', '50');
    const bob = ['--email', 'bob@example.com'];
    const added = await json(
      ...ofAcme('member', 'add'),
      ...bob,
      '--role',
      'billing',
      '--team',
      'research',
      '--daily',
      '2',
    );
    expect(added).toMatchObject({ role: 'billing', team: 'Research', budgets: { daily: { limit_usd: '2' } } });
    const set = await json(...ofAcme('member', 'set'), ...bob, '--role', 'admin', '--team', 'none', '--max-keys', '3');
    expect(set).toMatchObject({ role: 'admin', team: null, max_keys: 3, budgets: { daily: { limit_usd: '2' } } });
    const refused = await switchboard(...ofAcme('member', 'set'), ...bob, '--role', 'viewer', '--team', 'nowhere');
    expect(refused).toMatchObject({ code: 1, stderr: 'error: There is no such team in this organization.\n' });
    await expect(switchboard(...ofAcme('member', 'set'), ...bob)).resolves.toMatchObject({ code: 2 });
    await expect(show()).resolves.toMatchObject({
      members: [
        { email: 'ann@example.com', role: 'owner' },
        { email: 'bob@example.com', role: 'admin' },
      ],
      teams: [{ name: 'Research', models: ['gpt-5'], budgets: { monthly: { limit_usd: '50' } } }],
    });
    const again = await switchboard(...ofAcme('member', 'add'), ...bob);
    expect(again.stderr).toBe('error: Enter another address: bob@example.com is already a member.\n');
    await json(...ofAcme('member', 'remove'), ...bob);
    await expect(show()).resolves.toMatchObject({ members: [{ email: 'ann@example.com' }] });
    const owner = await switchboard(...ofAcme('member', 'remove'), '--email', 'ann@example.com');
    expect(owner).toMatchObject({ code: 1, stderr: expect.stringContaining('Transfer the ownership first.') });
  });

  it('keeps settings of a team that are not named, and deletes teams without their members', async () => {
    await create();
    await json(...ofAcme('team', 'add'), '--name', 'Research', '--models', 'a,b', '--daily', '5');
    await json(...ofAcme('member', 'add'), '--email', 'bob@example.com', '--team', 'Research');
    const changed = await json(...ofAcme('team', 'set'), '--name', 'research', '--rename', 'Lab', '--weekly', '9');
    expect(changed).toMatchObject({
      name: 'Lab',
      models: ['a', 'b'],
      budgets: { daily: { limit_usd: '5' }, weekly: { limit_usd: '9' } },
    });
    const lifted = await json(...ofAcme('team', 'set'), '--name', 'Lab', '--models', 'any', '--daily', 'none');
    expect(lifted).toMatchObject({ models: null, budgets: { daily: { limit_usd: null } } });
    await json(...ofAcme('team', 'remove'), '--name', 'Lab');
    await expect(show()).resolves.toMatchObject({ teams: [], members: [{}, { email: 'bob@example.com', team: null }] });
  });

  it('credits, debits and limits an organization as it does accounts', async () => {
    await create('--credit', '5');
    const reason = ['--reason', 'invoice 7'];
    await expect(json(...ofAcme('credit'), '--amount', '2', ...reason)).resolves.toMatchObject({ balance_usd: '7' });
    await expect(json(...ofAcme('credit'), '--amount', '-3', ...reason)).resolves.toMatchObject({ balance_usd: '4' });
    const allowance = await json(...ofAcme('allowance'), '--amount', '20');
    expect(allowance).toMatchObject({ organization: 'acme', monthly_allowance_usd: '20', balance_usd: '24' });
    await expect(switchboard(...ofAcme('limits'), '--rpm', '60')).resolves.toMatchObject({
      stdout: 'limits: 60 calls/min\n',
    });
    await expect(switchboard('ledger', 'check')).resolves.toMatchObject({ stdout: 'ledger exact\n' });
  });

  it('suspends, enables and deletes an organization, and lets its owner go afterwards', async () => {
    await create('--credit', '5');
    await expect(switchboard(...ofAcme('suspend'))).resolves.toMatchObject({ code: 0, stdout: 'acme is suspended\n' });
    await expect(show()).resolves.toMatchObject({ state: 'suspended' });
    await json(...ofAcme('enable'));
    await expect(show()).resolves.toMatchObject({ state: 'enabled' });
    await json(...ofAcme('delete'));
    const gone = await switchboard(...ofAcme('show'));
    expect(gone).toMatchObject({ code: 1, stderr: 'error: No organization has the ID or name acme.\n' });
    const { organizations } = await json('organization', 'list');
    expect(organizations).toMatchObject([{ name: '', state: 'deleted', owner: null, members: 0, balance_usd: '0' }]);
    const actions = ['created', 'credited', 'suspended', 'enabled', 'debited', 'deleted'];
    await expect(entries()).resolves.toEqual(actions.map((action) => `command-line ${action} organization Acme`));
    await expect(switchboard('ledger', 'check')).resolves.toMatchObject({ stdout: 'ledger exact\n' });
  });

  it('asks for an ID when several organizations have the name', async () => {
    const [one, other] = [await create(), await create()];
    const refused = await switchboard(...ofAcme('show'));
    expect(refused.stderr).toBe(
      `error: Several organizations are named acme. Use an ID: ${String(one['id'])}, ${String(other['id'])}.\n`,
    );
    await expect(json('organization', 'show', '--organization', String(other['id']))).resolves.toMatchObject(other);
  });

  it('imports organizations, teams and members of a file', async () => {
    const imported = await switchboard(
      'organization',
      'import',
      file(
        'organization,email,role,team,daily,max_keys',
        'Acme,bob@example.com,,Research,2.5,1',
        'Acme,ann@example.com,owner,research,,',
        'Bolt,cy@example.com,owner,,,',
      ),
    );
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout.trimEnd().split('\n')).toHaveLength(3);
    await expect(show()).resolves.toMatchObject({
      owner: 'ann@example.com',
      members: [
        { email: 'ann@example.com', role: 'owner', team: 'research' },
        {
          email: 'bob@example.com',
          role: 'member',
          team: 'research',
          max_keys: 1,
          budgets: { daily: { limit_usd: '2.5' } },
        },
      ],
      teams: [{ name: 'research', members: 2 }],
    });
    expect((await json('organization', 'list'))['organizations']).toHaveLength(2);
  });

  it('imports nothing of a file with errors, and reports each line', async () => {
    await create();
    const members = file(
      'organization,email,role,monthly',
      'Acme,bob@example.com,member,',
      'Acme,bob@example.com,member,',
      'Acme,cy@example.com,owner,',
      'Nowhere,cy@example.com,member,',
      'Acme,dee@example.com,chief,-1',
      'Acme,eve@example.com,member,',
    );
    const refused = await switchboard('organization', 'import', members);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr.split('\n')).toEqual([
      'line 3: bob@example.com in Acme is already on line 2.',
      'line 4: The organization Acme has an owner already.',
      'line 5: There is no organization Nowhere. A line with the role owner creates it.',
      'line 6: "chief" is not a role. Use owner, admin, billing, member, viewer.',
      'line 6: "-1" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.',
      'line 7: No account has the email address eve@example.com.',
      `error: ${members} has 6 errors; nothing was imported.`,
      '',
    ]);
    await expect(show()).resolves.toMatchObject({ members: [{ email: 'ann@example.com' }] });
  });
});
