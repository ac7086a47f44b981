import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { AccountDeletion, OnboardingModule } from '../../src/keys/onboarding/index.js';
import { json, switchboard } from '../support/command-line.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { linkIn, Mailbox } from '../support/mailbox.js';
import { startOn } from '../support/modules.js';
import { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';

const SECRET_KEY = 'a test has no secrets'.padEnd(32, '.');
const PASSWORD = 'violet kettle umbrella';

describe('the commands that bring people in', () => {
  const environment = { ...process.env };
  let dataDir: string;
  let database: TestDatabase;

  beforeEach(async () => {
    dataDir = temporaryDataDir();
    database = await freshDatabase();
    Object.assign(process.env, { DATABASE_URL: database.url, DATA_DIR: dataDir, SECRET_KEY });
  });
  afterEach(async () => {
    process.env = { ...environment };
    await database.drop();
    removeDataDir(dataDir);
  });

  const file = (...lines: string[]): string => {
    const path = join(dataDir, 'people.csv');
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  };
  const accounts = async (): Promise<unknown> => (await json('account', 'list'))['accounts'];

  it('import all accounts of a file, and print nothing secret', async () => {
    const people = file(
      'email,name,group,credit,monthly_allowance',
      'Ann@example.com,Ann,default,12.5,',
      'bob@example.com,,,,20',
    );
    const imported = await switchboard('account', 'import', people);
    expect(imported).toMatchObject({ code: 0, stderr: '' });
    expect(imported.stdout).toMatch(/^acc_\w{32} {2}ann@example\.com\nacc_\w{32} {2}bob@example\.com\n$/);
    await expect(accounts()).resolves.toMatchObject([
      { email: 'ann@example.com', balance_usd: '12.5', group: 'default', monthly_allowance_usd: '0' },
      { email: 'bob@example.com', balance_usd: '20', group: null, monthly_allowance_usd: '20' },
    ]);
    await expect(switchboard('ledger', 'check')).resolves.toMatchObject({ stdout: 'ledger exact\n' });
  });

  it('give an account an allowance, at once and whole, and end it without taking it back', async () => {
    await json('account', 'create', '--email', 'ann@example.com', '--monthly-allowance', '20', '--credit', '1');
    await expect(accounts()).resolves.toMatchObject([{ balance_usd: '21', monthly_allowance_usd: '20' }]);
    const ofAnn = (amount: string) => ['account', 'allowance', '--email', 'ann@example.com', '--amount', amount];
    await expect(json(...ofAnn('30'))).resolves.toMatchObject({ monthly_allowance_usd: '30', balance_usd: '21' });
    const ended = await switchboard(...ofAnn('0'));
    expect(ended).toMatchObject({ code: 0, stdout: expect.stringContaining('monthly allowance: none\n') });
    await expect(accounts()).resolves.toMatchObject([{ balance_usd: '21', monthly_allowance_usd: '0' }]);
    const refused = await switchboard(...ofAnn('-1'));
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('an amount of at least 0') });
    await expect(switchboard('ledger', 'check')).resolves.toMatchObject({ stdout: 'ledger exact\n' });
  });

  it('list deleted accounts without personal data', async () => {
    const { id } = await json('account', 'create', '--email', 'ann@example.com', '--name', 'Ann');
    const app = await startOn(database, [OnboardingModule]);
    try {
      await app.get(AccountDeletion).run(String(id));
    } finally {
      await app.close();
    }
    await expect(accounts()).resolves.toMatchObject([{ id, email: `${String(id)}@deleted.invalid`, state: 'deleted' }]);
    expect((await switchboard('account', 'list')).stdout).toMatch(/@deleted\.invalid +deleted /);
  });

  it('import nothing of a file with faults, and name each wrong line', async () => {
    await switchboard('account', 'create', '--email', 'ann@example.com');
    const people = file(
      'email,group,monthly_allowance',
      'cy@example.com,,',
      'ann@example.com,nowhere,',
      'x,,',
      'dee@example.com,,-20',
    );
    const refused = await switchboard('account', 'import', people);
    expect(refused).toMatchObject({ code: 1, stdout: '' });
    expect(refused.stderr.split('\n')).toEqual([
      'line 3: there is no group nowhere.',
      'line 3: there is an account ann@example.com already.',
      'line 4: "x" is not a valid email address.',
      'line 5: "-20" is not a valid amount. Use a plain decimal in dollars, such as 5 or 0.50.',
      `error: ${people} has 4 errors; nothing was imported.`,
      '',
    ]);
    await expect(accounts()).resolves.toHaveLength(1);
    await expect(switchboard('account', 'import', join(dataDir, 'none.csv'))).resolves.toMatchObject({ code: 1 });
  });

  it('make invitations that are stored as hashes and listed without the code', async () => {
    const { stdout } = await switchboard(
      'invitation',
      'create',
      '--count',
      '2',
      '--note',
      'course',
      '--expires',
      '2099-01-01',
    );
    const codes = stdout.trimEnd().split('\n');
    for (const code of codes) expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{4}(-[0-9A-HJKMNP-TV-Z]{4}){4}$/);
    expect(new Set(codes).size).toBe(2);
    const { invitations } = await json('invitation', 'list');
    const like = { note: 'course', expires_at: '2099-01-01T00:00:00.000Z', used_at: null, used_by: null };
    expect(invitations).toMatchObject([like, like]);
    for (const code of codes) expect(JSON.stringify(invitations)).not.toContain(code);
    await expect(switchboard('invitation', 'create', '--count', '1001')).resolves.toMatchObject({ code: 1 });
  });
});

