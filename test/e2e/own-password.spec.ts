import { Onboarding } from '../../src/keys/onboarding/index.js';
import { PASSWORD, useAccountPages } from '../support/account-pages.js';

describe('a password set by an administrator', () => {
  const pages = useAccountPages();

  const administrator = async () => {
    const { email, generatedPassword } = await pages.relay
      .get(Onboarding)
      .createAccount({ email: 'made@example.com', role: 'admin', verified: true });
    return { email, password: generatedPassword?.reveal() ?? '' };
  };

  it('opens nothing but the choice of their own, and leaves calls alone', async () => {
    const { email, password } = await administrator();
    const [browser, other] = [pages.visitor(), pages.visitor()];
    await browser.signIn(email, password);
    await other.signIn(email, password);
    for (const path of ['/', '/account', '/keys', '/admin/users', '/pricing', '/account/password', '/verify/address'])
      expect(await browser.get(path)).toMatchObject({ status: 303, location: '/choose-password' });
    const page = await browser.get('/choose-password');
    expect(page.text).toContain('Choose your own password');
    expect((await browser.post('/wallet', { code: 'x' })).location).toBe('/choose-password');

    const refusals: readonly (readonly [string, string])[] = [
      ['too short', 'Use at least 12 characters.'],
      ['password1234', 'harder to guess'],
      [password, 'Choose a different password than the one you were given.'],
    ];
    for (const [chosen, message] of refusals) {
      const refused = await browser.submit('/choose-password', { password: chosen, email });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain(message);
      expect(refused.text).not.toContain(`value="${chosen}"`);
    }
    expect((await browser.submit('/choose-password', { password: PASSWORD, email })).location).toBe('/');
    expect((await browser.get('/admin/users')).status).toBe(200);
    expect((await browser.get('/choose-password')).location).toBe('/account/password');
    expect((await other.get('/account')).location).toContain('/sign-in');
    expect((await pages.visitor().signIn(email, password)).status).toBe(422);
    expect((await pages.visitor().signIn(email, PASSWORD)).location).toBe('/');
  });

  it('lets them sign out', async () => {
    const { generatedPassword, email } = await pages.relay
      .get(Onboarding)
      .createAccount({ email: 'leaves@example.com', verified: true });
    const browser = pages.visitor();
    await browser.signIn(email, generatedPassword?.reveal() ?? '');
    await browser.get('/choose-password');
    expect((await browser.post('/sign-out')).location).toBe('/sign-in');
    expect((await browser.get('/account')).location).toContain('/sign-in');
  });
});
