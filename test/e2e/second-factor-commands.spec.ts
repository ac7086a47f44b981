import { Logger } from '@nestjs/common';
import { jest } from '@jest/globals';
import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { PASSWORD, useAccountPages } from '../support/account-pages.js';
import { type SetUp, turnOnSecondFactor } from '../support/authenticator.js';
import { BackupWorld, OLD_SECRET_KEY } from '../support/backups.js';
import type { Outcome } from '../support/command-line.js';
import { PageVisitor, type PageResponse } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

const OTHER_SECRET_KEY = 'quite another secret'.padEnd(32, '.');

describe('a second factor that its owner cannot use any more', () => {
  const pages = useAccountPages();
  const world = new BackupWorld();
  afterEach(() => world.clear());
  afterAll(() => world.remove());

  const owner = async (): Promise<SetUp & { readonly email: string }> => {
    const email = await pages.account();
    return { email, ...(await turnOnSecondFactor(await pages.signedIn(email))) };
  };
  const remove = (email: string, { secretKey = OLD_SECRET_KEY, options = [] as string[] } = {}): Promise<Outcome> => {
    const [DATABASE_URL, SMTP_URL] = [pages.relay.databaseUrl, pages.mailbox.url];
    const variables = { DATABASE_URL, SMTP_URL, SECRET_KEY: secretKey };
    return world.command(variables, 'account', 'second-factor', 'remove', '--email', email, ...options);
  };

  it('is removed by the command line, which is audited and notifies the owner by mail', async () => {
    const { email } = await owner();
    expect(await remove(email)).toEqual({
      code: 0,
      stdout: `two-factor authentication for ${email} is turned off\n`,
      stderr: '',
    });
    const mail = await pages.mailbox.latestTo(email, 2);
    expect(mail.message.text).toContain(
      'An administrator of Switchboard turned off two-factor authentication for your account.',
    );
    expect((await pages.visitor().signIn(email, PASSWORD)).location).toBe('/');
    const { id } = await pages.relay.get(AccountService).get(email);
    await expect(
      pages.relay
        .get(DataSource)
        .query('SELECT actor_kind, lines FROM audit_entries WHERE object_id = $1 ORDER BY id DESC LIMIT 1', [id]),
    ).resolves.toEqual([{ actor_kind: 'command-line', lines: ['second factor on → removed'] }]);
  });

  it('is not removed twice, nor of an account that is not there: the command line says so', async () => {
    const { email } = await owner();
    const removed = await remove(email, { options: ['--json'] });
    expect(JSON.parse(removed.stdout)).toEqual({ email, second_factor: 'removed' });
    const [again, ofNobody] = [await remove(email), await remove('nobody@example.com')];
    expect(again).toEqual({
      code: 1,
      stdout: '',
      stderr: 'error: Two-factor authentication is off for this account.\n',
    });
    expect(ofNobody).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining('nobody@example.com') });
  });

  describe('because SECRET_KEY differs than it was sealed under', () => {
    let other: RelayApp;
    beforeAll(async () => {
      const DATABASE_URL = pages.relay.databaseUrl;
      other = await RelayApp.startEmpty({}, { DATABASE_URL, SECRET_KEY: OTHER_SECRET_KEY });
    });
    afterAll(() => other.close());
    afterEach(() => jest.restoreAllMocks());

    /** At the question for a code. */
    const halfIn = async (email: string): Promise<PageVisitor> => {
      const browser = new PageVisitor(other.url);
      expect((await browser.signIn(email, PASSWORD)).location).toBe('/sign-in/code');
      await browser.get('/sign-in/code');
      return browser;
    };
    const expectUnreadable = ({ status, text }: PageResponse): void => {
      expect(status).toBe(422);
      expect(text).toMatch(/id="code-error".*?<span>App codes cannot be verified\. Enter a recovery code/);
    };

    it('is refused with the reason and what to do, which the operator reads in the log', async () => {
      const { email, app } = await owner();
      const { id } = await pages.relay.get(AccountService).get(email);
      const warned = jest.spyOn(Logger.prototype, 'warn').mockReturnValue();
      expectUnreadable(await (await halfIn(email)).post('/sign-in/code', { code: app.next() }));
      expect(warned.mock.calls.map(String)).toEqual([
        `Cannot decrypt the two-factor secret of ${id}: SECRET_KEY has changed. Turn it off with "switchboard account second-factor remove"`,
      ]);
    });

    it('lets its owner in with a recovery code, and turn it off with another', async () => {
      const { email, app, recoveryCodes } = await owner();
      const [first = '', second = ''] = recoveryCodes;
      const browser = await halfIn(email);
      expect((await browser.post('/sign-in/code', { code: first })).location).toBe('/');
      const off = (code: string) => browser.submit('/account/second-factor/off', { currentPassword: PASSWORD, code });
      expectUnreadable(await off(app.next()));
      expect((await off(second)).location).toBe('/account#signing-in');
      await turnOnSecondFactor(browser);
      expect((await browser.get('/account')).text).toContain('10 recovery codes left');
    });

    it('is removed by the command line all the same', async () => {
      const { email } = await owner();
      await halfIn(email);
      expect(await remove(email, { secretKey: OTHER_SECRET_KEY })).toMatchObject({ code: 0, stderr: '' });
      expect((await new PageVisitor(other.url).signIn(email, PASSWORD)).location).toBe('/');
    });
  });
});
