import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

/** A name of a key that breaks nowhere by itself. */
const UNBROKEN = 'W'.repeat(64);
/** The longest names that people may give, numbers of seven digits, and more models than fit on a screen. */
const LONG = 'a-name-as-long-as-they-may-be-'.repeat(2);
const catalogWith = (base: string): string => `
groups: [{ name: default, multiplier: 1 }]
models:
  - name: ${LONG}
    display_name: ${LONG}
    owned_by: ${LONG}
    context_window: 9999999
    max_output_tokens: 1234567
    groups: [default]
    capabilities: [vision, reasoning]
    request_fee: 0.000000001
    effort_multipliers: { high: 1.234567 }
    prices:
      - { from_prompt_tokens: 0, input: 1234.123456789, cache_read: 0.123456789, output: 9999.987654321 }
      - { from_prompt_tokens: 1234567, input: 2345.123456789, cache_read: 0.123456789, output: 9999.987654321 }
channels:
  - { name: long, protocol: responses, base_url: ${base}, auth: none, groups: [default], models: [${LONG}] }
`;

const OPEN = [
  '/',
  '/pricing',
  '/pricing?q=nothing-like-it',
  `/pricing/${LONG}`,
  '/pricing/m',
  '/docs',
  '/docs?q=quota',
];
const OWN = ['/', '/pricing', '/docs', '/docs/responses', '/docs/tools', '/docs/translation'];
/** Whatever is folded away is looked at too. Tells whether anything was. */
const UNFOLD = `[...document.querySelectorAll('details:not([open])')].map((details) => (details.open = true)).length > 0`;

describe('pages that sum up and explain', () => {
  let relay: RelayApp;
  let browser: Browser;
  /** Of each visitor, one for all of their pages. */
  let windows: Record<'nobody' | 'somebody' | 'a newcomer', Window>;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([
      RelayApp.start({}, { SUPPORT_CONTACT: 'operator@example.com' }),
      startBrowser(),
    ]);
    await relay.applyCatalog(catalogWith(relay.upstream.url));
    const user = await relay.caller({ credit: '10000', quota: '0.01' });
    await relay.get(DataSource).query('UPDATE api_keys SET name = $2 WHERE id = $1', [user.keyId, UNBROKEN]);
    for (const model of [LONG, 'm', 'm', 'm'])
      await (await relay.post('/v1/responses', user.key, { model, input: 'hello', max_output_tokens: 20 })).text();
    for (let call = 0; call < 3; call += 1)
      await (await relay.post('/v1/responses', user.key, { model: 'm', input: 'x'.repeat(40_000) })).text();
    const newcomer = await relay.caller({ credit: '0' });
    windows = {
      nobody: await Window.open(browser, relay.url),
      somebody: await Window.as(browser, await signedIn(relay, user.accountId)),
      'a newcomer': await Window.as(browser, await signedIn(relay, newcomer.accountId)),
    };
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const visits = [
    ...OPEN.map((path) => ['nobody', path] as const),
    ...OWN.map((path) => ['somebody', path] as const),
    ['a newcomer', '/'] as const,
  ];

  it.each(visits)(
    'shown to %s, %s is accessible, fits, and breaks no rule of its own',
    async (who, path) => {
      const window = windows[who];
      await window.page.goto(path);
      await expectFine(window);
      if (await window.page.evaluate<boolean>(UNFOLD)) await expectFine(window);
    },
    120_000,
  );

  it('work without script: prices are narrowed, a model is opened, a protocol chosen', async () => {
    const window = await Window.open(browser, relay.url, { javaScriptEnabled: false });
    await window.page.goto('/');
    await window.page.getByRole('link', { name: 'See models and prices' }).click();
    await window.page.getByLabel('Search models').fill('only-chat');
    await window.page.getByRole('button', { name: 'Apply' }).click();
    expect(new URL(window.page.url()).searchParams.get('q')).toBe('only-chat');
    expect(await window.page.locator('tbody tr').count()).toBe(1);
    await window.page.getByLabel('Search models').fill('');
    await window.page.getByLabel('Group').selectOption('saver');
    await window.page.getByRole('button', { name: 'Apply' }).click();
    await window.page.getByRole('link', { name: 'm', exact: true }).click();
    expect(await window.page.locator('h1').textContent()).toContain('m');
    await window.page.getByText('Messages', { exact: true }).last().click();
    expect(await window.page.locator('details[open] code').textContent()).toContain('/v1/messages');
    await window.close();
  });

  it('put exactly what is shown on the clipboard', async () => {
    const window = await Window.open(browser, relay.url, { permissions: ['clipboard-read', 'clipboard-write'] });
    await window.page.goto('/pricing');
    await window.page.getByRole('button', { name: `Copy ${LONG}` }).click();
    expect(await window.page.evaluate('navigator.clipboard.readText()')).toBe(LONG);
    await window.page.goto('/');
    await window.page.getByRole('button', { name: 'Copy Store the key' }).click();
    const shown = await window.page.locator('.code code').first().textContent();
    expect(await window.page.evaluate('navigator.clipboard.readText()')).toBe(shown);
    await window.close();
  });
});
