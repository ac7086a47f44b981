import { DataSource } from 'typeorm';
import { AccountService, AccountStatus } from '../../src/auth/index.js';
import { ApiKeyService, type CreatedApiKey } from '../../src/keys/index.js';
import { newId, parseUsd, nanos } from '../../src/platform/shared/index.js';
import { CallPartitions } from '../../src/usage/index.js';
import { LedgerCheck, WalletService } from '../../src/wallet/index.js';
import { OTHER_PASSWORD, PASSWORD, useAccountPages } from '../support/account-pages.js';
import { turnOnSecondFactor } from '../support/authenticator.js';
import { aCallRow } from '../support/call-rows.js';
import { eventually } from '../support/eventually.js';

type Owner = { readonly id: string; readonly key: CreatedApiKey };
const DAY_MS = 24 * 60 * 60 * 1000;

describe('own data', () => {
  const pages = useAccountPages();
  const { account, signedIn, isSignedIn, visitor } = pages;
  const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> => pages.relay.get(DataSource).query(text, values);

  const owner = async () => {
    const email = await account();
    const { id } = await pages.relay.get(AccountService).get(email);
    const key = await pages.relay.get(ApiKeyService).create({ accountId: id, name: 'laptop' });
    return { email, id, key, browser: await signedIn(email) };
  };
  /** Writes a free call of that time; gives its ID. */
  const call = async ({ id: accountId, key }: Pick<Owner, 'id' | 'key'>, timeMs: number): Promise<string> => {
    const id = newId('req', timeMs);
    await aCallRow(pages.relay.get(DataSource), { id, accountId, keyId: key.id, cost: nanos(0n) });
    return id;
  };
  const statusOf = async (secret: string): Promise<number> =>
    (await fetch(`${pages.relay.url}/v1/models`, { headers: { authorization: `Bearer ${secret}` } })).status;

  describe('downloads', () => {
    it('have profile, sessions, balance and all keys, but no secret', async () => {
      const { email, id, key, browser } = await owner();
      const keys = pages.relay.get(ApiKeyService);
      await keys.delete((await keys.create({ accountId: id, name: 'old' })).id);
      for (let index = 0; index < 60; index++) await keys.create({ accountId: id, name: `key ${index}` });
      await pages.relay.get(WalletService).credit(id, parseUsd('7.5'), 'test');

      const page = await browser.get('/account');
      expect(page.text).toContain('href="/account/data/account.json"');
      const { headers, text } = await browser.get('/account/data/account.json');
      expect(headers.get('content-disposition')).toBe('attachment; filename="account.json"');
      expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(headers.get('cache-control')).toBe('no-store');
      const data = JSON.parse(text) as { keys: { name: string; state: string; hint: string }[] };
      expect(data).toMatchObject({
        account: { id, email, name: 'Ann', role: 'user', two_factor: null, sessions: [{ user_agent: 'node' }] },
        wallet: { balance_usd: '7.5', owed_usd: '0' },
      });
      expect(data.keys).toHaveLength(62);
      expect(data.keys.at(-1)).toMatchObject({ name: 'old', state: 'deleted' });
      expect(data.keys).toContainEqual(expect.objectContaining({ name: 'laptop', hint: key.hint, quota_usd: null }));
      expect(text).not.toContain(key.secret.reveal());
      expect(text).not.toContain('argon2');
    });

    it('are valid without keys', async () => {
      const email = await account();
      const { text } = await (await signedIn(email)).get('/account/data/account.json');
      expect(JSON.parse(text)).toMatchObject({ account: { email }, keys: [] });
    });

    it('have the calls of the account from the beginning, and of no other account', async () => {
      const [ann, bob] = [await owner(), await owner()];
      await pages.relay.get(CallPartitions).cover(new Date(Date.now() - 40 * DAY_MS).toISOString());
      const old = await call(ann, Date.now() - 40 * DAY_MS);
      const recent = await call(ann, Date.now() - 1000);
      await call(bob, Date.now() - 1000);
      const { headers, text } = await ann.browser.get('/account/data/calls.csv');
      expect(headers.get('content-disposition')).toBe('attachment; filename="calls.csv"');
      expect(text.match(/req_\w+/g)).toEqual([old, recent]);
    });
  });

  describe('closing the account', () => {
    const close = async (browser: ReturnType<typeof visitor>, fields: Readonly<Record<string, string>>) =>
      browser.submit('/account/close', { email: '', code: '', ...fields });

    it('ends sessions and keys and erases the owner, and keeps ledger and calls', async () => {
      const { email, id, key, browser } = await owner();
      const other = await signedIn(email);
      const secret = key.secret.reveal();
      await pages.relay.get(WalletService).credit(id, parseUsd('7.5'), 'test');
      await call({ id, key }, Date.now() - 1000);
      const calls = await sql('SELECT * FROM calls WHERE account_id = $1', id);
      expect(await statusOf(secret)).toBe(200);

      expect((await browser.get('/account/close')).text).toMatch(/<b>\$7\.50<\/b> is forfeited/);
      const refused = await close(browser, { currentPassword: OTHER_PASSWORD });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('Enter your current password.');
      await expect(isSignedIn(other)).resolves.toBe(true);

      const closed = await close(browser, { currentPassword: PASSWORD });
      expect(closed).toMatchObject({ status: 303, location: '/sign-in' });
      expect((await browser.follow(closed)).text).toContain('Account closed');
      for (const one of [browser, other]) await expect(isSignedIn(one)).resolves.toBe(false);
      await eventually(async () => expect(await statusOf(secret)).toBe(401), 1000);
      expect((await visitor().signIn(email, PASSWORD)).status).toBe(422);

      await expect(pages.relay.get(AccountService).byId(id)).resolves.toMatchObject({
        email: `${id}@deleted.invalid`,
        name: '',
        state: 'deleted',
      });
      for (const table of ['accounts', 'verifications', 'sessions'])
        expect(await sql(`SELECT 1 FROM ${table} t WHERE t::text LIKE '%' || $1 || '%'`, email)).toEqual([]);
      expect(await sql('SELECT 1 FROM audit_entries WHERE object_id = $1', id)).toEqual([]);
      expect(await sql('SELECT * FROM calls WHERE account_id = $1', id)).toEqual(calls);
      const reasons = await sql(
        `SELECT e.reason, l.amount FROM ledger_entries e JOIN ledger_lines l ON l.entry_id = e.id
          WHERE l.ledger_account = 'wallet:' || $1 ORDER BY e.id`,
        id,
      );
      expect(reasons.at(-1)).toEqual({ reason: 'Account closed by its owner', amount: '-7500000000' });
      await expect(pages.relay.get(LedgerCheck).run()).resolves.toMatchObject({ exact: true });
      const mail = await pages.mailbox.latestTo(email);
      expect(mail.message.subject).toBe('Your Switchboard account was closed');
      await account(true, email);
      await expect(signedIn(email)).resolves.toBeDefined();
    });

    it('requires a code where two-factor authentication is on', async () => {
      const { id, browser } = await owner();
      const { app } = await turnOnSecondFactor(browser);
      expect((await browser.get('/account/close')).text).toContain('Code from the app');
      for (const code of ['', '000000']) {
        const refused = await close(browser, { currentPassword: PASSWORD, code });
        expect(refused.status).toBe(422);
        expect(refused.text).toContain('Invalid code.');
      }
      expect((await close(browser, { currentPassword: PASSWORD, code: app.next() })).location).toBe('/sign-in');
      await expect(pages.relay.get(AccountService).byId(id)).resolves.toMatchObject({ state: 'deleted' });
    });

    it('waits for running calls', async () => {
      const { id, browser } = await owner();
      await sql('UPDATE wallets SET holds = 2 WHERE account_id = $1', id);
      const refused = await close(browser, { currentPassword: PASSWORD });
      expect(refused.status).toBe(409);
      expect(refused.text).toContain('2 calls still running');
      await expect(isSignedIn(browser)).resolves.toBe(true);
      await sql('UPDATE wallets SET holds = 0 WHERE account_id = $1', id);
      expect((await close(browser, { currentPassword: PASSWORD })).location).toBe('/sign-in');
    });

    it('is not possible for the last administrator', async () => {
      const { id, browser } = await owner();
      const { email, id: otherId } = await owner();
      const status = pages.relay.get(AccountStatus);
      await sql(`UPDATE accounts SET role = 'user' WHERE role = 'admin'`);
      await status.setRole(id, 'admin');
      const page = await browser.get('/account/close');
      expect(page.text).toContain('You are the last administrator');
      expect(page.text).not.toContain('name="currentPassword"');
      const refused = await browser.post('/account/close', { currentPassword: PASSWORD, code: '' });
      expect(refused.status).toBe(409);
      await expect(isSignedIn(browser)).resolves.toBe(true);
      await status.setRole(otherId, 'admin');
      expect((await close(browser, { currentPassword: PASSWORD })).location).toBe('/sign-in');
      await expect(isSignedIn(await signedIn(email))).resolves.toBe(true);
    });
  });
});
