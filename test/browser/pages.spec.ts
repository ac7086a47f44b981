import type { Browser } from 'playwright-core';
import { accessibilityFaults, NARROW, sidewaysScroll, startBrowser, WIDE, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';

/** Pages that anybody may visit. */
const OPEN = ['/nowhere'];

const SIZES = { wide: WIDE, narrow: NARROW } as const;

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

  describe.each(Object.entries(SIZES))('%s', (_name, viewport) => {
    it.each(OPEN.flatMap((path) => [[path, 'light'] as const, [path, 'dark'] as const]))(
      '%s is accessible in %s, fits, and breaks no rule of its own',
      async (path, colorScheme) => {
        const window = await Window.open(browser, relay.url, { viewport, colorScheme });
        await window.page.goto(path);
        expect(await accessibilityFaults(window.page)).toEqual([]);
        expect(await sidewaysScroll(window.page)).toBe(0);
        expect(window.complaints).toEqual([]);
        await window.close();
      },
    );
  });
});
