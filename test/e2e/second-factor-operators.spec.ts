import { DataSource } from 'typeorm';
import { AccountService, SecondFactors } from '../../src/auth/index.js';
import { AccountDeletion, Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { OTHER_PASSWORD, PASSWORD, PUBLIC_URL, useAccountPages } from '../support/account-pages.js';
import { recoveryCodesIn, turnOnSecondFactor } from '../support/authenticator.js';
import { forgetSignIn, operatorVisit, type OperatorVisit, OPERATOR_PASSWORD } from '../support/operator-visit.js';
import { addPasskey, PasskeyAuthenticator } from '../support/passkey-authenticator.js';

describe('administrators and two-factor authentication', () => {
  const pages = useAccountPages();
  const { visitor, account, signedIn } = pages;
  let operator: OperatorVisit;

  beforeEach(async () => {
    operator = await operatorVisit(pages.relay);
  });

  const owner = async () => {
    const email = await account();
    const browser = await signedIn(email);
    const setUp = await turnOnSecondFactor(browser);
    const { id } = await pages.relay.get(AccountService).get(email);
    return { ...setUp, email, id, browser };
  };
  const need = async (needed: boolean): Promise<void> => {
    const { text } = await operator.browser.get('/admin/settings/sign-up');
    const form = /<form[^>]*action="\/admin\/settings\/sign-up".*?<\/form>/s.exec(text)?.[0] ?? '';
    const [, revision = ''] = /name="revision" value="(\d+)"/.exec(form) ?? [];
    const fields = { revision, mode: 'open', domains: '', sessionIdleHours: '336' };
    const ticked = needed ? { administratorsNeedSecondFactor: 'yes' } : {};
    const saved = await operator.browser.post('/admin/settings/sign-up', { ...fields, ...ticked });
    expect(saved.location).toBe('/admin/settings/sign-up');
  };

  describe('turning it off for a user', () => {
    it('signs the user out, notifies them by email, and is recorded', async () => {
      const { email, id, browser } = await owner();
      const waiting = visitor();
      await waiting.signIn(email, PASSWORD);
      const there = `/admin/users/${id}/second-factor`;
      expect((await operator.browser.get(`/admin/users/${id}`)).text).toContain(`href="${there}">Turn off`);
      expect((await operator.browser.get(there)).text).toContain('with 10 recovery codes left');

      await forgetSignIn(pages.relay, operator.accountId);
      const refused = await operator.browser.submit(there, { password: OTHER_PASSWORD });
      expect(refused.status).toBe(422);
      await expect(pages.relay.get(SecondFactors).of(id)).resolves.toBeDefined();

      const removed = await operator.browser.submit(there, { password: OPERATOR_PASSWORD });
      expect(removed.location).toBe(`/admin/users/${id}`);
      await expect(pages.isSignedIn(browser)).resolves.toBe(false);
      expect((await visitor().signIn(email, PASSWORD)).location).toBe('/');
      const mail = await pages.mailbox.latestTo(email, 2);
      expect(mail.message.text).toContain(
        'An administrator of Switchboard turned off two-factor authentication for your account.',
      );
      expect(mail.message.text).toContain(`Turn it on again: ${PUBLIC_URL}/account/second-factor`);
      const changes = await pages.relay
        .get(DataSource)
        .query('SELECT action, actor_name, lines FROM audit_entries WHERE object_id = $1 ORDER BY id DESC LIMIT 2', [
          id,
        ]);
      expect(changes).toEqual([
        { action: 'changed', actor_name: operator.email, lines: ['second factor on → removed'] },
        { action: 'signed out', actor_name: operator.email, lines: ['Another program'] },
      ]);
      expect((await operator.browser.get(there)).location).toBe(`/admin/users/${id}`);
    });

    it('is not possible for their own account, which requires a code', async () => {
      await turnOnSecondFactor(operator.browser);
      const there = `/admin/users/${operator.accountId}/second-factor`;
      const off = { status: 303, location: '/account/second-factor/off' };
      expect(await operator.browser.get(there)).toMatchObject(off);
      await operator.browser.get('/account');
      expect(await operator.browser.post(there, { password: OPERATOR_PASSWORD })).toMatchObject(off);
      await expect(pages.relay.get(SecondFactors).of(operator.accountId)).resolves.toBeDefined();
    });

    it('is part of deleting an account', async () => {
      const { id } = await owner();
      await pages.relay.get(AccountDeletion).run(id);
      for (const table of ['second_factors', 'recovery_codes', 'pending_sign_ins'])
        await expect(
          pages.relay.get(DataSource).query(`SELECT FROM ${table} WHERE account_id = $1`, [id]),
        ).resolves.toEqual([]);
    });
  });

  describe('the requirement for administrators', () => {
    afterEach(() => need(false));

    it('restricts administrators to the setup page, but not users', async () => {
      const ann = await signedIn(await account());
      const other = await operatorVisit(pages.relay);
      const setUp = await turnOnSecondFactor(operator.browser);
      expect(setUp.recoveryCodes).toHaveLength(10);
      await need(true);
      expect((await operator.browser.get('/admin')).status).toBe(200);
      expect((await ann.get('/account')).status).toBe(200);

      for (const path of [
        '/',
        '/admin',
        '/admin/settings',
        '/account',
        '/keys',
        '/pricing',
        '/docs',
        '/account/password',
      ])
        expect(await other.browser.get(path)).toMatchObject({ status: 303, location: '/account/second-factor' });
      const page = await other.browser.get('/account/second-factor');
      expect(page.text).toContain('Administrators of Switchboard must set it up');
      expect((await other.browser.post('/admin/users/new', { email: 'x@example.com' })).location).toBe(
        '/account/second-factor',
      );
      await turnOnSecondFactor(other.browser);
      expect((await other.browser.get('/admin')).status).toBe(200);
    });

    it('counts passkeys', async () => {
      const other = await operatorVisit(pages.relay);
      await turnOnSecondFactor(operator.browser);
      await need(true);
      expect((await other.browser.get('/admin')).location).toBe('/account/second-factor');
      expect((await other.browser.get('/account/second-factor')).text).toContain('href="/account/passkeys/new"');
      const added = await addPasskey(other.browser, new PasskeyAuthenticator(PUBLIC_URL));
      expect(recoveryCodesIn(added)).toHaveLength(10);
      expect((await other.browser.get('/admin')).status).toBe(200);
      expect((await operator.browser.get(`/admin/users/${other.accountId}`)).text).toContain(
        'Two-factor authentication on',
      );
    });

    it('follows the password change and the email verification', async () => {
      await turnOnSecondFactor(operator.browser);
      await need(true);
      const made = await pages.relay
        .get(Onboarding)
        .createAccount({ email: 'made-for@example.com', role: 'admin', verified: true });
      const browser = visitor();
      await browser.signIn(made.email, made.generatedPassword?.reveal() ?? '');
      expect((await browser.get('/account/second-factor')).location).toBe('/choose-password');
      await browser.submit('/choose-password', { password: PASSWORD });
      expect((await browser.get('/admin')).location).toBe('/account/second-factor');

      const unverified = { email: 'unverified@example.com', password: new Secret(PASSWORD), role: 'admin' } as const;
      await pages.relay.get(Onboarding).createAccount(unverified);
      const other = visitor();
      await other.signIn(unverified.email, PASSWORD);
      expect((await other.get('/account/second-factor')).location).toBe('/verify');
      expect((await other.get('/verify')).status).toBe(200);
    });

    it('warns administrators who turn it off that they must set it up again', async () => {
      const { app, recoveryCodes } = await turnOnSecondFactor(operator.browser);
      const said = 'Administrators of Switchboard must use two-factor authentication. You must set it up again';
      expect((await operator.browser.get('/account/second-factor/off')).text).not.toContain(said);
      await need(true);
      expect((await operator.browser.get('/account/second-factor/off')).text).toContain(said);
      const ann = await signedIn(await account());
      await turnOnSecondFactor(ann);
      expect((await ann.get('/account/second-factor/off')).text).not.toContain(said);
      const given = { currentPassword: OPERATOR_PASSWORD, code: recoveryCodes[0] ?? '' };
      await operator.browser.submit('/account/second-factor/off', given);
      expect((await operator.browser.get('/admin')).location).toBe('/account/second-factor');
      const again = await turnOnSecondFactor(operator.browser);
      expect(again.app.secret).not.toBe(app.secret);
    });
  });
});
