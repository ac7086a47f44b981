import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { ApiKeyService, KeyWatch } from '../../src/keys/index.js';
import { newId, parseUsd } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const HOUR_MS = 3_600_000;
const HOME = '203.0.113.7';
const AWAY = '2001:db8:aaaa:bbbb:cccc:dddd:eeee:1234';

describe('the page of a key in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let visitor: PageVisitor;
  let keyId: string;
  const now = Date.now();

  const call = (ms: number, overrides: Partial<Parameters<typeof aCallRow>[1]> = {}): Promise<void> =>
    aCallRow(relay.get(DataSource), {
      id: newId('req', ms),
      accountId: ann.accountId,
      keyId,
      createdAt: new Date(ms).toISOString(),
      ip: HOME,
      ...overrides,
    });

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    ann = await relay.caller({ credit: '10000' });
    visitor = await signedIn(relay, ann.accountId);
    ({ id: keyId } = await relay.get(ApiKeyService).create({
      accountId: ann.accountId,
      name: 'W'.repeat(60),
      quota: parseUsd('1000'),
      budgets: { daily: parseUsd('100') },
    }));
    for (let index = 0; index < 60; index += 1)
      await call(now - 2 * HOUR_MS - index * 2.4 * HOUR_MS, {
        model: `vendor/model-${index % 7}`,
        cost: BigInt(index) * 12_345_678n,
        ...(index % 9 === 0 && { status: 'failed', errorReason: 'upstream_error', billingBasis: 'free', cost: 0n }),
      });
    await call(now - 60_000, { ip: AWAY, cost: 9_999_123_456_789n });
    await relay.get(KeyWatch).scan();
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (options = {}): Promise<Window> => Window.as(browser, visitor, options);

  it('is accessible and fits in both themes, with notices, long names and large amounts', async () => {
    const window = await open();
    const pages = { 'key-use': `/keys/${keyId}?range=30d`, 'key-unused': `/keys/${ann.keyId}`, 'key-home': '/' };
    for (const [name, path] of Object.entries(pages)) {
      await window.page.goto(path);
      await expectFine(window, name);
    }
    await window.close();
  }, 180_000);

  it('works without script: another range, a notice acknowledged, the key disabled', async () => {
    const window = await open({ javaScriptEnabled: false });
    const { page } = window;
    await page.goto(`/keys/${keyId}`);
    await page.getByRole('link', { name: '24 hours' }).click();
    expect(await page.getByRole('link', { name: '24 hours' }).getAttribute('aria-current')).toBe('true');
    await page.getByRole('button', { name: 'It was me' }).click();
    expect(await page.getByText('Notice dismissed').count()).toBe(1);
    expect(await page.getByText('Used from a new network').count()).toBe(0);
    await page
      .getByRole('region', { name: 'Permissions and limits' })
      .getByRole('button', { name: 'Disable key' })
      .click();
    expect(await page.getByRole('heading', { level: 1 }).textContent()).toContain('Disabled');
    await page.getByRole('button', { name: 'Enable key' }).click();
    await window.close();
  });
});
