import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import { OTHER_PASSWORD, PASSWORD, path, PUBLIC_URL, useAccountPages } from '../support/account-pages.js';
import { Authenticator, recoveryCodesIn, sealedIn, type SetUp, turnOnSecondFactor } from '../support/authenticator.js';
import { linkIn } from '../support/mailbox.js';
import type { PageVisitor } from '../support/page-visitor.js';

describe('a second factor', () => {
  const pages = useAccountPages();
  const { visitor, account, signedIn, isSignedIn } = pages;

  interface Owner extends SetUp {
    readonly email: string;
    readonly browser: PageVisitor;
  }

  /** Somebody who has turned it on. */
  const owner = async (): Promise<Owner> => {
    const email = await account();
    const browser = await signedIn(email);
    return { email, browser, ...(await turnOnSecondFactor(browser)) };
  };
  /** A browser whose password was right. */
  const halfIn = async (email: string, fields: Readonly<Record<string, string>> = {}): Promise<PageVisitor> => {
    const browser = visitor();
    await browser.get('/sign-in');
    const response = await browser.post('/sign-in', { email, password: PASSWORD, ...fields });
    expect(response).toMatchObject({ status: 303, location: '/sign-in/code' });
    await browser.get('/sign-in/code');
    return browser;
  };
  const enter = (browser: PageVisitor, code: string) => browser.post('/sign-in/code', { code });
  const sql = <T>(text: string, email: string): Promise<T[]> => pages.relay.get(DataSource).query<T[]>(text, [email]);

  describe('is turned on', () => {
    it('by a first code of the app, with ten recovery codes that are shown once', async () => {
      const email = await account();
      const browser = await signedIn(email);
      expect((await browser.get('/account')).text).toContain('href="/account/second-factor">Turn on');
      await browser.get('/account/second-factor');
      const shown = await browser.post('/account/second-factor');
      expect(shown.text).toMatch(/<svg class="qr"/);
      expect(shown.headers.get('cache-control')).toBe('no-store');
      const app = Authenticator.reading(shown);
      const sealed = sealedIn(shown);

      const wrong = await browser.post('/account/second-factor/on', { sealed, code: '12345' });
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain('Invalid code.');
      expect(wrong.headers.get('cache-control')).toBe('no-store');
      expect(Authenticator.reading(wrong).at(0)).toBe(app.at(0));

      const on = await browser.post('/account/second-factor/on', { sealed, code: app.next() });
      expect(on.status).toBe(200);
      expect(on.headers.get('cache-control')).toBe('no-store');
      expect(recoveryCodesIn(on)).toHaveLength(10);
      expect((await browser.get('/account')).text).toContain('10 recovery codes left');
      expect(recoveryCodesIn(await browser.get('/account'))).toEqual([]);
      const mail = await pages.mailbox.latestTo(email);
      expect(mail.message.subject).toBe('Two-factor authentication was turned on for Switchboard');

      const again = await browser.post('/account/second-factor/on', { sealed, code: app.next() });
      expect(again.location).toBe('/account#signing-in');
    });

    it('with the codes as a file on request', async () => {
      const { browser, recoveryCodes } = await owner();
      const file = await browser.post('/account/second-factor/recovery-codes/file', {
        codes: `${recoveryCodes.join('\r\n')}\r\n<script>`,
      });
      expect(file.headers.get('content-disposition')).toBe('attachment; filename="recovery-codes.txt"');
      expect(file.headers.get('cache-control')).toBe('no-store');
      expect(recoveryCodesIn(file)).toEqual(recoveryCodes);
      expect(file.text).not.toContain('script');
    });

    it('only after the password, where the sign-in is not recent, and in the session that began', async () => {
      const email = await account();
      const [browser, other] = [await signedIn(email), await signedIn(email)];
      const stale = `UPDATE sessions SET confirmed_at = now() - interval '16 minutes' FROM accounts a
                      WHERE a.id = account_id AND a.email = $1`;
      await sql(stale, email);
      await browser.get('/account/second-factor');
      const refused = await browser.post('/account/second-factor', { password: '' });
      expect(refused.status).toBe(422);
      expect(refused.text).not.toContain('<svg class="qr"');
      const shown = await browser.post('/account/second-factor', { password: PASSWORD });
      const app = Authenticator.reading(shown);
      await other.get('/account');
      const stolen = await other.post('/account/second-factor/on', { sealed: sealedIn(shown), code: app.at(0) });
      expect(stolen.location).toBe('/account/second-factor');
      expect((await browser.get('/account')).text).toContain('href="/account/second-factor">Turn on');
    });

    it('and signs out all other browsers', async () => {
      const email = await account();
      const [browser, other] = [await signedIn(email), await signedIn(email)];
      await turnOnSecondFactor(browser);
      await expect(isSignedIn(other)).resolves.toBe(false);
      await expect(isSignedIn(browser)).resolves.toBe(true);
    });

    it('and nothing of it is in the database in clear', async () => {
      const { email, app, recoveryCodes } = await owner();
      const rows = await sql<object>(
        `SELECT f.*, r.* FROM second_factors f JOIN recovery_codes r USING (account_id)
           JOIN accounts a ON a.id = f.account_id WHERE a.email = $1`,
        email,
      );
      const stored = JSON.stringify(rows);
      expect(rows).toHaveLength(10);
      expect(stored).not.toContain(app.secret);
      for (const code of recoveryCodes) {
        expect(stored).not.toContain(code);
        expect(stored).not.toContain(code.replaceAll('-', ''));
      }
    });
  });

  describe('is asked for at the sign-in', () => {
    it('after the password, which opens nothing by itself', async () => {
      const { email, app } = await owner();
      const browser = await halfIn(email, { next: '/keys?q=x' });
      await expect(isSignedIn(browser)).resolves.toBe(false);
      await browser.get('/sign-in/code');
      const wrong = await enter(browser, '000000');
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain('Invalid code.');
      const right = await enter(browser, app.next());
      expect(right).toMatchObject({ status: 303, location: '/keys?q=x' });
      expect(right.headers.getSetCookie().at(-1)).not.toContain('Max-Age');
      await expect(isSignedIn(browser)).resolves.toBe(true);
    });

    it('and the browser stays signed in where that was asked for', async () => {
      const { email, app } = await owner();
      const right = await enter(await halfIn(email, { remember: 'yes' }), app.next());
      expect(right.headers.getSetCookie().join()).toContain('Max-Age=2592000');
    });

    it('only in the browser whose password was right, with a new token', async () => {
      const { email, app } = await owner();
      const browser = visitor();
      await browser.get('/sign-in');
      const before = new Map(browser.cookies);
      await browser.post('/sign-in', { email, password: PASSWORD });
      expect(browser.cookies.get('switchboard-visit')).not.toBe(before.get('switchboard-visit'));
      const otherUser = visitor();
      for (const [name, value] of before) otherUser.cookies.set(name, value);
      expect((await otherUser.get('/sign-in/code')).location).toBe('/sign-in');
      await otherUser.get('/sign-in');
      expect((await enter(otherUser, app.at(0))).location).toBe('/sign-in');
    });

    it('with the same response for a wrong code, one that was used, and one of another time', async () => {
      const { email, app, recoveryCodes } = await owner();
      const used = app.next();
      const first = await halfIn(email);
      expect((await enter(first, used)).location).toBe('/');
      const [recovery = ''] = recoveryCodes;
      const second = await halfIn(email);
      expect((await enter(second, recovery)).location).toBe('/');
      const seen = [];
      for (const code of ['000000', used, recovery]) {
        const { status, text } = await enter(await halfIn(email), code);
        expect(text).toContain('Invalid code.');
        seen.push({ status, text: text.replaceAll(/value="[^"]*"/g, 'value') });
      }
      expect(seen[1]).toEqual(seen[0]);
      expect(seen[2]).toEqual(seen[0]);
    });

    it('and a recovery code is accepted once, which notifies the owner by mail', async () => {
      const { email, recoveryCodes } = await owner();
      const [recovery = ''] = recoveryCodes;
      const browser = await halfIn(email);
      expect((await browser.get('/sign-in/code')).text).toContain('href="/sign-in/code?with=recovery"');
      expect((await browser.get('/sign-in/code?with=recovery')).text).toContain('Recovery code</label>');
      expect((await enter(browser, recovery.toLowerCase().replaceAll('-', ' '))).location).toBe('/');
      const reported = (await browser.get('/')).text;
      expect(reported).toContain('You have 9 recovery codes left.');
      expect(reported).toContain('<a href="/account/second-factor/recovery-codes">Create new recovery codes</a>');
      const mail = await pages.mailbox.latestTo(email, 2);
      expect(mail.message.subject).toBe('A recovery code of your Switchboard account was used');
      expect(mail.message.text).toContain('You have 9 recovery codes left.');
      expect(mail.message.text).toContain(
        `Create new recovery codes: ${PUBLIC_URL}/account/second-factor/recovery-codes`,
      );
      expect(mail.message.html).toContain(`href="${PUBLIC_URL}/account/second-factor/recovery-codes"`);
      expect(mail.message.text).not.toContain(recovery);
      expect((await enter(await halfIn(email), recovery)).status).toBe(422);
    });

    it('for ten minutes', async () => {
      const { email, app } = await owner();
      const browser = await halfIn(email);
      await sql(
        `UPDATE pending_sign_ins p SET expires_at = now() - interval '1 second'
           FROM accounts a WHERE a.id = p.account_id AND a.email = $1`,
        email,
      );
      expect((await enter(browser, app.next())).location).toBe('/sign-in');
      await expect(isSignedIn(browser)).resolves.toBe(false);
    });

    it('so often and no more, in whatever browser and from whatever network', async () => {
      const { email, app } = await owner();
      for (let tries = 0; tries < 5; tries++) expect((await enter(await halfIn(email), '000000')).status).toBe(422);
      const refused = await enter(await halfIn(email), app.next());
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.text).toContain('Too many attempts.');
    });

    it('also after a new password by mail, which ends what waits for a code', async () => {
      const { email, app } = await owner();
      const waiting = await halfIn(email);
      const browser = visitor();
      await browser.submit('/forgot', { email });
      const link = path(linkIn(await pages.mailbox.latestTo(email, 2)));
      await browser.get(link);
      const t = new URL(link, 'http://relay.test').searchParams.get('t') ?? '';
      expect((await browser.post('/reset', { t, password: OTHER_PASSWORD })).location).toBe('/sign-in');
      expect((await enter(waiting, app.at(0))).location).toBe('/sign-in');
      await expect(isSignedIn(waiting)).resolves.toBe(false);
      await browser.get('/sign-in');
      expect((await browser.post('/sign-in', { email, password: OTHER_PASSWORD })).location).toBe('/sign-in/code');
      await browser.get('/sign-in/code');
      expect((await enter(browser, app.next())).location).toBe('/');
    });
  });

  describe('is turned off', () => {
    it('with the password and a code, which also renew the recovery codes', async () => {
      const { email, browser, app, recoveryCodes } = await owner();
      const there = '/account/second-factor/recovery-codes';
      const refusals = [
        { currentPassword: OTHER_PASSWORD, code: app.at(0) },
        { currentPassword: PASSWORD, code: '000000' },
      ];
      for (const given of refusals)
        for (const at of [there, '/account/second-factor/off'])
          expect(await browser.submit(at, given)).toMatchObject({ status: 422 });
      const renewed = await browser.submit(there, { currentPassword: PASSWORD, code: app.next() });
      const others = recoveryCodesIn(renewed);
      expect(others).toHaveLength(10);
      expect((await enter(await halfIn(email), recoveryCodes[0] ?? '')).status).toBe(422);

      const [recovery = ''] = others;
      const off = await browser.submit('/account/second-factor/off', { currentPassword: PASSWORD, code: recovery });
      expect(off.location).toBe('/account#signing-in');
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
      await pages.mailbox.latestTo(email, 4);
      const subjects = pages.mailbox.mails.filter(({ to }) => to.includes(email)).map(({ message }) => message.subject);
      expect(new Set(subjects)).toEqual(
        new Set([
          'A recovery code of your Switchboard account was used',
          'Two-factor authentication was turned on for Switchboard',
          'Your Switchboard account has new recovery codes',
          'Two-factor authentication was turned off for Switchboard',
        ]),
      );
      const { id } = await pages.relay.get(AccountService).get(email);
      await expect(sql('SELECT FROM recovery_codes WHERE account_id = $1', id)).resolves.toEqual([]);
    });

    it.each(['recovery-codes', 'off'])('and %s signs out all other browsers', async (page) => {
      const { email, browser, recoveryCodes, app } = await owner();
      const other = await halfIn(email);
      await enter(other, app.next());
      const given = { currentPassword: PASSWORD, code: recoveryCodes[0] ?? '' };
      await browser.submit(`/account/second-factor/${page}`, given);
      await expect(isSignedIn(other)).resolves.toBe(false);
      await expect(isSignedIn(browser)).resolves.toBe(true);
    });

    it('not after too many attempts, with an error at the field', async () => {
      const { browser, app } = await owner();
      const given = (code: string) => browser.submit('/account/second-factor/off', { currentPassword: PASSWORD, code });
      for (let tries = 0; tries < 5; tries++) expect((await given('000000')).text).toContain('Invalid code.');
      const refused = await given(app.next());
      expect(refused.status).toBe(422);
      expect(refused.text).toMatch(/id="code-error".*?<span>Too many attempts\./);
      expect((await browser.get('/account')).text).toContain('10 recovery codes left');
    });
  });
});
