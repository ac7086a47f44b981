import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { ApiKeyService } from '../../src/keys/index.js';
import { parseUsd } from '../../src/platform/shared/index.js';
import { expectFine, NARROW, startBrowser, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const LONGEST_NAME = 'W'.repeat(60);

/** A key with as much on it as there can be. */
const longestKey = () => ({
  name: LONGEST_NAME,
  quota: parseUsd('10000'),
  budgets: { daily: parseUsd('1000.000001'), weekly: parseUsd('5000'), monthly: parseUsd('10000') },
  models: ['m', 'gone-'.repeat(12)],
  groupName: 'gone-group',
  expiresAt: new Date(Date.now() + 3 * 86_400_000),
  limits: { requestsPerMinute: 1_000_000_000, tokensPerMinute: 1_000_000_000, concurrency: 1_000_000_000 },
  networks: ['2001:db8:aaaa:bbbb:cccc:dddd:eeee:1230/124', '2001:db8:ffff:ffff:ffff:ffff:ffff:0/112', '203.0.113.0/24'],
});

describe('the pages of keys in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let visitor: PageVisitor;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    ann = await relay.caller({ credit: '10000' });
    visitor = await signedIn(relay, ann.accountId);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (options = {}): Promise<Window> => Window.as(browser, visitor, options);

  it('are accessible and fit, with the longest names and amounts that there are', async () => {
    const keys = relay.get(ApiKeyService);
    const { accountId } = ann;
    const { id } = await keys.create({ accountId, ...longestKey() });
    await relay.applyCatalog('limits: { key: { requests_per_minute: 1000000000, concurrency: 100 } }');
    const idle = await keys.create({ accountId, name: 'idle', quota: parseUsd('0') });
    const sql = relay.get(DataSource);
    const addresses = ['192.0.2.7', '2001:db8:aaaa:bbbb:cccc:dddd:eeee:1234'];
    for (const [number, ip] of addresses.entries())
      await aCallRow(sql, {
        id: `req_${number}`,
        accountId,
        keyId: id,
        ip,
        promptTokens: 9_999_999,
        cost: 9_999_123_456_789n,
      });
    const window = await open();
    const pages = {
      keys: '/keys',
      'keys-none': '/keys?q=nothing&group=default&state=expired',
      'key-new': '/keys/new',
      'key-edit': `/keys/${id}/edit`,
      'key-delete': `/keys/${id}/delete`,
      'key-leaked': `/keys/${id}/leaked`,
      'key-unknown': '/keys/key_none/edit',
    };
    for (const [name, path] of Object.entries(pages)) {
      await window.page.goto(path);
      await expectFine(window, name);
    }
    await window.page.goto('/keys/new');
    await window.page.getByLabel('Quota').fill('a lot');
    await window.page.getByText('Budgets, rate limits, models and networks').click();
    await window.page.getByLabel('Calls per minute').fill('many');
    await window.page.getByLabel('Allowed networks').fill('203.0.113.7\nthe office');
    await window.page.getByRole('button', { name: 'Create key' }).click();
    await window.page.getByRole('alert').waitFor();
    await expectFine(window, 'key-refused');
    await window.page.goto('/keys/new');
    await window.page.getByRole('textbox', { name: 'Name' }).fill('made');
    await window.page.getByText('Budgets, rate limits, models and networks').click();
    await window.page.getByLabel('Allowed networks').fill('127.0.0.1\n2001:db8:aaaa:bbbb:cccc:dddd:eeee:1230/124');
    await window.page.getByRole('button', { name: 'Create key' }).click();
    await window.page.getByText('Copy it now').waitFor();
    await expectFine(window, 'key-created');
    await keys.delete(idle.id);
    await window.page.goto(`/keys/${idle.id}/edit`);
    await expectFine(window, 'key-deleted');
    await window.close();
  }, 180_000);

  it('give a name all the room that its badge leaves in a narrow window', async () => {
    const name = 'M'.repeat(64);
    await relay.get(ApiKeyService).create({ accountId: ann.accountId, name });
    const window = await open({ viewport: NARROW });
    await window.page.goto('/keys');
    // Six lines of it, and not one of three letters below the other.
    const { height } = (await window.page.getByRole('link', { name, exact: true }).boundingBox())!;
    expect(height).toBeLessThan(200);
    await window.close();
  });

  it('copy exactly the key that is shown, and never show it again: not by going back, nor by reloading', async () => {
    const window = await open();
    const { page, context } = window;
    await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: relay.url });
    await page.goto('/keys/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('copied');
    await page.getByRole('button', { name: 'Create key' }).click();
    const secret = (await page.locator('#newkey').textContent()) ?? '';
    expect(secret).toMatch(/^sk-[0-9A-Za-z]{48}$/);
    await page.getByRole('button', { name: 'Copy key' }).click();
    await page.getByText('Copied').first().waitFor();
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(secret);
    await page.getByText('Codex', { exact: true }).click();
    await page.getByText('wire_api').waitFor();
    // Sends the form again: the response leads to the key without its secret.
    await page.reload();
    expect(await page.getByText('This key was already created').isVisible()).toBe(true);
    expect(await page.content()).not.toContain(secret.slice(7, -4));
    // Nothing of it was kept: the browser says so, or the page that it shows does.
    await page.goBack().catch(() => undefined);
    expect(await page.content()).not.toContain(secret.slice(7, -4));
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it.each([true, false])('do everything with script: %s', async (javaScriptEnabled) => {
    const window = await open({ javaScriptEnabled });
    const { page } = window;
    const name = `script ${javaScriptEnabled}`;
    await page.goto('/keys');
    await page.getByRole('link', { name: 'Create key' }).click();
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByLabel('Quota').fill('5');
    await page.getByText('Budgets, rate limits, models and networks').click();
    await page.getByLabel('m', { exact: true }).check();
    await page.getByLabel('Calls per minute').fill('1,000');
    await page.getByLabel('Allowed networks').fill('127.0.0.0/8\n::1');
    await page.getByRole('button', { name: 'Create key' }).click();
    await page.getByText('Anthropic SDK', { exact: true }).click();
    expect(await page.getByText('auth_token=').first().isVisible()).toBe(true);
    await page.getByRole('link', { name: 'I’ve saved the key' }).click();
    await page.getByRole('link', { name: `Edit ${name}` }).click();
    expect(await page.getByLabel('m', { exact: true }).isChecked()).toBe(true);
    expect(await page.getByLabel('Allowed networks').inputValue()).toBe('127.0.0.0/8\n::1');
    await page.getByLabel('Raise the quota by').fill('1,000');
    await page.getByRole('button', { name: 'Raise quota' }).click();
    expect(
      await page
        .getByText('Spending limits: $1,005.00 total. Rate limits: 1,000 calls/min · only from 127.0.0.0/8, ::1.')
        .isVisible(),
    ).toBe(true);
    await page.getByRole('link', { name: `Edit ${name}` }).click();
    await page.getByRole('link', { name: 'Replace leaked key' }).click();
    await page.getByRole('button', { name: 'Disable this key now' }).click();
    await page.getByRole('button', { name: 'Create key' }).click();
    expect(await page.getByRole('heading', { name: `Key “${name} 2” is ready` }).isVisible()).toBe(true);
    await page.goto('/keys?state=disabled');
    await page.getByRole('link', { name: `Delete ${name}` }).click();
    await page.getByRole('button', { name: 'Delete key' }).click();
    expect(await page.getByText(`Key “${name}” deleted`).isVisible()).toBe(true);
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it.each([true, false])(
    'change several keys at once with script: %s',
    async (javaScriptEnabled) => {
      const kind = javaScriptEnabled ? 'scripted' : 'plain';
      const keys = relay.get(ApiKeyService);
      for (const number of [1, 2]) await keys.create({ accountId: ann.accountId, name: `${kind} ${number}` });
      const window = await open({ javaScriptEnabled });
      const { page } = window;
      await page.goto(`/keys?q=${kind}`);
      expect(await page.getByRole('button', { name: 'Disable' }).isVisible()).toBe(false);
      await page.getByLabel(`Select ${kind} 1`).check();
      expect(await page.getByRole('button', { name: 'Select all' }).isVisible()).toBe(javaScriptEnabled);
      if (javaScriptEnabled) await page.getByRole('button', { name: 'Select all' }).click();
      else await page.getByLabel(`Select ${kind} 2`).check();
      if (javaScriptEnabled) await expectFine(window, 'keys-selected');
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      if (javaScriptEnabled) await expectFine(window, 'keys-selected-edit');
      await page.getByLabel('Daily budget').fill('2');
      await page.getByRole('button', { name: 'Save 2 keys' }).click();
      expect(await page.getByText('of $2.00 today').count()).toBe(2);
      expect(page.url()).toContain(`/keys?q=${kind}`);
      for (const number of [1, 2]) await page.getByLabel(`Select ${kind} ${number}`).check();
      await page.getByRole('button', { name: 'Disable' }).click();
      expect(await page.getByText('2 keys disabled').isVisible()).toBe(true);
      for (const number of [1, 2]) await page.getByLabel(`Select ${kind} ${number}`).check();
      await page.getByRole('button', { name: 'Delete…' }).click();
      if (javaScriptEnabled) await expectFine(window, 'keys-selected-delete');
      await page.getByRole('button', { name: 'Delete 2 keys' }).click();
      expect(await page.getByText('2 keys deleted').isVisible()).toBe(true);
      expect(window.complaints).toEqual([]);
      await window.close();
    },
    60_000,
  );
});
