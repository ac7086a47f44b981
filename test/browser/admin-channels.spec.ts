import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

describe('channel pages in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let operator: PageVisitor;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (options = {}): Promise<Window> => Window.as(browser, operator, options);

  it('are accessible and fit, also with form errors', async () => {
    const caller = await relay.caller();
    await relay.post('/v1/chat/completions', caller.key, { model: 'm', messages: [{ role: 'user', content: 'Hi' }] });
    await relay.onlyCall(caller);
    const window = await open();
    const { page } = window;
    await page.goto('/admin/channels');
    await expectFine(window, 'admin-channels');
    await page.getByRole('link', { name: 'chat-completions-main', exact: true }).click();
    await page.getByRole('button', { name: 'Run check' }).click();
    await page.getByText(/responded in/).waitFor();
    await page.getByText('Routing, timeouts and capabilities').click();
    await page.getByText(/^1 flag set/).waitFor();
    await expectFine(window, 'admin-channel');
    await page.getByLabel('Base URL').fill('nowhere');
    await page.getByRole('button', { name: 'Save channel' }).click();
    await page.getByRole('alert').waitFor();
    await expectFine(window, 'admin-channel-refused');
    await page.getByRole('link', { name: 'Delete channel…' }).click();
    await expectFine(window, 'admin-channel-delete');
    await page.goto('/admin/channels/new');
    await expectFine(window, 'admin-channel-new');
    await page.getByLabel('Public name 1').fill('house-model');
    await page.getByRole('button', { name: 'Add row' }).click();
    await page.getByText('These models do not exist yet.').waitFor();
    await expectFine(window, 'admin-channel-new-models');
    await window.close();
  }, 180_000);

  it('add a channel with several models without JavaScript', async () => {
    const window = await open({ javaScriptEnabled: false });
    const { page } = window;
    await page.goto('/admin/channels/new');
    await page.getByRole('textbox', { name: 'Name', exact: true }).fill('added by hand');
    await page.getByLabel('Base URL').fill(relay.upstream.url);
    await page.getByLabel('Public name 1').fill('unserved');
    await page.getByRole('button', { name: 'Add row' }).click();
    expect(await page.evaluate('document.activeElement.id')).toBe('public-2');
    await page.getByLabel('Public name 2').fill('free');
    await page.getByLabel('Upstream name 2').fill('vendor-free');
    await page.getByRole('button', { name: 'Add channel' }).click();
    await page.getByText('Enter a credential, or choose “No credential”.').first().waitFor();
    await page.getByRole('textbox', { name: 'Credential 1' }).fill('sk-typed-in-a-browser-1234');
    await page.getByRole('button', { name: 'Run check' }).click();
    const result = page.getByRole('status').filter({ hasText: 'responded in' });
    await result.waitFor();
    // The browser scrolled to the result, and the credential is still there.
    const box = (await result.boundingBox())!;
    expect([box.y > 0, box.y + box.height < page.viewportSize()!.height]).toEqual([true, true]);
    await page.getByLabel('Base URL').press('Enter');
    await page.getByText('Channel added').waitFor();
    expect(await page.locator('h1').innerText()).toMatch(/Healthy/);
    expect(await page.getByLabel('Upstream name 2').inputValue()).toMatch(/vendor-free|unserved/);
    expect(await page.content()).not.toContain('sk-typed-in-a-browser-1234');
    await window.close();
  });
});
