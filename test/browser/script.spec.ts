import type { Browser, Page as BrowserPage } from 'playwright-core';
import { clientSnippets, Form, Page } from '../../src/console/web/index.js';
import { type Visit } from '../../src/auth/index.js';
import { AssetStore } from '../../src/console/web/rendering/asset-store.js';
import { ViewEngine } from '../../src/console/web/rendering/view-engine.js';
import { NARROW, startBrowser, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';

const POLICY =
  "default-src 'none'; style-src 'self'; script-src 'self'; font-src 'self'; img-src 'self'; connect-src 'self'";

/** A page of partials, in the frame and under the policy of every page, at an address of a running relay. */
describe('the script of pages', () => {
  let relay: RelayApp;
  let browser: Browser;
  let window: Window;
  const engine = new ViewEngine(new AssetStore());

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });
  afterEach(() => window.close());

  const visit = (url: string): Visit => ({
    visitor: {
      accountId: 'acc_1',
      scopeId: 'acc_1',
      organization: undefined,
      organizations: [],
      email: 'owner@example.com',
      name: 'Owner',
      isAdministrator: false,
      verified: true,
      groupName: undefined,
      timeZone: 'UTC',
      sessionId: 'ses_1',
      ip: '',
      confirmedAt: new Date(0),
      hasPassword: true,
      confirmsAtProvider: false,
      passwordIsTemporary: false,
      secondFactorNeeded: false,
      secondFactorMissing: false,
    },
    csrf: 'x',
    theme: undefined,
    ip: '',
    userAgent: '',
    host: 'relay.example',
    requestId: 'req_1',
    url,
  });

  /** The body is put where an error page has its heading: escaped text cannot do. */
  const html = (body: string, form?: Form<object>): string => {
    const page = new Page('errors/error', {
      title: 'Try',
      layout: 'app',
      data: { heading: 'BODY', paragraphs: [], now: new Date(), ...(form && { form }) },
    });
    const chrome = {
      visit: visit('/try'),
      site: { name: 'Switchboard' },
      signUp: 'open',
      baseUrl: relay.url,
      now: new Date(),
    } as const;
    return engine.render(page, chrome).html.replace('<h1>BODY</h1>', `<h1>Try</h1>${body}`);
  };

  const open = async (
    bodyOf: (query: URLSearchParams) => string,
    options: Parameters<typeof Window.open>[2] & { form?: Form<object> } = {},
  ): Promise<BrowserPage> => {
    const { form, ...context } = options;
    window = await Window.open(browser, relay.url, context);
    await window.context.route(/\/try(\?|$)/, (route) =>
      route.fulfill({
        contentType: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': POLICY },
        body: html(bodyOf(new URL(route.request().url()).searchParams), form),
      }),
    );
    await window.page.goto('/try');
    return window.page;
  };
  const copyLine = (text: string): string =>
    engine.renderBare('copy-line', { id: 'address', text, label: 'Address', copies: 'Copy address' });

  it('copies exactly what is shown, and says so', async () => {
    const page = await open(() => copyLine('https://x/v1?a=1&b="2"'));
    await window.context.grantPermissions(['clipboard-read', 'clipboard-write']);
    const button = page.getByRole('button', { name: 'Copy address' });
    await button.click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe('https://x/v1?a=1&b="2"');
    expect(await page.locator('[aria-live="polite"]').textContent()).toBe('Copied');
    await page.locator('[data-copy="address"] svg').waitFor();
    expect(window.complaints).toEqual([]);
  });

  it('selects what it may not copy, and says what to press', async () => {
    const page = await open(() => copyLine('https://x/v1'));
    await page.evaluate('navigator.clipboard.writeText = () => Promise.reject(new Error("denied"))');
    await page.getByRole('button', { name: 'Copy address' }).click();
    await page.getByText('Press Ctrl+C to copy').waitFor({ state: 'attached' });
    expect(await page.evaluate('getSelection().toString()')).toBe('https://x/v1');
  });

  const rows = (query: URLSearchParams): string => {
    const row = (id: string): string => {
      const isOpen = query.get('open') === id;
      const link = `<a class="toggle" data-toggle href="/try${isOpen ? '' : `?open=${id}`}" aria-expanded="${isOpen}">Call ${id}</a>`;
      const detail = isOpen ? `<tr class="detail"><td>Facts of ${id}</td></tr>` : '';
      return `<tr id="c-${id}"><th scope="row">${link}</th></tr>${detail}`;
    };
    return `<table class="table">${row('a')}${row('b')}</table><input aria-label="Typed">`;
  };

  it('opens and closes a row in place, keeping what else is on the page, with the address of what is shown', async () => {
    const page = await open(rows);
    await page.getByLabel('Typed').fill('kept');
    await page.getByRole('link', { name: 'Call b' }).click();
    await page.getByText('Facts of b').waitFor();
    expect(page.url()).toBe(`${relay.url}/try?open=b`);
    expect(await page.getByRole('link', { name: 'Call b' }).getAttribute('aria-expanded')).toBe('true');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Call b');
    await page.keyboard.press('Enter');
    await page.getByText('Facts of b').waitFor({ state: 'detached' });
    expect(page.url()).toBe(`${relay.url}/try`);
    expect(await page.getByLabel('Typed').inputValue()).toBe('kept');
    expect(window.complaints).toEqual([]);
  });

  it('leaves the row to the browser where there is no script', async () => {
    const page = await open(rows, { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Call b' }).click();
    await page.getByText('Facts of b').waitFor();
    expect(page.url()).toBe(`${relay.url}/try?open=b`);
  });

  it('closes the menu of phones with Escape and goes back to its button', async () => {
    const page = await open(() => '', { viewport: NARROW });
    await page.getByText('Menu', { exact: true }).click();
    await page.getByRole('link', { name: 'Wallet' }).focus();
    await page.keyboard.press('Escape');
    expect(await page.locator('.bar__menu').getAttribute('open')).toBeNull();
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Menu');
  });

  it('starts at the summary after a refused form', async () => {
    const form = Form.empty();
    form.errors['name'] = 'Enter a name.';
    const page = await open(() => engine.renderBare('form-summary', { form }), { form });
    expect(await page.title()).toBe('Error: Try · Switchboard');
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
  });

  it.each([640, 1280])('leaves all tabs inside and their content the full width at %i px', async (width) => {
    const tabs = clientSnippets('https://x', [{ name: 'm', protocols: ['responses', 'messages'], translates: true }]);
    const snippets = engine.renderBare('client-snippets', { tabs, open: 'curl', group: 'client' });
    const page = await open(() => snippets, { viewport: { width, height: 800 } });
    const boxOf = async (selector: string) => (await page.locator(selector).boundingBox())!;
    const row = await boxOf('.tabs');
    expect((await boxOf('.tabs details[open] .code')).width).toBe(row.width);
    for (const summary of await page.locator('.tabs summary').all()) {
      const tab = (await summary.boundingBox())!;
      expect(tab.x + tab.width).toBeLessThanOrEqual(row.x + row.width);
    }
  });

  it('is optional: menu and tabs work without it, and controls that need it are hidden', async () => {
    const tabs = clientSnippets('https://x', [{ name: 'm', protocols: ['responses', 'messages'], translates: true }]);
    const snippets = engine.renderBare('client-snippets', { tabs, open: 'curl', group: 'client' });
    const page = await open(() => snippets, { javaScriptEnabled: false, viewport: NARROW });
    expect(await page.locator('[data-copy]:visible').count()).toBe(0);
    await page.getByText('Menu', { exact: true }).click();
    expect(await page.getByRole('navigation', { name: 'Main (menu)' }).isVisible()).toBe(true);
    await page.getByText('Menu', { exact: true }).click();
    await page.getByText('Python', { exact: true }).click();
    expect(await page.getByText('from openai', { exact: false }).first().isVisible()).toBe(true);
    expect(await page.getByText('Content-Type: application/json').isVisible()).toBe(false);
  });
});
