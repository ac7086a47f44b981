import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

const LONGEST_NAME = 'w'.repeat(60);

const channels = (baseUrl: string): string => `
models:
  - { name: routed, context_window: 200000, max_output_tokens: 64000, groups: [default, saver],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }, { from_prompt_tokens: 100000, input: 2, output: 20 }] }
channels:
  - { name: ${LONGEST_NAME}, protocol: responses, base_url: "${baseUrl}", credentials: [a], weight: 300, models: { routed: vendor-name } }
  - { name: other, protocol: responses, base_url: "${baseUrl}", credentials: [b], weight: 100, models: { routed: vendor-name } }
  - { name: translating, protocol: messages, base_url: "${baseUrl}", credentials: [c], models: { routed: vendor-name } }
  - { name: savers, protocol: responses, base_url: "${baseUrl}", credentials: [d], groups: [saver], models: { routed: vendor-name } }
`;

describe('the routing dry run in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let operator: PageVisitor;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    await relay.applyCatalog(channels(relay.upstream.url));
    ann = await relay.caller({ credit: '10000' });
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = async (): Promise<Window> => {
    const window = await Window.as(browser, operator);
    await window.page.goto('/admin/routing');
    return window;
  };

  it('shows the route of a call, and why other channels are skipped', async () => {
    const window = await open();
    const { page } = window;
    await page.getByLabel('User').fill(ann.email);
    await page.getByLabel('Model', { exact: true }).selectOption('routed');
    await page.getByRole('button', { name: 'Run dry run' }).click();
    await page.getByLabel('API key').selectOption(ann.keyId);
    await page.getByLabel('Prompt tokens').fill('120,000');
    await page.getByRole('button', { name: 'Run dry run' }).click();
    const response = page.getByRole('region', { name: 'Result' });
    expect(await response.getByRole('note').innerText()).toContain(
      `A call to routed by ${ann.email} with the API key “test key” would be routed to ${LONGEST_NAME} at ${relay.upstream.url} (75%) or other at ${relay.upstream.url} (25%).`,
    );
    expect(await response.getByRole('note').innerText()).toContain(
      'In tier 1, channels with the client’s protocol (Responses) are tried first.',
    );
    const table = response.getByRole('table', { name: /Channels in routing order/ });
    const rows = await table.getByRole('row').allInnerTexts();
    expect(
      rows.slice(1).map((text) => /75%|25%|Translated from Responses to Messages|It serves only saver/.exec(text)?.[0]),
    ).toEqual(['75%', '25%', 'Translated from Responses to Messages', 'It serves only saver']);
    expect(await response.getByText('Prompts of 100,000 tokens or more').count()).toBe(1);
    await expectFine(window, 'routing');
    await window.close();
  });

  it('shows why a call would be rejected', async () => {
    const poor = await relay.caller({ credit: '0' });
    const window = await open();
    const { page } = window;
    await page.goto(`/admin/routing?user=${poor.email}&model=routed&protocol=messages`);
    const response = page.getByRole('region', { name: 'Result' });
    expect(await response.getByRole('note').innerText()).toContain('would be rejected.');
    expect(await response.getByRole('note').innerText()).toContain('your wallet has $0 left');
    await expectFine(window, 'routing-refused');
    await window.close();
  });

  it('reports an unknown email address, and keeps what was typed', async () => {
    const window = await open();
    const { page } = window;
    await page.getByLabel('User').fill('nobody@example.com');
    await page.getByLabel('Prompt tokens').fill('many');
    await page.getByRole('button', { name: 'Run dry run' }).click();
    expect(await page.title()).toMatch(/^Error: /);
    expect(await page.getByLabel('User').inputValue()).toBe('nobody@example.com');
    expect(await page.getByLabel('Prompt tokens').inputValue()).toBe('many');
    expect(await page.getByText('Enter the email address of an existing user.').count()).toBe(2);
    await expectFine(window);
    await window.close();
  });
});