describe('an invited account', () => {
  const environment = { ...process.env };
  let relay: RelayApp;
  let mailbox: Mailbox;
  let dataDir: string;

  beforeAll(async () => {
    dataDir = temporaryDataDir();
    mailbox = await Mailbox.open();
    const shared = { SMTP_URL: mailbox.url, PUBLIC_URL: 'http://relay.test', DATA_DIR: dataDir, STARTING_CREDIT: '5' };
    relay = await RelayApp.start({}, shared);
    Object.assign(process.env, { ...shared, DATABASE_URL: relay.databaseUrl, SECRET_KEY });
  });
  afterAll(async () => {
    process.env = { ...environment };
    await relay.close();
    await mailbox.close();
    removeDataDir(dataDir);
  });

  it('has its password chosen by the link in its mail, which also shows that the address is theirs', async () => {
    const people = join(dataDir, 'people.csv');
    writeFileSync(people, 'email,credit\nann@example.com,2\n');
    expect(await switchboard('account', 'import', people, '--invite')).toMatchObject({ code: 0, stderr: '' });
    const browser = new PageVisitor(relay.url);
    expect((await browser.signIn('ann@example.com', PASSWORD)).status).toBe(422);
    const link = linkIn(await mailbox.latestTo('ann@example.com'));
    expect(link).toMatch(/^http:\/\/relay\.test\/reset\?t=/);
    expect((await browser.get(link.replace('http://relay.test', ''))).text).toContain('ann@example.com');
    const t = new URL(link).searchParams.get('t') ?? '';
    expect((await browser.post('/reset', { t, password: PASSWORD })).location).toBe('/sign-in');
    expect((await browser.signIn('ann@example.com', PASSWORD)).location).toBe('/');
    expect((await browser.get('/account')).status).toBe(200);
    const { accounts } = await json('account', 'list');
    expect(accounts).toMatchObject([{ email: 'ann@example.com', balance_usd: '7' }]);
  });

  it('is created even if its mail could not be sent, which the command reports', async () => {
    const people = join(dataDir, 'more.csv');
    writeFileSync(people, 'email\nbob@example.com\ncy@example.com\n');
    mailbox.refusals.push(550);
    const imported = await switchboard('account', 'import', people, '--invite');
    expect(imported.code).toBe(1);
    expect(imported.stderr).toMatch(
      /^bob@example\.com could not be invited: .*\nerror: All accounts were created, but 1 could not be invited\.\n$/s,
    );
    await mailbox.latestTo('cy@example.com');
  });
});
