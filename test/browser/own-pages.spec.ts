import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { Clock, newId, parseUsd } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import { endlessStream, eventsAround, eventsIn } from '../support/scripted-responses.js';
import { end, gate, sse, streamHead, waitFor } from '../support/scripted-steps.js';
import { eventually } from '../support/eventually.js';
import { mouse } from '../support/page-input.js';
import { catalogWithGemini, RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

/** As long as a name may be on a page without being cut, without a place to break it at. */
const LONG = 'a-name-of-sixty-characters-'.padEnd(60, 'x');
const LIST = '/usage-logs/common';

describe('the pages of keys, wallet and log, with long names, large numbers and every state', () => {
  let relay: RelayApp;
  let browser: Browser;
  let window: Window;
  let caller: TestCaller;
  let callId: string;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([
      RelayApp.start({}, { SUPPORT_CONTACT: 'operator@example.com' }),
      startBrowser(),
    ]);
    await relay.applyCatalog(catalogWithGemini(relay.upstream.url));
    caller = await relay.caller({ credit: '10000', quota: '20' });
    await fill();
    window = await Window.as(browser, await signedIn(relay, caller.accountId));
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  /** A real call, rows of every result, keys of every state. */
  async function fill(): Promise<void> {
    const { accountId, keyId, key } = caller;
    await relay.post('/v1/chat/completions', key, { model: 'm', messages: [{ role: 'user', content: 'x' }] });
    ({ id: callId } = await relay.onlyCall(caller));
    const keys = relay.get(ApiKeyService);
    const expiresAt = new Date(Date.now() + 86_400_000);
    await keys.create({ accountId, name: LONG, models: ['m', 'free'], expiresAt });
    const { id: disabled } = await keys.create({ accountId, name: 'disabled', budgets: { daily: parseUsd('1') } });
    await keys.disable(disabled);
    const { id: deleted } = await keys.create({ accountId, name: 'deleted' });
    await keys.delete(deleted);
    const sql = relay.get(DataSource);
    const now = relay.get(Clock).now();
    const rows = [
      {
        status: 'failed',
        errorReason: 'upstream_error',
        errorMessage: `It broke: ${LONG}`,
        cost: 0n,
        billingBasis: 'free',
      },
      {
        status: 'failed',
        errorReason: 'timeout',
        cost: 0n,
        billingBasis: 'free',
        completionTokens: null,
        promptTokens: null,
      },
      { status: 'cancelled', errorReason: 'context canceled', billingBasis: 'partial' },
      {
        status: 'refused',
        errorReason: 'insufficient quota',
        errorMessage: 'insufficient quota: no.',
        cost: 0n,
        billingBasis: 'free',
      },
      { model: LONG, promptTokens: 1_234_567, completionTokens: 7_654_321, cost: 123_456_789_123n },
    ];
    for (const [index, row] of rows.entries()) {
      const at = now - (index + 1) * 60_000;
      await aCallRow(sql, { id: newId('req', at), createdAt: new Date(at).toISOString(), accountId, keyId, ...row });
    }
  }

  it.each([
    '/keys',
    '/keys?state=deleted',
    '/keys?q=nothing-like-it',
    '/keys/new',
    '/wallet',
    '/search',
    '/search?q=key',
    LIST,
    `${LIST}?range=30d&by=model`,
    `${LIST}?range=custom`,
    `${LIST}?model=nothing-like-it`,
    `${LIST}/req_00000000000000000000000000000000`,
  ])('%s', async (path) => {
    await window.page.goto(path);
    await expectFine(window);
  });

  it.each(['edit', 'delete', 'leaked'])('of a key: %s', async (name) => {
    await window.page.goto(`/keys/${caller.keyId}/${name}`);
    await expectFine(window);
  });

  it('of a call, opened in the list and by itself', async () => {
    await window.page.goto(`${LIST}?open=${callId}`);
    await expectFine(window);
    await window.page.goto(`${LIST}/${callId}`);
    await expectFine(window);
  });

  it('of a key that was just made, and of forms that were refused', async () => {
    await window.page.goto('/keys/new');
    await mouse.press(window.page, 'button', 'Create key');
    expect(await window.page.title()).toMatch(/^Error: /);
    await expectFine(window);
    await mouse.fill(window.page, 'Name', LONG);
    await mouse.press(window.page, 'button', 'Create key');
    expect(await window.page.getByRole('main').innerText()).toMatch(/sk-\w{48}/);
    await expectFine(window);
    await window.page.goto('/wallet');
    await mouse.fill(window.page, 'Redemption code', 'no code at all');
    await mouse.press(window.page, 'button', 'Redeem');
    await expectFine(window);
  });

  it('with the search, opened by Ctrl-K and used by keyboard alone', async () => {
    const { page } = window;
    await page.goto('/wallet');
    await page.keyboard.press('Control+k');
    const dialog = page.getByRole('dialog', { name: 'Search' });
    await dialog.getByRole('link', { name: 'Usage logs' }).waitFor();
    await expectFine(window);
    await page.keyboard.type('acc');
    await dialog.getByText('Pages').waitFor();
    await dialog.getByRole('link', { name: 'Usage logs' }).waitFor({ state: 'detached' });
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    await page.waitForURL(/\/account$/);
    await page.getByRole('link', { name: 'Search' }).first().click();
    await dialog.waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
    expect(window.complaints).toEqual([]);
  });

  describe('the playground', () => {
    const output = (): Promise<string> => window.page.locator('#output').innerText();
    const charge = (): Promise<string> => window.page.locator('#charge a').innerText();

    it('streams a call, shows the price before and after, and can be stopped', async () => {
      const { page } = window;
      await page.goto('/playground');
      await expectFine(window);
      await page.getByLabel('Model').selectOption('m');
      await mouse.fill(page, 'Message', 'Say hello');
      await page.locator('#code').getByText('"Say hello"').first().waitFor();
      expect(await page.locator('#estimate').innerText()).toMatch(/^Holds \$0\.\d{6}/);
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await charge()).toBe('Call details');
      expect(await output()).toBe('Hello');
      expect(await page.locator('#charge').innerText()).toContain('Charged $0.000029');
      await expectFine(window);

      relay.upstream.scriptNext(endlessStream('responses'));
      await mouse.fill(page, 'Message', 'Say more');
      await page.getByRole('button', { name: 'Send' }).click();
      await eventually(async () => expect(await output()).not.toBe(''));
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator('#charge strong').waitFor();
      await page.getByRole('link', { name: 'Call details' }).click();
      await page.getByText('The client closed the connection').first().waitFor();
    });

    it('streams calls in Gemini, which are charged as logged, and stops them', async () => {
      const { page } = window;
      await page.goto('/playground?model=m');
      await page.getByLabel('Protocol').selectOption('gemini');
      await mouse.fill(page, 'Message', 'Say hello');
      await page.locator('#code').getByText(':generateContent').first().waitFor();
      await page.getByRole('button', { name: 'Send' }).click();
      expect(await charge()).toBe('Call details');
      expect(await output()).toBe('Hello');
      expect(await page.locator('#raw').textContent()).toContain('usageMetadata');
      const call = (await relay.calls(caller)).find(({ protocol }) => protocol === 'gemini');
      expect(call).toMatchObject({ stream: true, status: 'succeeded' });
      expect(await page.locator('#charge').innerText()).toContain(`Charged $${Number(call?.['cost']) / 1e9}`);
      await expectFine(window);

      relay.upstream.scriptNext(endlessStream('gemini'));
      await mouse.fill(page, 'Message', 'Say more');
      await page.getByRole('button', { name: 'Send' }).click();
      await eventually(async () => expect(await output()).not.toBe(''));
      await page.getByRole('button', { name: 'Stop' }).click();
      await page.locator('#charge strong').waitFor();
      await page.getByRole('link', { name: 'Call details' }).click();
      await page.getByText('The client closed the connection').first().waitFor();
    });

    it('sends a conversation, and keeps a message that is typed while a response streams', async () => {
      const { page } = window;
      const turns = (): Promise<string[]> => page.locator('#conversation li').allInnerTexts();
      const message = page.getByLabel('Message', { exact: true });
      await page.goto('/playground');
      await page.getByLabel('Model').selectOption('m');
      const { until, behind } = eventsAround(eventsIn('responses', { text: ['Hel', 'lo'] }), 'Hel');
      const finished = gate();
      relay.upstream.scriptNext([streamHead(), sse(until), waitFor(finished), sse(behind), end()]);
      await message.fill('One');
      await page.keyboard.press('Control+Enter');
      await eventually(async () => expect(await output()).toBe('Hel'));
      await message.fill('Two');
      await page.keyboard.press('Control+Enter');
      expect(await output()).toBe('Hel');
      finished.open();
      expect(await charge()).toBe('Call details');
      expect(await output()).toBe('Hello');
      expect(await message.inputValue()).toBe('Two');
      expect(await turns()).toEqual(['You\nOne', 'Model\nHello']);

      await message.press('Control+Enter');
      await eventually(async () => expect(await turns()).toHaveLength(4));
      expect(await message.inputValue()).toBe('');
    });

    it('shows the whole response without script', async () => {
      const plain = await Window.as(browser, await signedIn(relay, caller.accountId), { javaScriptEnabled: false });
      await plain.page.goto('/playground?model=m');
      await mouse.fill(plain.page, 'Message', 'Say hello');
      await mouse.press(plain.page, 'button', 'Send');
      expect(await plain.page.locator('#output').innerText()).toBe('Hello');
      expect(await plain.page.getByRole('main').innerText()).toContain('Charged $0.000029');
      await plain.close();
    });
  });
});
