import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Browser, type BrowserContext, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { within } from '../../src/platform/shared/index.js';
import { findChromium } from './chromium.js';
import type { PageVisitor } from './page-visitor.js';

/** The size of the windows that pages are looked at in. */
export const WIDE = { width: 1280, height: 900 };
export const NARROW = { width: 390, height: 844 };

/** A folder for pictures of what is looked at under a name, when somebody wants to see it too. */
const SHOTS = process.env['SHOTS'];

/** A real Chromium. Close it when the tests are over. */
export const startBrowser = (): Promise<Browser> =>
  chromium.launch({ executablePath: findChromium(), args: ['--no-sandbox', '--disable-dev-shm-usage'] });

/** Somebody's window: cookies of its own, and a record of everything that the browser complained of. */
export class Window {
  readonly complaints: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
  ) {}

  /** @param baseUrl what addresses without a host are below of */
  static async open(browser: Browser, baseUrl: string, options: BrowserContextOptions = {}): Promise<Window> {
    const context = await browser.newContext({ baseURL: baseUrl, viewport: WIDE, locale: 'en-GB', ...options });
    context.setDefaultTimeout(10_000);
    const page = await context.newPage();
    const window = new Window(context, page);
    page.on('console', (message) => {
      // That an address answered with an error is the browser's remark, not the page's fault.
      if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
        window.complaints.push(`${page.url()}: ${message.text()}`);
    });
    page.on('pageerror', (error) => window.complaints.push(`${page.url()}: ${error.message}`));
    return window;
  }

  /** The same of whoever this visitor is: with its cookies. */
  static async as(
    browser: Browser,
    { url, cookies }: PageVisitor,
    options: BrowserContextOptions = {},
  ): Promise<Window> {
    const window = await Window.open(browser, url, options);
    await window.context.addCookies([...cookies].map(([name, value]) => ({ name, value, url })));
    return window;
  }

  close(): Promise<void> {
    return this.context.close();
  }
}

/** What takes longer does not come any more: Playwright itself would wait for it until the whole test is given up. */
const EVALUATION_MS = 30_000;

/** What a page makes of an expression. @throws Error that names the page, when it has nothing to say in time */
export async function evaluate<T>(page: Page, expression: string, limitMs = EVALUATION_MS): Promise<T> {
  const response = page.evaluate<T>(expression).then((value) => ({ value }));
  const given = await within(response, limitMs);
  if (given === undefined)
    throw new Error(`${page.url()} has not answered within ${limitMs} ms: ${expression.slice(0, 80)}`);
  return given.value;
}

/** What a test reads of axe's findings. */
interface AxeViolation {
  readonly id: string;
  readonly help: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary?: string }[];
}

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The rules that a theme can break: themes differ in colors alone (`light-dark()` takes nothing else). */
const COLOR_RULES = ['color-contrast', 'link-in-text-block'];

/**
 * Violations that axe finds, one line each: the rule and the element.
 * @param rules default: all that axe enables
 */
async function accessibilityFaults(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated, not added as a script of the page: its own policy forbids that. Once per document.
  if (!(await evaluate<boolean>(page, `typeof axe === 'object'`))) await evaluate(page, axeSource);
  const options = JSON.stringify({ resultTypes: ['violations'], selectors: false, preload: false, runOnly: rules });
  const violations = await evaluate<AxeViolation[]>(page, `axe.run(${options}).then(({ violations }) => violations)`);
  return violations.flatMap(({ id, help, nodes }) =>
    nodes.map(({ html, failureSummary = '' }) => `${id} (${help}): ${html.slice(0, 200)} ${failureSummary}`),
  );
}

/** How many pixels of a page lie to the right of its window. */
export const sidewaysScroll = (page: Page): Promise<number> =>
  evaluate(page, 'document.documentElement.scrollWidth - document.documentElement.clientWidth');

/** Names that run under the badge of their row. */
const coveredNames = (page: Page): Promise<string[]> =>
  evaluate(
    page,
    `[...document.querySelectorAll('tr:has(> th):has(> .badge-cell > .badge)')].filter((row) => {
    const name = document.createRange();
    name.selectNodeContents(row.querySelector(':scope > th'));
    const badge = row.querySelector(':scope > .badge-cell > .badge').getBoundingClientRect();
    return [...name.getClientRects()].some(({ left, right, top, bottom }) =>
      left < badge.right && right > badge.left && top < badge.bottom && bottom > badge.top);
  }).map((row) => row.querySelector(':scope > th').textContent)`,
  );

/** From the narrowest window that must do to the widest that is usual. */
const WIDTHS = [360, NARROW.width, 768, 1024, WIDE.width, 1920];

/**
 * Looks at the page as it stands: accessible in a wide and a narrow window and in both themes, in no window wider than
 * that. The window has its size again afterwards.
 * @param name of the pictures that are taken where SHOTS names a folder for them; without a name there are none
 */
export async function expectFine({ page, complaints }: Window, name?: string): Promise<void> {
  const before = page.viewportSize() ?? WIDE;
  for (const [size, viewport] of Object.entries({ wide: WIDE, narrow: NARROW })) {
    await page.setViewportSize(viewport);
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // Until it has been painted so.
      await evaluate(page, 'new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))');
      if (SHOTS && name !== undefined)
        await page.screenshot({ path: `${SHOTS}/${name}-${size}-${colorScheme}.png`, fullPage: true });
      const look = { page: page.url(), size, colorScheme };
      const faults = await accessibilityFaults(page, colorScheme === 'light' ? undefined : COLOR_RULES);
      expect({ ...look, faults }).toEqual({ ...look, faults: [] });
    }
  }
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 800 });
    expect({ width, sideways: await sidewaysScroll(page) }).toEqual({ width, sideways: 0 });
    expect({ width, covered: await coveredNames(page) }).toEqual({ width, covered: [] });
  }
  await page.setViewportSize(before);
  expect(complaints).toEqual([]);
}
