import { readdirSync, readFileSync } from 'node:fs';
import { eventually } from '../support/eventually.js';
import { removeDataDir, temporaryDataDir } from '../support/temporary-data-dir.js';
import { AccountService } from '../../src/auth/index.js';
import { Invitations } from '../../src/keys/onboarding/index.js';
import { codeIn, Mailbox } from '../support/mailbox.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';

describe('signing up', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;

  const start = async (environment: Record<string, string>): Promise<void> => {
    relay = await RelayApp.start({}, { SMTP_URL: mailbox.url, ...environment });
  };
  beforeEach(async () => {
    mailbox = await Mailbox.open();
  });
  afterEach(async () => {
    await relay.close();
    await mailbox.close();
  });

  const register = (browser: PageVisitor, email: string, more: Record<string, string> = {}): Promise<PageResponse> =>
    browser.submit('/register', { name: 'Ann', email, password: PASSWORD, ...more });

  it('is not possible when registration is closed, and the page says whom to ask', async () => {
    await start({ SIGN_UP: 'closed', SUPPORT_CONTACT: 'help@example.org' });
    const browser = new PageVisitor(relay.url);
    const page = await browser.get('/register');
    expect(page.text).toContain('mailto:help@example.org');
    expect(page.text).not.toContain('name="password"');
    await browser.get('/sign-in');
    expect(
      (await browser.post('/register', { name: 'Ann', email: 'ann@example.com', password: PASSWORD })).status,
    ).toBe(403);
    await expect(relay.get(AccountService).any()).resolves.toBe(false);
  });

  it('is done with addresses of the domains that are let in, and of none below them', async () => {
    await start({ SIGN_UP_DOMAINS: 'Example.com,example.org' });
    const browser = new PageVisitor(relay.url);
    for (const email of ['ann@evil.example', 'ann@sub.example.com', 'ann@notexample.com']) {
      const refused = await register(browser, email);
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Enter an address that ends in @example.com or @example.org.');
    }
    expect((await register(browser, 'ann@EXAMPLE.com')).location).toBe('/verify');
  });

  it('takes an invitation where it is asked for, which is used up by the account that was made with it', async () => {
    await start({ SIGN_UP: 'invite' });
    const [code = '', expiring = ''] = await relay.get(Invitations).create({ count: 2 });
    const [first, second, third] = [new PageVisitor(relay.url), new PageVisitor(relay.url), new PageVisitor(relay.url)];
    expect((await register(first, 'ann@example.com')).text).toContain('Enter your invitation code.');
    expect((await register(first, 'ann@example.com', { invitation: 'nonsense' })).text).toContain(
      'this one is unknown',
    );
    const typed = code.toLowerCase().replaceAll('-', ' ');
    expect((await register(first, 'ann@example.com', { invitation: typed })).location).toBe('/verify');
    expect((await register(second, 'bob@example.com', { invitation: code })).location).toBe('/verify');
    const codes = [
      codeIn(await mailbox.latestTo('ann@example.com')),
      codeIn(await mailbox.latestTo('bob@example.com')),
    ];
    expect((await first.submit('/verify', { code: codes[0] ?? '' })).location).toBe('/');
    const late = await second.submit('/verify', { code: codes[1] ?? '' });
    expect(late.status).toBe(422);
    expect(late.text).toContain('This invitation was already used or has expired');
    await expect(relay.get(AccountService).find('bob@example.com')).resolves.toBeUndefined();
    expect((await register(third, 'cy@example.com', { invitation: code })).text).toContain(
      'already used or has expired',
    );
    expect((await register(third, 'cy@example.com', { invitation: expiring })).location).toBe('/verify');
    const used = (await relay.get(Invitations).list()).map(({ usedBy }) => usedBy);
    expect(new Set(used)).toEqual(new Set(['ann@example.com', null]));
  });

  it('writes its mail to the outbox where no server is set', async () => {
    const dataDir = temporaryDataDir();
    await start({ SMTP_URL: '', DATA_DIR: dataDir });
    const browser = new PageVisitor(relay.url);
    await register(browser, 'ann@example.com');
    const [name = ''] = await eventually(() => {
      const names = readdirSync(`${dataDir}/outbox`).filter((file) => file.endsWith('.eml'));
      expect(names).toHaveLength(1);
      return names;
    });
    const code = /\b(\d{3}) (\d{3})\b/.exec(readFileSync(`${dataDir}/outbox/${name}`, 'utf8'));
    expect((await browser.submit('/verify', { code: `${code?.[1]}${code?.[2]}` })).location).toBe('/');
    removeDataDir(dataDir);
  });
});
