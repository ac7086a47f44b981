import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
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
});
