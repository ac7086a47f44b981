import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import { parseUsd } from '../../src/platform/shared/index.js';
import { RedemptionService } from '../../src/wallet/index.js';
import { startBrowser, Window } from '../support/browser.js';
import { eventually } from '../support/eventually.js';
import { mouse } from '../support/page-input.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

/** How soon calls must follow what was done on a page. */
const FOLLOWS_WITHIN_MS = 1000;

describe.each<[string, BrowserContextOptions]>([
  ['with script', {}],
  ['without script', { javaScriptEnabled: false }],
])('a key in use, %s', (_name, options) => {
  let relay: RelayApp;
  let browser: Browser;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  /** A window of whoever owns the key. */
  const windowOf = async ({ accountId }: TestCaller): Promise<Window> =>
    Window.as(browser, await signedIn(relay, accountId), options);
  /** A call that costs $0.02. */
  const call = async ({ key }: TestCaller): Promise<{ status: number; text: string }> => {
    const response = await relay.post('/v1/chat/completions', key, {
      model: 'fee',
      messages: [{ role: 'user', content: 'x' }],
    });
    return { status: response.status, text: await response.text() };
  };
  const passes = (caller: TestCaller): Promise<void> =>
    eventually(async () => expect((await call(caller)).status).toBe(200), FOLLOWS_WITHIN_MS);
  const isRefused = (caller: TestCaller, words: string): Promise<void> =>
    eventually(async () => expect((await call(caller)).text).toContain(words), FOLLOWS_WITHIN_MS);
  const text = (page: Page): Promise<string> => page.getByRole('main').innerText();

  it('reports the key whose quota is used up, and accepts calls within a second after the quota is raised', async () => {
    const caller = await relay.caller({ credit: '1', quota: '0.04' });
    const window = await windowOf(caller);
    await passes(caller);
    await passes(caller);
    const refused = await call(caller);
    expect(refused.text).toMatch(/insufficient quota.*test key/);
    await window.page.goto('/keys');
    expect(await text(window.page)).toContain('Quota used up');
    await mouse.press(window.page, 'link', /Edit/);
    await mouse.fill(window.page, 'Raise the quota by', '0.02');
    await mouse.press(window.page, 'button', 'Raise quota');
    await passes(caller);
    expect((await call(caller)).status).toBe(429);
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it('goes on within a second when a code is redeemed for an empty wallet', async () => {
    const caller = await relay.caller({ credit: '0.02' });
    const window = await windowOf(caller);
    await passes(caller);
    await isRefused(caller, 'insufficient quota');
    await window.page.goto('/wallet');
    const {
      codes: [code = ''],
    } = await relay.get(RedemptionService).create({ amount: parseUsd('0.02'), count: 1 });
    await mouse.fill(window.page, 'Redemption code', code);
    await mouse.press(window.page, 'button', 'Redeem');
    await passes(caller);
    await window.page.reload();
    expect(await text(window.page)).toMatch(/Balance\s+\$0\.00/);
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it('is refused while it is disabled, passes when it is enabled, and leaves its calls in the log when it is deleted', async () => {
    const caller = await relay.caller({ credit: '1' });
    const window = await windowOf(caller);
    await passes(caller);
    const edit = `/keys/${caller.keyId}/edit`;
    await window.page.goto(edit);
    await mouse.press(window.page, 'button', 'Disable key');
    await isRefused(caller, 'Invalid token');
    await window.page.goto(edit);
    await mouse.press(window.page, 'button', 'Enable key');
    await passes(caller);
    await window.page.goto(edit);
    await mouse.press(window.page, 'link', 'Delete key');
    await mouse.fill(window.page, /Type test key/, 'test key');
    await mouse.press(window.page, 'button', 'Delete key');
    await isRefused(caller, 'Invalid token');
    await window.page.goto('/usage-logs/common');
    expect(await window.page.getByText('Completed', { exact: true }).count()).toBeGreaterThanOrEqual(2);
    expect(window.complaints).toEqual([]);
    await window.close();
  });
});
