import { DataSource } from 'typeorm';
import { AccountService } from '../../src/auth/index.js';
import {
  anAddress,
  OTHER_PASSWORD,
  PASSWORD,
  path,
  PUBLIC_URL,
  tokenIn,
  useAccountPages,
} from '../support/account-pages.js';
import { linkIn, type Mailbox } from '../support/mailbox.js';
import type { RelayApp } from '../support/relay-app.js';

describe('accounts', () => {
  const pages = useAccountPages();
  const { visitor, account, signedIn, isSignedIn } = pages;
  let mailbox: Mailbox;
  let relay: RelayApp;
  beforeAll(() => {
    ({ relay, mailbox } = pages);
  });

  describe('have a new password', () => {
    it('by a link from a mail whose address no request can forge, which signs out all browsers', async () => {
      const email = await account();
      const before = await signedIn(email);
      const browser = visitor();
      await browser.get('/forgot');
      const requested = await browser.post(
        '/forgot',
        { email },
        { 'x-forwarded-host': 'evil.example', forwarded: 'host=evil.example' },
      );
      expect(requested.text).toContain('If this address has an account, we’ve emailed a link');
      const mail = await mailbox.latestTo(email);
      expect(linkIn(mail)).toMatch(/^http:\/\/relay\.test\/reset\?t=/);
      expect(mail.raw).not.toContain('evil.example');
      const link = path(linkIn(mail));
      for (const _ of [1, 2]) expect((await browser.get(link)).text).toContain('Choose a password');
      const t = new URL(link, PUBLIC_URL).searchParams.get('t') ?? '';
      expect((await browser.post('/reset', { t, password: 'password1234' })).text).toContain('harder to guess');
      expect(await browser.post('/reset', { t, password: OTHER_PASSWORD })).toMatchObject({
        status: 303,
        location: '/sign-in',
      });
      await expect(isSignedIn(before)).resolves.toBe(false);
      expect((await visitor().signIn(email, PASSWORD)).status).toBe(422);
      expect((await visitor().signIn(email, OTHER_PASSWORD)).location).toBe('/');
      expect((await browser.get(link)).text).toContain('no longer valid');
      expect((await browser.post('/reset', { t, password: PASSWORD })).text).toContain('no longer valid');
      expect((await mailbox.latestTo(email, 2)).message.subject).toBe('Your Switchboard password was changed');
    });

    it('by a form that a forged Host does not change', async () => {
      const email = await account();
      const { get } = await import('node:http');
      const forged = await new Promise<string>((resolve) =>
        get(`${relay.url}/forgot`, { headers: { host: 'evil.example', accept: 'text/html' } }, (response) => {
          const cookie = String(response.headers['set-cookie']?.[0]).split(';')[0] ?? '';
          let text = '';
          response.on('data', (chunk) => (text += String(chunk))).on('end', () => resolve(`${cookie}\n${text}`));
        }),
      );
      const [cookie = '', page = ''] = forged.split(/\n(.*)/s);
      expect(page).not.toContain('evil.example');
      const { request } = await import('node:http');
      const body = new URLSearchParams({
        _csrf: /name="_csrf" value="([^"]+)"/.exec(page)?.[1] ?? '',
        email,
      }).toString();
      const status = await new Promise((resolve) => {
        const headers = {
          host: 'evil.example',
          cookie,
          accept: 'text/html',
          'content-type': 'application/x-www-form-urlencoded',
        };
        const sending = request(`${relay.url}/forgot`, { method: 'POST', headers }, (response) =>
          resolve(response.resume().statusCode),
        );
        sending.end(body);
      });
      expect(status).toBe(200);
      const mail = await mailbox.latestTo(email);
      expect(linkIn(mail)).toMatch(/^http:\/\/relay\.test\//);
      expect(mail.raw).not.toContain('evil.example');
    });

    it('after which an address that was asked for before proves nothing, nor is a new mail sent there', async () => {
      const [email, theirs] = [await account(), anAddress()];
      const thief = await signedIn(email);
      await thief.submit('/account/email', { email: theirs, currentPassword: PASSWORD });
      const proof = path(linkIn(await mailbox.latestTo(theirs)));
      const browser = visitor();
      await browser.submit('/forgot', { email });
      const reset = path(linkIn(await mailbox.latestTo(email)));
      await browser.get(reset);
      expect((await browser.post('/reset', { t: tokenIn(reset), password: OTHER_PASSWORD })).location).toBe('/sign-in');
      await thief.get(proof);
      expect((await thief.post('/verify/link', { t: tokenIn(proof) })).text).toContain('no longer valid');
      expect((await thief.post('/verify/link/renew', { t: tokenIn(proof) })).text).toContain('no longer valid');
      expect(mailbox.mails.filter(({ to }) => to.includes(theirs))).toHaveLength(1);
      await expect(relay.get(AccountService).find(theirs)).resolves.toBeUndefined();
      await expect(relay.get(AccountService).get(email)).resolves.toMatchObject({ email });
    });

    it('by a new mail when the link has expired, in one click', async () => {
      const email = await account();
      const browser = visitor();
      await browser.submit('/forgot', { email });
      const link = path(linkIn(await mailbox.latestTo(email)));
      await relay
        .get(DataSource)
        .query(
          `UPDATE verifications SET expires_at = now(), sent_at = now() - interval '15 minutes' WHERE email = $1`,
          [email],
        );
      expect((await browser.get(link)).text).toContain('This link has expired');
      const t = new URL(link, PUBLIC_URL).searchParams.get('t') ?? '';
      expect((await browser.post('/reset', { t, password: OTHER_PASSWORD })).text).toContain('This link has expired');
      await browser.get(link);
      expect((await browser.post('/reset/renew', { t })).location).toBe('/sign-in');
      expect(path(linkIn(await mailbox.latestTo(email, 2)))).not.toBe(link);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
    });

    it('on their page, with the old one: all other browsers are signed out, and this one gets a new token', async () => {
      const email = await account();
      const [browser, other] = [await signedIn(email), await signedIn(email)];
      const token = browser.cookies.get('switchboard-visit');
      const wrong = await browser.submit('/account/password', {
        currentPassword: OTHER_PASSWORD,
        password: OTHER_PASSWORD,
      });
      expect(wrong.status).toBe(422);
      expect(wrong.text).toContain('Enter your current password.');
      const changed = await browser.submit('/account/password', {
        currentPassword: PASSWORD,
        password: OTHER_PASSWORD,
      });
      expect(changed.location).toBe('/account');
      await expect(isSignedIn(browser)).resolves.toBe(true);
      await expect(isSignedIn(other)).resolves.toBe(false);
      expect(browser.cookies.get('switchboard-visit')).not.toBe(token);
      const old = visitor();
      old.cookies.set('switchboard-visit', token ?? '');
      await expect(isSignedIn(old)).resolves.toBe(false);
    });
  });
});
