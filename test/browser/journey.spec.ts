import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { parseUsd } from '../../src/platform/shared/index.js';
import { RedemptionService } from '../../src/wallet/index.js';
import { startBrowser, Window } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { type PageInput, keyboard, mouse } from '../support/page-input.js';
import { codeIn, Mailbox } from '../support/mailbox.js';
import { RelayApp } from '../support/relay-app.js';

const PASSWORD = 'violet kettle umbrella';

/** Ways to use the pages: all of them must lead to the end. */
const WAYS: Readonly<Record<string, readonly [PageInput, BrowserContextOptions]>> = {
  'with script': [mouse, {}],
  'without script': [mouse, { javaScriptEnabled: false }],
  'by keyboard alone': [keyboard, {}],
};

describe('the way from an address to a call', () => {
  let relay: RelayApp;
  let mailbox: Mailbox;
  let browser: Browser;

  beforeAll(async () => {
    mailbox = await Mailbox.open();
    [relay, browser] = await Promise.all([RelayApp.start({}, { SMTP_URL: mailbox.url }), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
    await mailbox.close();
  });

  const aCode = async (amount: string): Promise<string> => {
    const {
      codes: [code],
    } = await relay.get(RedemptionService).create({ amount: parseUsd(amount), count: 1 });
    return code!;
  };
  const call = (key: string): Promise<Response> =>
    relay.post('/v1/chat/completions', key, { model: 'm', messages: [{ role: 'user', content: 'Hello' }] });
  const heading = (page: Page): Promise<string> => page.getByRole('heading', { level: 1 }).innerText();

  it.each(Object.entries(WAYS))(
    'can be gone %s: register, verify, sign in, redeem, make a key, call, find the call',
    async (way, [hands, options]) => {
      const window = await Window.open(browser, relay.url, options);
      const { page } = window;
      const email = `${way.replaceAll(' ', '-')}@example.com`;
      await page.goto('/register');
      await hands.fill(page, 'Name', 'Ann');
      await hands.fill(page, 'Email', email);
      await hands.fill(page, 'Password', PASSWORD);
      await hands.press(page, 'button', 'Create account');
      expect(await heading(page)).toBe('Check your email');
      await hands.fill(page, 'Code from the email', codeIn(await mailbox.latestTo(email)));
      await hands.press(page, 'button', 'Confirm address');

      await hands.press(page, 'button', /Sign out/);
      await page.goto('/wallet');
      expect(await heading(page)).toBe('Sign in');
      await hands.fill(page, 'Email', email);
      await hands.fill(page, 'Password', PASSWORD);
      await hands.press(page, 'button', 'Sign in');
      expect(await heading(page)).toBe('Wallet');

      await hands.fill(page, /Redemption code/, await aCode('5'));
      await hands.press(page, 'button', /Redeem/);
      expect(await page.getByRole('main').innerText()).toContain('$5.00');

      await hands.press(page, 'link', 'API keys');
      await hands.press(page, 'link', 'Create key');
      await hands.fill(page, 'Name', 'laptop');
      await hands.press(page, 'button', 'Create key');
      const secret = /sk-\w{48}/.exec(await page.getByRole('main').innerText())?.[0];
      expect(secret).toBeDefined();

      expect((await call(secret!)).status).toBe(200);
      await hands.press(page, 'link', 'Usage logs');
      await eventually(async () => {
        await page.reload();
        expect(await page.getByRole('row').filter({ hasText: 'laptop' }).count()).toBe(1);
      });
      expect(await page.getByRole('row').filter({ hasText: 'laptop' }).innerText()).toMatch(/Completed/);
      expect(window.complaints).toEqual([]);
      await window.close();
    },
  );
});
