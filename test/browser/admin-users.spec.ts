import type { Browser } from 'playwright-core';
import { ApiKeyService } from '../../src/keys/index.js';
import { RedemptionService, WalletService } from '../../src/wallet/index.js';
import { nanos, parseUsd } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

describe('user and code pages in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let operator: PageVisitor;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    ann = await relay.caller({ credit: '5' });
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (options = {}): Promise<Window> => Window.as(browser, operator, options);

  it('are accessible and fit', async () => {
    const { codes } = await relay.get(RedemptionService).create({ amount: nanos(5n), count: 2, note: 'W'.repeat(60) });
    await relay.get(RedemptionService).redeem(ann.accountId, codes[0] ?? '');
    const there = `/admin/users/${ann.accountId}`;
    const limited = { accountId: ann.accountId, name: 'w'.repeat(60), quota: parseUsd('10') };
    const { id: limitedId } = await relay.get(ApiKeyService).create(limited);
    const pages = {
      users: '/admin/users',
      'users-none': '/admin/users?q=nobody&role=admin',
      'users-new': '/admin/users/new',
      user: there,
      'user-balance': `${there}/balance`,
      'user-delete': `${there}/delete`,
      'user-key-delete': `${there}/keys/${ann.keyId}/delete`,
      'user-key-quota': `${there}/keys/${limitedId}/quota`,
      'user-key-no-quota': `${there}/keys/${ann.keyId}/quota`,
      codes: '/admin/codes',
      'codes-new': '/admin/codes/new',
    };
    const window = await open();
    for (const [name, path] of Object.entries(pages)) {
      await window.page.goto(path);
      await expectFine(window, name);
    }
    await window.close();
  }, 180_000);

  it.each([true, false])(
    'support all actions with script: %s',
    async (javaScriptEnabled) => {
      const window = await open({ javaScriptEnabled });
      const { page } = window;
      const email = `made-${javaScriptEnabled}@example.com`;
      await page.goto('/admin/users/new');
      await page.getByLabel('Email').fill('no address');
      await page.getByLabel('Opening credit').fill('2');
      await page.getByRole('button', { name: 'Create user' }).click();
      await page.getByText('is not a valid email address').first().waitFor();
      await page.getByLabel('Email').fill(email);
      await page.getByRole('button', { name: 'Create user' }).click();
      expect(await page.locator('#password').textContent()).toMatch(/^[\w-]{24}$/);
      await page.getByRole('link', { name: 'Done' }).click();
      await page.getByRole('link', { name: 'Adjust balance' }).click();
      await page.getByLabel('Amount').fill('1.5');
      await page.getByLabel('Reason').fill('Course');
      await page.getByRole('button', { name: 'Review adjustment' }).click();
      await page.getByText('Confirm the adjustment').waitFor();
      await page.getByRole('button', { name: 'Add $1.50' }).click();
      await page.getByText('Balance adjusted').waitFor();
      const id = /acc_\w+/.exec(page.url())?.[0] ?? '';
      expect((await relay.get(WalletService).balanceOf(id)).balance).toBe(parseUsd('3.5'));
      await page.getByRole('button', { name: 'Suspend user' }).click();
      await page.getByText('This user is suspended').waitFor();
      await page.getByRole('link', { name: 'Delete user' }).click();
      await page.getByRole('button', { name: 'Delete user' }).click();
      await page.getByRole('alert').waitFor();
      await page.getByRole('textbox', { name: /^Type / }).fill(email);
      await page.getByRole('button', { name: 'Delete user' }).click();
      await page.getByText(`${email} deleted`).waitFor();
      await page.goto('/admin/codes/new');
      await page.getByLabel('Amount').fill('5');
      await page.getByRole('button', { name: 'Create codes' }).click();
      await page.getByText('Copy it now').waitFor();
      if (javaScriptEnabled) await expectFine(window, 'codes-created');
      const [file] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('button', { name: 'Export CSV' }).click(),
      ]);
      expect(file.suggestedFilename()).toBe('codes.csv');
      await page.getByRole('link', { name: 'Done' }).click();
      await page.getByRole('button', { name: 'Void all unused codes' }).click();
      await page.getByText('Code voided').waitFor();
      await window.close();
    },
    120_000,
  );
});
