import type { Browser } from 'playwright-core';
import { accessibilityFaults, NARROW, sidewaysScroll, startBrowser, WIDE, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import { RelayApp } from '../support/relay-app.js';

const SHOTS = process.env['SHOTS'];
const SIZES = { wide: WIDE, narrow: NARROW, least: { width: 360, height: 700 } };

describe('the pages of channels in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let token: string;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    token = (await operatorVisit(relay)).browser.cookies.get('switchboard-visit') ?? '';
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = async (options = {}): Promise<Window> => {
    const window = await Window.open(browser, relay.url, options);
    await window.context.addCookies([{ name: 'switchboard-visit', value: token, url: relay.url }]);
    return window;
  };
  const expectFine = async ({ page, complaints }: Window, name: string): Promise<void> => {
    for (const [size, viewport] of Object.entries(SIZES))
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
        await page.evaluate('new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
        if (SHOTS && size !== 'least')
          await page.screenshot({ path: `${SHOTS}/${name}-${size}-${colorScheme}.png`, fullPage: true });
        expect({ name, size, faults: await accessibilityFaults(page) }).toEqual({ name, size, faults: [] });
        expect({ name, size, sideways: await sidewaysScroll(page) }).toEqual({ name, size, sideways: 0 });
      }
    expect(complaints).toEqual([]);
  };

  it('are accessible and fit, also where a form was refused', async () => {
    const caller = await relay.caller();
    await relay.post('/v1/chat/completions', caller.key, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    await relay.onlyCall(caller);
    const window = await open();
    const { page } = window;
    await page.goto('/admin/channels');
    await expectFine(window, 'admin-channels');
    await page.getByRole('link', { name: 'chat-completions-main', exact: true }).click();
    await page.getByRole('button', { name: 'Run check' }).click();
    await page.getByText(/answered in/).waitFor();
    await page.getByText(/flag set/).waitFor();
    await expectFine(window, 'admin-channel');
    await page.getByLabel('Base address').fill('nowhere');
    await page.getByRole('button', { name: 'Save channel' }).click();
    await page.getByRole('alert').waitFor();
    await expectFine(window, 'admin-channel-refused');
    await page.getByRole('link', { name: 'Delete channel…' }).click();
    await expectFine(window, 'admin-channel-delete');
    await page.goto('/admin/channels/new');
    await expectFine(window, 'admin-channel-new');
    await window.close();
  }, 180_000);

  it('add a channel with rows, without script', async () => {
    const window = await open({ javaScriptEnabled: false });
    const { page } = window;
    await page.goto('/admin/channels/new');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('added by hand');
    await page.getByLabel('Base address').fill(relay.upstream.url);
    await page.getByLabel('Public name 1').fill('unserved');
    await page.getByRole('button', { name: 'Add row' }).click();
    await page.getByLabel('Public name 2').fill('free');
    await page.getByLabel('Upstream name 2').fill('vendor-free');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByText('Enter a credential, or choose “No credential”.').first().waitFor();
    await page.getByRole('textbox', { name: 'Credential 1' }).fill('sk-typed-in-a-browser-1234');
    await page.getByRole('textbox', { name: 'Credential 1' }).press('Enter');
    await page.getByText('Channel added').waitFor();
    expect(await page.getByLabel('Upstream name 2').inputValue()).toMatch(/vendor-free|unserved/);
    expect(await page.content()).not.toContain('sk-typed-in-a-browser-1234');
    await window.close();
  });
});
