import type { Browser, CDPSession } from 'playwright-core';
import { Onboarding } from '../../src/keys/onboarding/index.js';
import { Secret } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { Mailbox } from '../support/mailbox.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';

/** An authenticator of the browser's own: a platform authenticator whose user always agrees. */
interface VirtualAuthenticator {
  readonly session: CDPSession;
  readonly authenticatorId: string;
}

describe('passkeys, in a browser', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let browser: Browser;
  let url: string;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    [relay, browser] = await Promise.all([RelayApp.start({}, { SMTP_URL: mailbox.url }), startBrowser()]);
    // Passkeys belong to names, not to addresses.
    url = relay.url.replace('127.0.0.1', 'localhost');
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
    await mailbox.close();
  });

  const open = async (options: object = {}): Promise<Window> => Window.open(browser, url, options);
  const account = (email: string) =>
    relay.get(Onboarding).createAccount({ email, name: 'Ann', password: new Secret(PASSWORD), verified: true });
  const authenticatorOf = async ({ context, page }: Window): Promise<VirtualAuthenticator> => {
    const session = await context.newCDPSession(page);
    await session.send('WebAuthn.enable');
    const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
    return { session, authenticatorId };
  };
  const enterPassword = async ({ page }: Window, email: string): Promise<void> => {
    await page.goto('/sign-in');
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(PASSWORD);
    await page.getByRole('button', { name: 'Sign in', exact: true }).click();
  };
  const signOut = async ({ page }: Window): Promise<void> => {
    await page.goto('/account');
    await page.getByRole('button', { name: 'Sign out of this browser' }).click();
    await page.getByText('Signed out', { exact: true }).waitFor();
  };
  /** Adds the first passkey; gives the recovery codes. */
  const addPasskey = async ({ page }: Window, name: string): Promise<readonly string[]> => {
    await page.goto('/account/passkeys/new');
    await page.getByLabel('Name').fill(name);
    await page.getByRole('button', { name: 'Create passkey' }).click();
    const codes = page.getByRole('region', { name: 'Recovery codes', exact: true });
    return (await codes.innerText()).trim().split('\n');
  };

  it('are added, sign in alone or after the password, and are removed', async () => {
    await account('ann@example.com');
    const window = await open();
    const { page } = window;
    const { session, authenticatorId } = await authenticatorOf(window);
    await enterPassword(window, 'ann@example.com');
    await page.goto('/account');
    await expectFine(window, 'passkey-account-none');
    await page.getByRole('link', { name: 'Add passkey' }).click();
    await page.getByRole('button', { name: 'Create passkey' }).waitFor();
    expect(await page.getByText('This browser cannot add a passkey here.').isVisible()).toBe(false);
    await expectFine(window, 'passkey-new');
    expect(await addPasskey(window, 'Laptop of Ann')).toHaveLength(10);
    await expectFine(window, 'passkey-recovery-codes');
    const { credentials } = await session.send('WebAuthn.getCredentials', { authenticatorId });
    expect(credentials).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);

    await page.goto('/account/passkeys/new');
    await page.getByRole('button', { name: 'Create passkey' }).click();
    await page.getByText('This device already has a passkey for your account.').waitFor();
    await expectFine(window, 'passkey-already');
    await page.goto('/account');
    await page.getByRole('link', { name: 'Laptop of Ann' }).waitFor();
    await expectFine(window, 'passkey-account');
    await signOut(window);

    await page.goto('/keys');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).waitFor();
    await expectFine(window, 'passkey-sign-in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.waitForURL('**/keys');
    await signOut(window);

    await enterPassword(window, 'ann@example.com');
    await page.getByRole('heading', { name: 'Confirm your sign-in' }).waitFor();
    await expectFine(window, 'passkey-second-factor');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL(`${url}/`);

    await page.goto('/account');
    await page.getByRole('link', { name: 'Laptop of Ann' }).click();
    await expectFine(window, 'passkey-one');
    await page.getByLabel('Name', { exact: true }).fill('Old laptop');
    await page.getByRole('button', { name: 'Save name' }).click();
    await page.getByRole('link', { name: 'Old laptop' }).click();
    await page.getByRole('button', { name: 'Remove passkey' }).click();
    await page.getByText('Passkey removed', { exact: true }).waitFor();
    await expectFine(window);
    await signOut(window);
    await page.goto('/sign-in');
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('The passkey was not accepted.').waitFor();
    await expectFine(window, 'passkey-refused');
    await enterPassword(window, 'ann@example.com');
    await page.waitForURL(`${url}/`);
    expect(window.complaints).toEqual([]);
    await window.close();
  }, 300_000);

  it('are refused when a copy has a lower counter', async () => {
    await account('ben@example.com');
    const window = await open();
    const { page } = window;
    const { session, authenticatorId } = await authenticatorOf(window);
    await enterPassword(window, 'ben@example.com');
    await addPasskey(window, 'Original');
    const [original] = (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
    if (original === undefined) throw new Error('The authenticator has no passkey.');
    const signInWith = async (signCount: number): Promise<void> => {
      await session.send('WebAuthn.clearCredentials', { authenticatorId });
      await session.send('WebAuthn.addCredential', { authenticatorId, credential: { ...original, signCount } });
      await page.goto('/sign-in');
      await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    };
    await signOut(window);
    await signInWith(40);
    await page.waitForURL(`${url}/`);
    await signOut(window);
    await signInWith(30);
    await page.getByText('The passkey was not accepted.').waitFor();
    expect(await page.getByLabel('Email').isVisible()).toBe(true);
    await signInWith(50);
    await page.waitForURL(`${url}/`);
    await window.close();
  }, 180_000);

  it('are refused without a verified user, and say so', async () => {
    await account('cleo@example.com');
    const window = await open();
    const { page } = window;
    const { session, authenticatorId } = await authenticatorOf(window);
    await enterPassword(window, 'cleo@example.com');
    await addPasskey(window, 'Phone');
    await signOut(window);
    await session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: false });
    await page.getByRole('button', { name: 'Sign in with a passkey' }).click();
    await page.getByText('Canceled, or no matching passkey was found.').waitFor();
    await expectFine(window, 'passkey-canceled');
    await window.close();
  }, 180_000);

  it.each([
    ['without script', { javaScriptEnabled: false }, 'localhost'],
    ['at an IP address', {}, '127.0.0.1'],
  ])(
    'are not offered %s, and recovery codes sign in',
    async (name, options, host) => {
      const email = `${name.replaceAll(' ', '-')}@example.com`;
      await account(email);
      const modern = await open();
      await authenticatorOf(modern);
      await enterPassword(modern, email);
      const [code = ''] = await addPasskey(modern, 'Laptop');
      await modern.close();

      const window = await Window.open(browser, relay.url.replace('127.0.0.1', host), options);
      const { page } = window;
      await page.goto('/sign-in');
      expect(await page.getByRole('button', { name: 'Sign in with a passkey' }).count()).toBe(0);
      await enterPassword(window, email);
      await page.getByLabel('Recovery code').fill(code);
      expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0);
      await page.getByRole('button', { name: 'Sign in', exact: true }).click();
      await page.getByText('You have 9 recovery codes left.').waitFor();
      await page.goto('/account/passkeys/new');
      await page.getByText('This browser cannot add a passkey here.').waitFor();
      expect(await page.getByRole('button', { name: 'Create passkey' }).count()).toBe(0);
      expect(window.complaints).toEqual([]);
      await window.close();
    },
    180_000,
  );
});
