import type { Browser } from 'playwright-core';
import { evaluate, expectFine, startBrowser, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';

/** Pages that anybody may visit. */
const OPEN = ['/nowhere'];

describe('pages that anybody may visit', () => {
  let relay: RelayApp;
  let browser: Browser;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  it.each(OPEN)('%s is accessible, fits, and breaks no rule of its own', async (path) => {
    const window = await Window.open(browser, relay.url);
    await window.page.goto(path);
    await expectFine(window);
    await window.close();
  });

  it('are named when they do not answer those who look at them', async () => {
    const window = await Window.open(browser, relay.url);
    await window.page.goto('/pricing');
    const waiting = evaluate(window.page, 'new Promise(() => {})', 100);
    await expect(waiting).rejects.toThrow(`${relay.url}/pricing has not answered within 100 ms: new Promise`);
    await window.close();
  });
});
