import { generateKeyPairSync } from 'node:crypto';
import { DataSource } from 'typeorm';
import { AccountService, AccountStatus } from '../../src/auth/index.js';
import { AccountDeletion } from '../../src/keys/onboarding/index.js';
import { PASSWORD, PUBLIC_URL, useAccountPages } from '../support/account-pages.js';
import { Authenticator, recoveryCodesIn, turnOnSecondFactor } from '../support/authenticator.js';
import { forgetSignIn, operatorVisit } from '../support/operator-visit.js';
import type { PageResponse, PageVisitor } from '../support/page-visitor.js';
import {
  addPasskey,
  cborBytes,
  cborList,
  cborMap,
  cborText,
  type Deviation,
  optionsAt,
  PasskeyAuthenticator,
  USER_VERIFIED,
} from '../support/passkey-authenticator.js';

describe('passkeys', () => {
  const pages = useAccountPages();
  const { visitor, account, signedIn, isSignedIn } = pages;

  const sql = <T>(text: string, ...values: unknown[]): Promise<T[]> => pages.relay.get(DataSource).query(text, values);
  const add = (
    browser: PageVisitor,
    passkey = new PasskeyAuthenticator(PUBLIC_URL),
    deviation: Deviation = {},
  ): Promise<PageResponse> => addPasskey(browser, passkey, deviation);
  interface Owner {
    readonly email: string;
    readonly id: string;
    readonly browser: PageVisitor;
    readonly passkey: PasskeyAuthenticator;
    readonly recoveryCodes: readonly string[];
  }
  const owner = async (): Promise<Owner> => {
    const email = await account();
    const browser = await signedIn(email);
    const passkey = new PasskeyAuthenticator(PUBLIC_URL);
    const recoveryCodes = recoveryCodesIn(await add(browser, passkey));
    const { id } = await pages.relay.get(AccountService).get(email);
    return { email, id, browser, passkey, recoveryCodes };
  };
  /** Of a browser on the sign-in page, with its options. */
  const begin = async () => {
    const browser = visitor();
    await browser.get('/sign-in');
    return { browser, options: await optionsAt(browser, '/sign-in/passkey/options') };
  };
  const signInWith = async (passkey: PasskeyAuthenticator, deviation: Deviation = {}): Promise<PageVisitor> => {
    const { browser, options } = await begin();
    await browser.post('/sign-in/passkey', { passkey: passkey.get(options, deviation) });
    return browser;
  };
  const halfIn = async (email: string, fields: Readonly<Record<string, string>> = {}): Promise<PageVisitor> => {
    const browser = visitor();
    await browser.get('/sign-in');
    const response = await browser.post('/sign-in', { email, password: PASSWORD, ...fields });
    expect(response).toMatchObject({ status: 303, location: '/sign-in/code' });
    await browser.get('/sign-in/code');
    return browser;
  };
  const passkeyIdIn = async (browser: PageVisitor): Promise<string> =>
    /\/account\/passkeys\/(psk_\w+)/.exec((await browser.get('/account')).text)?.[1] ?? '';

  describe('are registered', () => {
    it('with recovery codes for the first one, a mail, and other browsers signed out', async () => {
      const email = await account();
      const [browser, other] = [await signedIn(email), await signedIn(email)];
      const passkey = new PasskeyAuthenticator(PUBLIC_URL);
      const first = await add(browser, passkey);
      expect(recoveryCodesIn(first)).toHaveLength(10);
      expect(first.headers.get('cache-control')).toBe('no-store');
      expect(await isSignedIn(other)).toBe(false);
      expect((await pages.mailbox.latestTo(email)).message.text).toContain('the passkey “Laptop”');
      expect((await add(browser)).location).toBe('/account#passkeys');
      expect((await browser.get('/account')).text).toContain('10 recovery codes left');
    });

    it('for the site of PUBLIC_URL and this account, without those it has', async () => {
      const { browser, passkey, email, id } = await owner();
      await browser.get('/account/passkeys/new');
      const options = await optionsAt(browser, '/account/passkeys/options');
      expect(options).toMatchObject({
        rp: { id: 'relay.test', name: 'Switchboard' },
        user: { id: Buffer.from(id).toString('base64url'), name: email },
        excludeCredentials: [{ id: passkey.id.toString('base64url') }],
        authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      });
    });

    it('to one account only', async () => {
      const { passkey } = await owner();
      const other = await signedIn(await account());
      expect((await add(other, passkey)).status).toBe(409);
      expect(await passkeyIdIn(other)).toBe('');
    });

    const certificate = cborMap(cborText('x5c'), cborList(cborBytes(Buffer.from('certificate'))));
    it.each<[string, Deviation]>([
      ['another origin', { origin: 'https://evil.example' }],
      ['another site', { rpId: 'evil.example' }],
      ['a foreign challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
      ['another ceremony', { type: 'webauthn.get' }],
      ['no user verification', { flags: 1 }],
      ['no user presence', { flags: USER_VERIFIED }],
      [
        'an attestation with certificates',
        { attestation: Buffer.concat([cborText('fmt'), cborText('packed'), cborText('attStmt'), certificate]) },
      ],
    ])('not with %s', async (_, deviation) => {
      const browser = await signedIn(await account());
      const response = await add(browser, new PasskeyAuthenticator(PUBLIC_URL), deviation);
      expect(response.status).toBe(422);
      expect(response.text).toContain('The passkey was not accepted.');
      expect(await passkeyIdIn(browser)).toBe('');
    });

    it.each(['', 'null', '{}', '{"id":"a","response":{"clientDataJSON":5}}', '[', '{"id":"a","response":null}'])(
      'not from %j',
      async (passkey) => {
        const browser = await signedIn(await account());
        await browser.get('/account/passkeys/new');
        expect((await browser.post('/account/passkeys', { name: 'x', passkey })).status).toBe(422);
      },
    );

    it('only with a recent sign-in', async () => {
      const email = await account();
      const { id } = await pages.relay.get(AccountService).get(email);
      const browser = await signedIn(email);
      await forgetSignIn(pages.relay, id);
      expect((await browser.get('/account/passkeys/new')).text).toContain('Your password');
      const refused = await browser.post('/account/passkeys/options');
      expect(refused.status).toBe(409);
      expect(JSON.parse(refused.text)).toEqual({ message: 'Your sign-in is no longer recent. Reload this page.' });
      expect((await browser.post('/account/passkeys', { name: 'x', passkey: '{}' })).text).toContain(
        'Confirm your password',
      );
      const confirmed = await browser.submit('/account/passkeys/new', { password: PASSWORD });
      expect(confirmed.location).toBe('/account/passkeys/new');
      expect(recoveryCodesIn(await add(browser))).toHaveLength(10);
    });

    it('up to 20 of them', async () => {
      const { browser, id } = await owner();
      await sql(
        `INSERT INTO passkeys (id, account_id, credential_id, public_key, counter, transports, name, created_at)
         SELECT 'psk_' || n || $1, $1, sha256(($1 || n)::bytea), '', 0, '{}', 'x', now() FROM generate_series(1, 19) n`,
        id,
      );
      await browser.get('/account/passkeys/new');
      const refused = await browser.post('/account/passkeys/options');
      expect(refused.status).toBe(409);
      expect(refused.text).toContain('at most 20 passkeys');
    });
  });

  describe('sign in without a password', () => {
    it('to the page where the user was going, and for as long as asked', async () => {
      const { passkey } = await owner();
      const { browser, options } = await begin();
      expect(options).toMatchObject({ rpId: 'relay.test', allowCredentials: [], userVerification: 'required' });
      const fields = { next: '/keys?q=x', remember: 'yes', passkey: passkey.get(options) };
      const response = await browser.post('/sign-in/passkey', fields);
      expect(response).toMatchObject({ status: 303, location: '/keys?q=x' });
      expect(response.headers.getSetCookie().join()).toContain('Max-Age=2592000');
      expect(await isSignedIn(browser)).toBe(true);
      expect((await browser.get('/account')).text).not.toContain('Never');
    });

    it.each<[string, Deviation]>([
      ['another origin', { origin: 'https://evil.example' }],
      ['a subdomain', { origin: 'http://login.relay.test' }],
      ['another site', { rpId: 'evil.example' }],
      ['a foreign challenge', { challenge: Buffer.alloc(32).toString('base64url') }],
      ['another ceremony', { type: 'webauthn.create' }],
      ['no user verification', { flags: 1 }],
      ['another key', { key: generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey }],
      ['another account', { userHandle: Buffer.from('acc_other').toString('base64url') }],
      ['no account', { userHandle: null }],
    ])('not with %s', async (_, deviation) => {
      const { passkey } = await owner();
      const browser = await signInWith(passkey, deviation);
      expect(await isSignedIn(browser)).toBe(false);
      expect((await browser.get('/sign-in')).text).toContain('The passkey was not accepted.');
      expect(await isSignedIn(await signInWith(passkey))).toBe(true);
    });

    it('not with an unknown passkey', async () => {
      const passkey = new PasskeyAuthenticator(PUBLIC_URL);
      expect(await isSignedIn(await signInWith(passkey))).toBe(false);
    });

    it('not with a counter that stands still or goes back', async () => {
      const { passkey } = await owner();
      expect(await isSignedIn(await signInWith(passkey, { counter: 7 }))).toBe(true);
      for (const counter of [7, 6, 0]) expect(await isSignedIn(await signInWith(passkey, { counter }))).toBe(false);
      expect(await isSignedIn(await signInWith(passkey, { counter: 8 }))).toBe(true);
    });

    it('again and again with an authenticator that does not count', async () => {
      const { passkey } = await owner();
      for (let turn = 0; turn < 2; turn++)
        expect(await isSignedIn(await signInWith(passkey, { counter: 0 }))).toBe(true);
    });

    it('with each challenge once, also when it was refused', async () => {
      const { passkey } = await owner();
      const first = await begin();
      const replaying = visitor();
      for (const [name, value] of first.browser.cookies) replaying.cookies.set(name, value);
      replaying.csrf = first.browser.csrf;
      const response = passkey.get(first.options, { counter: 0 });
      expect((await first.browser.post('/sign-in/passkey', { passkey: response })).location).toBe('/');
      const replayed = await replaying.post('/sign-in/passkey', { passkey: response });
      expect(replayed.location).toBe('/sign-in?next=%2F');
      expect(await isSignedIn(replaying)).toBe(false);

      const { browser, options } = await begin();
      await browser.post('/sign-in/passkey', { passkey: passkey.get(options, { flags: 1 }) });
      await browser.post('/sign-in/passkey', { passkey: passkey.get(options) });
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('only in the browser that the challenge was made for, and for five minutes', async () => {
      const { passkey } = await owner();
      const { options } = await begin();
      const other = visitor();
      await other.get('/sign-in');
      await other.post('/sign-in/passkey', { passkey: passkey.get(options) });
      expect(await isSignedIn(other)).toBe(false);

      const late = await begin();
      await sql(`UPDATE passkey_challenges SET expires_at = expires_at - interval '5 minutes'`);
      await late.browser.post('/sign-in/passkey', { passkey: passkey.get(late.options) });
      expect(await isSignedIn(late.browser)).toBe(false);
    });

    it('not to a suspended account', async () => {
      const { passkey, id } = await owner();
      await pages.relay.get(AccountStatus).disable(id);
      const browser = await signInWith(passkey);
      expect((await browser.get('/sign-in')).text).toContain('This account is suspended.');
    });

    it('so often from one network and no more, but successes do not count', async () => {
      const { passkey } = await owner();
      const { browser, options } = await begin();
      await browser.post('/sign-in/passkey', { passkey: passkey.get(options) });
      await browser.get('/account');
      await browser.post('/sign-out');
      await browser.get('/sign-in');
      for (let turn = 0; turn < 30; turn++) await optionsAt(browser, '/sign-in/passkey/options');
      const refused = await browser.post('/sign-in/passkey/options');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
      expect(refused.text).toContain('Too many attempts.');
    });
  });

  describe('are a second factor', () => {
    it('after the password, which opens nothing by itself', async () => {
      const { email, passkey } = await owner();
      const browser = await halfIn(email, { next: '/keys?q=x', remember: 'yes' });
      expect(await isSignedIn(browser)).toBe(false);
      await browser.get('/sign-in/code');
      const options = await optionsAt(browser, '/sign-in/code/passkey/options');
      expect(options.allowCredentials).toMatchObject([
        { id: passkey.id.toString('base64url'), transports: ['internal'] },
      ]);
      const response = await browser.post('/sign-in/code/passkey', { passkey: passkey.get(options) });
      expect(response).toMatchObject({ status: 303, location: '/keys?q=x' });
      expect(response.headers.getSetCookie().join()).toContain('Max-Age=2592000');
      expect(await isSignedIn(browser)).toBe(true);
    });

    it('or a recovery code is, also without an app', async () => {
      const { email, recoveryCodes } = await owner();
      const browser = await halfIn(email);
      const { text } = await browser.get('/sign-in/code');
      expect(text).toContain('Recovery code</label>');
      expect(text).not.toContain('authenticator app');
      const [code = ''] = recoveryCodes;
      expect((await browser.post('/sign-in/code', { code })).location).toBe('/');
      expect((await browser.get('/')).text).toContain('You have 9 recovery codes left.');
    });

    it('of the account whose password was right, with a challenge for it', async () => {
      const [ann, ben] = [await owner(), await owner()];
      const browser = await halfIn(ann.email);
      const options = await optionsAt(browser, '/sign-in/code/passkey/options');
      const foreign = await browser.post('/sign-in/code/passkey', { passkey: ben.passkey.get(options) });
      expect(foreign.location).toBe('/sign-in/code');
      const signIn = await optionsAt(browser, '/sign-in/passkey/options');
      await browser.post('/sign-in/code/passkey', { passkey: ann.passkey.get(signIn) });
      expect(await isSignedIn(browser)).toBe(false);
      await browser.get('/sign-in/code');
      const own = await optionsAt(browser, '/sign-in/code/passkey/options');
      await browser.post('/sign-in/passkey', { passkey: ann.passkey.get(own) });
      expect(await isSignedIn(browser)).toBe(false);
    });

    it('only while the sign-in waits for it', async () => {
      const { passkey } = await owner();
      const { browser, options } = await begin();
      expect((await browser.post('/sign-in/code/passkey/options')).status).toBe(409);
      const response = await browser.post('/sign-in/code/passkey', { passkey: passkey.get(options) });
      expect(response.location).toBe('/sign-in');
    });

    it('beside an app, which can be removed on its own', async () => {
      const { email, browser, passkey } = await owner();
      const { app } = await turnOnSecondFactor(browser);
      expect(app).toBeInstanceOf(Authenticator);
      const given = { currentPassword: PASSWORD, code: app.next() };
      expect((await browser.submit('/account/second-factor/off', given)).location).toBe('/account#signing-in');
      expect((await pages.mailbox.latestTo(email, 3)).message.subject).toBe(
        'Your authenticator app was removed from Switchboard',
      );
      expect((await browser.get('/account')).text).toContain('10 recovery codes left');
      const waiting = await halfIn(email);
      const options = await optionsAt(waiting, '/sign-in/code/passkey/options');
      await waiting.post('/sign-in/code/passkey', { passkey: passkey.get(options) });
      expect(await isSignedIn(waiting)).toBe(true);
    });
  });

  describe('are managed', () => {
    it('by a new name, and by removal, which ends recovery codes and other sessions', async () => {
      const { email, id, browser, passkey } = await owner();
      const other = await signInWith(passkey);
      const passkeyId = await passkeyIdIn(browser);
      const there = `/account/passkeys/${passkeyId}`;
      expect((await browser.submit(there, { name: ' ' })).status).toBe(422);
      expect((await browser.submit(there, { name: 'Phone' })).location).toBe('/account#passkeys');
      expect((await browser.get(there)).text).toContain('value="Phone"');
      await forgetSignIn(pages.relay, id);
      expect((await browser.post(`${there}/delete`)).text).toContain('Confirm your password');
      expect((await browser.post(`${there}/delete`, { password: PASSWORD })).location).toBe('/account#passkeys');
      expect((await pages.mailbox.latestTo(email, 2)).message.text).toContain('The passkey “Phone” no longer signs');
      expect(await isSignedIn(other)).toBe(false);
      expect(await isSignedIn(await signInWith(passkey))).toBe(false);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
      expect(await sql('SELECT FROM recovery_codes WHERE account_id = $1', id)).toEqual([]);
    });

    it('by their owner only', async () => {
      const { browser } = await owner();
      const passkeyId = await passkeyIdIn(browser);
      const other = await signedIn(await account());
      await other.get('/account');
      const there = `/account/passkeys/${passkeyId}`;
      expect((await other.get(there)).status).toBe(404);
      await other.get('/account');
      expect((await other.post(there, { name: 'x' })).status).toBe(404);
      expect((await other.post(`${there}/delete`)).status).toBe(404);
      expect((await browser.get(there)).text).toContain('value="Laptop"');
    });

    it('but the last way to sign in stays', async () => {
      const { browser, id } = await owner();
      const there = `/account/passkeys/${await passkeyIdIn(browser)}`;
      await sql('UPDATE accounts SET password_hash = NULL WHERE id = $1', id);
      await browser.get(there);
      expect((await browser.post(`${there}/delete`)).status).toBe(409);
      expect(await passkeyIdIn(browser)).not.toBe('');
    });

    it('in the export of one’s data, and erased with the account', async () => {
      const { browser, id, passkey } = await owner();
      const { account: exported } = JSON.parse((await browser.get('/account/data/account.json')).text) as {
        account: Record<string, unknown>;
      };
      expect(exported).toMatchObject({
        two_factor: { recovery_codes_left: 10 },
        passkeys: [{ name: 'Laptop', last_used_at: null }],
      });
      await pages.relay.get(AccountDeletion).run(id);
      for (const table of ['passkeys', 'recovery_codes'])
        expect(await sql(`SELECT FROM ${table} WHERE account_id = $1`, id)).toEqual([]);
      expect(await isSignedIn(await signInWith(passkey))).toBe(false);
    });

    it('and removed by administrators for users who lost them', async () => {
      const { email, id } = await owner();
      const operator = await operatorVisit(pages.relay);
      const there = `/admin/users/${id}/second-factor`;
      expect((await operator.browser.get(there)).text).toContain('with 1 passkey and 10 recovery codes left');
      await operator.browser.post(there);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
      expect(await sql('SELECT FROM passkeys WHERE account_id = $1', id)).toEqual([]);
    });
  });
});
