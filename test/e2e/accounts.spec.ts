import { AccountService, SessionService } from '../../src/auth/index.js';
import { DataSource } from 'typeorm';
import { aNumber, anAddress, PASSWORD, path, PUBLIC_URL, tokenIn, useAccountPages } from '../support/account-pages.js';
import { codeIn, linkIn, type Mailbox } from '../support/mailbox.js';
import type { PageVisitor } from '../support/page-visitor.js';
import type { RelayApp } from '../support/relay-app.js';

describe('accounts', () => {
  const pages = useAccountPages();
  const { visitor, account, signedIn, isSignedIn } = pages;
  let relay: RelayApp;
  let mailbox: Mailbox;
  beforeAll(() => {
    ({ relay, mailbox } = pages);
  });

  const registered = async (email: string, browser = visitor()): Promise<PageVisitor> => {
    const response = await browser.submit('/register', { name: 'Ann', email, password: PASSWORD });
    expect({ status: response.status, location: response.location }).toEqual({ status: 303, location: '/verify' });
    return browser;
  };

  describe('begin with a registration', () => {
    it('that becomes an account with its starting credit once the code from the mail was entered', async () => {
      const email = anAddress();
      const browser = await registered(email);
      expect((await browser.get('/verify')).text).toContain(`<b>${email}</b>`);
      await expect(relay.get(AccountService).find(email)).resolves.toBeUndefined();
      const code = codeIn(await mailbox.latestTo(email));
      const confirmed = await browser.submit('/verify', { code: `${code.slice(0, 3)} ${code.slice(3)}` });
      expect({ status: confirmed.status, location: confirmed.location }).toEqual({ status: 303, location: '/' });
      const { id: accountId, verifiedAt } = await relay.get(AccountService).get(email);
      expect(verifiedAt).toBeDefined();
      await expect(relay.wallet({ accountId, email, key: '', keyId: '' })).resolves.toMatchObject({ balance: '5' });
      await expect(isSignedIn(browser)).resolves.toBe(true);
      await expect(relay.ledger()).resolves.toMatchObject({ exact: true });
    });

    it('or by the link, which asks for a click, and signs in only the browser that registered', async () => {
      const email = anAddress();
      await registered(email);
      const link = path(linkIn(await mailbox.latestTo(email)));
      const elsewhere = visitor();
      for (const _ of [1, 2]) expect((await elsewhere.get(link)).text).toContain('Confirm address');
      await expect(relay.get(AccountService).find(email)).resolves.toBeUndefined();
      const t = new URL(link, PUBLIC_URL).searchParams.get('t') ?? '';
      expect(await elsewhere.post('/verify/link', { t })).toMatchObject({ status: 303, location: '/sign-in' });
      await expect(isSignedIn(elsewhere)).resolves.toBe(false);
      expect((await elsewhere.get(link)).text).toContain('no longer valid');
      expect((await elsewhere.signIn(email, PASSWORD)).location).toBe('/');
    });

    it('which does nothing and starts no session when the address has an account, whatever code is entered', async () => {
      const email = await account();
      const browser = await registered(email);
      const mail = await mailbox.latestTo(email);
      expect(mail.message.subject).toBe('You already have a Switchboard account');
      expect(mail.message.text).not.toMatch(/\d{3} \d{3}|[?&]t=/);
      const tried = await browser.submit('/verify', { code: '123456' });
      expect(tried.status).toBe(422);
      expect(tried.text).toContain('Wrong code');
      await expect(isSignedIn(browser)).resolves.toBe(false);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
    });

    it.each([
      [{ name: ' ' }, 'Enter your name.'],
      [{ email: 'ann' }, 'Enter an address such as name@example.com.'],
      [{ password: 'short' }, 'Use at least 12 characters. A sentence works well.'],
      [{ password: 'password1234' }, 'harder to guess'],
    ])('and say what to enter instead of %j', async (wrong, message) => {
      const browser = visitor();
      const entered = { name: 'Ann', email: anAddress(), password: PASSWORD, ...wrong };
      const response = await browser.submit('/register', entered);
      expect(response.status).toBe(422);
      expect(response.text).toContain('<title>Error: Create account');
      expect(response.text).toContain(message);
      expect(response.text).not.toContain(entered.password);
    });

    it('of which five wrong codes end the first mail, and another one can be had after a minute', async () => {
      const email = anAddress();
      const browser = await registered(email);
      const code = codeIn(await mailbox.latestTo(email));
      const wrong = code === '111111' ? '222222' : '111111';
      for (let count = 0; count < 5; count++)
        expect((await browser.submit('/verify', { code: wrong })).text).toContain('Wrong code');
      expect((await browser.submit('/verify', { code })).text).toContain('Too many wrong codes');
      await browser.post('/verify/resend');
      expect((await browser.get('/verify')).text).toMatch(/You can request another one in \d+ s/);
      await relay
        .get(DataSource)
        .query(`UPDATE verifications SET sent_at = sent_at - interval '1 minute' WHERE email = $1`, [email]);
      await browser.post('/verify/resend');
      const second = codeIn(await mailbox.latestTo(email, 2));
      expect((await browser.submit('/verify', { code: second })).location).toBe('/');
    });
  });

  describe('whose address is not verified', () => {
    it('can verify it, have the code sent again, use another address, and see no other page', async () => {
      const email = await account(false);
      const browser = visitor();
      await browser.signIn(email, PASSWORD);
      for (const page of ['/account', '/account/email'])
        expect(await browser.get(page)).toMatchObject({ status: 303, location: '/verify' });
      expect((await browser.get('/verify')).text).toContain('Send code');
      await browser.post('/verify/resend');
      await mailbox.latestTo(email);
      const other = anAddress();
      expect((await browser.submit('/verify/address', { email: other })).location).toBe('/verify');
      const code = codeIn(await mailbox.latestTo(other));
      expect((await browser.submit('/verify', { code })).location).toBe('/');
      await expect(relay.get(AccountService).find(email)).resolves.toBeUndefined();
      const { id: accountId } = await relay.get(AccountService).get(other);
      await expect(relay.wallet({ accountId, email, key: '', keyId: '' })).resolves.toMatchObject({ balance: '5' });
      await expect(isSignedIn(browser)).resolves.toBe(true);
    });
  });

  describe('are given the starting credit once for a mailbox', () => {
    const confirmedBalance = async (email: string): Promise<string> => {
      const browser = await registered(email);
      const code = codeIn(await mailbox.latestTo(email));
      expect((await browser.submit('/verify', { code })).location).toBe('/');
      const { id: accountId } = await relay.get(AccountService).get(email);
      return (await relay.wallet({ accountId, email, key: '', keyId: '' })).balance;
    };

    it('not again for another spelling of it', async () => {
      const box = `dotty${aNumber()}`;
      expect(await confirmedBalance(`${box}@gmail.com`)).toBe('5');
      expect(await confirmedBalance(`${box.slice(0, 2)}.${box.slice(2)}@gmail.com`)).toBe('0');
      expect(await confirmedBalance(`${box}+two@googlemail.com`)).toBe('0');
      const plain = anAddress();
      expect(await confirmedBalance(plain.replace('@', '+shop@'))).toBe('5');
      expect(await confirmedBalance(plain)).toBe('0');
    });
  });

  describe('are signed in to', () => {
    it('with address and password, for 12 hours or 30 days, and out again', async () => {
      const email = await account();
      const { id } = await relay.get(AccountService).get(email);
      const browser = visitor();
      await browser.get('/sign-in');
      const brief = await browser.post('/sign-in', { email: email.toUpperCase(), password: PASSWORD });
      expect(brief.headers.getSetCookie().at(-1)).not.toContain('Max-Age');
      const [session] = await relay.get(SessionService).list(id);
      expect(session!.expiresAt.getTime() - session!.createdAt.getTime()).toBeCloseTo(12 * 3_600_000, -5);
      await browser.get('/account');
      expect(await browser.post('/sign-out')).toMatchObject({ status: 303, location: '/sign-in' });
      await expect(isSignedIn(browser)).resolves.toBe(false);
      const kept = await browser.submit('/sign-in', { email, password: PASSWORD, remember: 'yes' });
      expect(kept.headers.getSetCookie().at(-1)).toContain('Max-Age=2592000');
    });

    it('under a token that the browser did not have before, and ends the session that it had', async () => {
      const email = await account();
      const browser = visitor();
      await browser.get('/sign-in');
      const name = 'switchboard-visit';
      const planted = browser.cookies.get(name)!;
      await browser.post('/sign-in', { email, password: PASSWORD });
      const first = browser.cookies.get(name)!;
      expect(first).not.toBe(planted);
      const attacker = visitor();
      attacker.cookies.set(name, planted);
      await expect(isSignedIn(attacker)).resolves.toBe(false);
      await browser.get('/account');
      await browser.post('/sign-in', { email, password: PASSWORD });
      attacker.cookies.set(name, first);
      await expect(isSignedIn(attacker)).resolves.toBe(false);
      await expect(isSignedIn(browser)).resolves.toBe(true);
    });

    it('only from here: next leads nowhere else', async () => {
      const email = await account();
      for (const [next, to] of [
        ['/wallet?a=1', '/wallet?a=1'],
        ['https://evil.example/', '/'],
        ['//evil.example/', '/'],
        ['/\\evil.example', '/'],
        ['javascript:alert(1)', '/'],
        ['/%0d%0aSet-Cookie:x=1', '/%0d%0aSet-Cookie:x=1'],
      ] as const) {
        const browser = visitor();
        await browser.get(`/sign-in?next=${encodeURIComponent(next)}`);
        const response = await browser.post('/sign-in', { email, password: PASSWORD, next });
        expect(response.location).toBe(to);
        expect(response.headers.get('set-cookie')).not.toContain('x=1');
        expect((await browser.get(`/sign-in?next=${encodeURIComponent(next)}`)).location).toBe(to);
      }
    });

    it('never without the form of a page that this browser was shown', async () => {
      const email = await account();
      const [browser, other] = [visitor(), visitor()];
      await browser.get('/sign-in');
      await other.get('/sign-in');
      const fields = { email, password: PASSWORD };
      expect((await browser.post('/sign-in', { ...fields, _csrf: '' })).status).toBe(403);
      expect((await browser.post('/sign-in', { ...fields, _csrf: `${browser.csrf.slice(0, -1)}x` })).status).toBe(403);
      expect((await browser.post('/sign-in', { ...fields, _csrf: other.csrf })).status).toBe(403);
      await browser.get('/sign-in');
      expect((await browser.post('/sign-in', fields, { 'sec-fetch-site': 'cross-site' })).status).toBe(403);
      await browser.get('/sign-in');
      expect((await browser.post('/sign-in', fields, { origin: 'https://evil.example' })).status).toBe(403);
      await expect(isSignedIn(browser)).resolves.toBe(false);
    });
  });

  describe('have a page of their own', () => {
    it('where name and time zone are changed', async () => {
      const browser = await signedIn(await account());
      expect(
        (await browser.submit('/account', { name: 'Ann <b>', timeZone: 'Europe/Berlin' }, '/account/profile')).location,
      ).toBe('/account');
      const { text } = await browser.get('/account');
      expect(text).toContain('Ann &lt;b&gt;');
      expect(text).toContain('<option value="Europe/Berlin" selected>');
      const wrong = await browser.post('/account/profile', { name: '', timeZone: 'Mars/Phobos' });
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain('Enter your name.');
      expect(wrong.text).toContain('Choose a time zone');
    });

    it('where fields that the form does not have are rejected', async () => {
      const browser = await signedIn(await account());
      const response = await browser.submit(
        '/account',
        { name: 'Ann', timeZone: 'UTC', role: 'admin' },
        '/account/profile',
      );
      expect(response.status).toBe(422);
    });

    it('that lists the sessions and ends one or all others, and never those of another account', async () => {
      const [email, theirs] = [await account(), await account()];
      const [first, second, third] = [await signedIn(email), await signedIn(email), await signedIn(email)];
      const otherUser = await signedIn(theirs);
      const idsIn = (text: string): string[] =>
        [...text.matchAll(/\/account\/sessions\/(ses_\w+)\/end/g)].map((match) => match[1] ?? '');
      const ids = idsIn((await first.get('/account')).text);
      expect(ids).toHaveLength(2);
      await otherUser.get('/account');
      for (const id of [...ids, 'ses_0', 'others%2Fend'])
        expect((await otherUser.post(`/account/sessions/${id}/end`)).status).toBe(404);
      await expect(isSignedIn(second)).resolves.toBe(true);
      await first.get('/account');
      expect((await first.post(`/account/sessions/${ids[0]}/end`)).location).toBe('/account');
      expect([await isSignedIn(second), await isSignedIn(third)].filter(Boolean)).toHaveLength(1);
      await first.get('/account');
      await first.post('/account/sessions/others/end');
      expect([
        await isSignedIn(second),
        await isSignedIn(third),
        await isSignedIn(first),
        await isSignedIn(otherUser),
      ]).toEqual([false, false, true, true]);
    });

    it('where a new address must be requested again when its link has expired: the link alone sends no new one', async () => {
      const [email, next] = [await account(), anAddress()];
      const browser = await signedIn(email);
      await browser.submit('/account/email', { email: next, currentPassword: PASSWORD });
      const link = path(linkIn(await mailbox.latestTo(next)));
      await relay.get(DataSource).query(`UPDATE verifications SET expires_at = now() WHERE email = $1`, [next]);
      const { text } = await browser.get(link);
      expect(text).toContain('This link has expired');
      expect(text).toContain('href="/account/email"');
      expect(text).not.toContain('/verify/link/renew');
      expect((await browser.post('/verify/link/renew', { t: tokenIn(link) })).text).toContain('no longer valid');
    });

    it('where the address is changed: the new one is verified by a code, and the old one is notified', async () => {
      const [email, next] = [await account(), anAddress()];
      const browser = await signedIn(email);
      const requested = await browser.submit('/account/email', { email: next, currentPassword: PASSWORD });
      expect(requested.location).toBe('/account/email');
      const code = codeIn(await mailbox.latestTo(next));
      expect((await browser.get('/account/email')).text).toContain(`<b>${next}</b>`);
      await expect(relay.get(AccountService).find(next)).resolves.toBeUndefined();
      expect((await browser.post('/account/email/confirm', { code })).location).toBe('/account');
      await expect(relay.get(AccountService).find(email)).resolves.toBeUndefined();
      const { id: accountId } = await relay.get(AccountService).get(next);
      expect((await mailbox.latestTo(email)).message.text).toContain(next);
      await expect(relay.wallet({ accountId, email, key: '', keyId: '' })).resolves.toMatchObject({ balance: '0' });
      const again = await registered(email);
      await again.submit('/verify', { code: codeIn(await mailbox.latestTo(email, 2)) });
      const { id: second } = await relay.get(AccountService).get(email);
      await expect(relay.wallet({ accountId: second, email, key: '', keyId: '' })).resolves.toMatchObject({
        balance: '5',
      });
    });

    it("where another account's address looks like any other, and is not to be had", async () => {
      const [email, taken] = [await account(), await account()];
      const browser = await signedIn(email);
      expect((await browser.submit('/account/email', { email: taken, currentPassword: PASSWORD })).location).toBe(
        '/account/email',
      );
      const mail = await mailbox.latestTo(taken);
      expect(mail.message.text).not.toMatch(/\d{3} \d{3}|[?&]t=/);
      await browser.get('/account/email');
      expect((await browser.post('/account/email/confirm', { code: '123456' })).text).toContain('Wrong code');
    });
  });
});
