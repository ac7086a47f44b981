import type { Browser } from 'playwright-core';
import { expectFine, NARROW, startBrowser, WIDE, Window } from '../support/browser.js';
import { mouse } from '../support/hands.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

/** A folder for pictures of the page, when somebody wants to look at it. */
const SHOTS = process.env['SHOTS'];
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
    window = await Window.open(browser, relay.url, { javaScriptEnabled });
    const visitor = await signedIn(relay, (await relay.caller()).accountId);
    await window.context.addCookies([...visitor.cookies].map(([name, value]) => ({ name, value, url: relay.url })));
    await window.page.goto('/account');
    await mouse.press(window.page, 'link', 'Choose alerts');
  };
  afterEach(() => window.close());
  const picture = async (name: string): Promise<void> => {
    for (const [size, viewport] of Object.entries({ WIDE, NARROW })) {
      await window.page.setViewportSize(viewport);
      if (SHOTS) await window.page.screenshot({ path: `${SHOTS}/alerts-${name}-${size}.png`, fullPage: true });
    }
  };

  it('is as good as the others: as it is, refused, and saved', async () => {
    await open(true);
    await expectFine(window);
    await picture('usual');
    await mouse.fill(window.page, THRESHOLD, 'much');
    await mouse.press(window.page, 'button', 'Save alerts');
    expect(await window.page.title()).toMatch(/^Error: /);
    await expectFine(window);
    await picture('refused');
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
