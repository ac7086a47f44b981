import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { mouse } from '../support/page-input.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const THRESHOLD = /^Balance falls below/;

describe('the page of alerts', () => {
  let relay: RelayApp;
  let browser: Browser;
  let window: Window;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });
  const open = async (javaScriptEnabled: boolean): Promise<void> => {
    const visitor = await signedIn(relay, (await relay.caller()).accountId);
    window = await Window.as(browser, visitor, { javaScriptEnabled });
    await window.page.goto('/account');
    await mouse.press(window.page, 'link', 'Choose alerts');
  };
  afterEach(() => window.close());

  it('is as good as the others: as it is, refused, and saved', async () => {
    await open(true);
    await expectFine(window, 'alerts-usual');
    await mouse.fill(window.page, THRESHOLD, 'much');
    await mouse.press(window.page, 'button', 'Save alerts');
    expect(await window.page.title()).toMatch(/^Error: /);
    await expectFine(window, 'alerts-refused');
    await mouse.fill(window.page, THRESHOLD, '25');
    await mouse.press(window.page, 'button', 'Save alerts');
    await window.page.getByText('Alerts saved').waitFor();
    await expectFine(window);
  });

  it('works without script', async () => {
    await open(false);
    await mouse.fill(window.page, THRESHOLD, '25');
    await mouse.press(window.page, 'button', 'Save alerts');
    await window.page.getByText('Alerts saved').waitFor();
    expect(await window.page.getByLabel(THRESHOLD).inputValue()).toBe('25');
  });
});
