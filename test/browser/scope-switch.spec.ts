import type { Browser } from 'playwright-core';
import { expectFine, NARROW, startBrowser, WIDE, Window } from '../support/browser.js';
import { aKeyOf, aMember, anOrganization, join, type TestMember } from '../support/organizations.js';
import { RelayApp } from '../support/relay-app.js';

describe('the scope switch in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestMember;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    const acme = await anOrganization(relay, 'Acme Research');
    ann = await aMember(relay, acme, 'admin', 'Ann');
    await join(relay, await anOrganization(relay, 'W'.repeat(60)), ann.accountId, 'viewer');
    await aKeyOf(relay, acme, 'laptop', ann.memberId);
    await aKeyOf(relay, acme, 'build server');
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  it.each([
    ['wide', WIDE, true],
    ['narrow', NARROW, true],
    ['narrow, without script', NARROW, false],
  ])('switches to the personal account and back in a %s window', async (_, viewport, javaScriptEnabled) => {
    const window = await Window.as(browser, ann.browser, { viewport, javaScriptEnabled });
    const { page } = window;
    const isNarrow = viewport === NARROW;
    const open = async (): Promise<void> => {
      if (isNarrow) await page.click('.bar__menu > summary');
      await page.click(`${isNarrow ? '.bar' : '.side'} .scopes > summary`);
    };
    const choose = async (name: string): Promise<void> => {
      await open();
      await page.click(`${isNarrow ? '.bar' : '.side'} .scopes__list button:has-text("${name}")`);
      await page.waitForURL('/');
    };
    await page.goto('/keys');
    expect(await page.textContent('tbody')).toContain('Service key');
    await choose('Personal account');
    expect(await page.locator('.bar .tag').count()).toBe(0);
    await choose('Acme Research');
    expect(await page.textContent('.bar .tag')).toBe('Acme Research');
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it('is accessible and fits in both themes, when open and with long names', async () => {
    const window = await Window.as(browser, ann.browser);
    await window.page.goto('/keys');
    await window.page.click('.side .scopes > summary');
    await expectFine(window, 'scope-switch');
    await window.page.setViewportSize(NARROW);
    await window.page.click('.bar__menu > summary');
    await window.page.click('.bar .scopes > summary');
    await expectFine(window, 'scope-switch-menu');
    for (const path of ['/keys/new', '/usage-logs/common', '/wallet', '/']) {
      await window.page.goto(path);
      await expectFine(window, `scope${path.replaceAll('/', '-')}`);
    }
    await window.close();
  });
});
