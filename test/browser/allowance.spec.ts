import type { Browser } from 'playwright-core';
import { parseUsd } from '../../src/platform/shared/index.js';
import { AllowanceService, WalletService } from '../../src/wallet/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { mouse } from '../support/page-input.js';
import { operatorVisit } from '../support/operator-visit.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

describe('a monthly allowance in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });
  beforeEach(async () => {
    ann = await relay.caller({ credit: '5' });
  });

  const look = async (window: Window, path: string, name: string): Promise<void> => {
    await window.page.goto(path);
    await expectFine(window, name);
  };
  const mainText = ({ page }: Window): Promise<string> => page.getByRole('main').innerText();

  it.each([true, false])(
    'is set by an administrator and shown to the user, with script: %s',
    async (javaScriptEnabled) => {
      const operator = await Window.as(browser, (await operatorVisit(relay)).browser, { javaScriptEnabled });
      const { page } = operator;
      await page.goto(`/admin/users/${ann.accountId}`);
      await mouse.press(page, 'link', 'Monthly allowance');
      await mouse.fill(page, 'Amount per month', 'twenty');
      await mouse.press(page, 'button', 'Set allowance');
      // What was typed stays, with what is wrong with it.
      expect(await page.getByLabel('Amount per month').inputValue()).toBe('twenty');
      expect(await mainText(operator)).toContain('Enter an amount in dollars, such as 25');
      await mouse.fill(page, 'Amount per month', '20');
      await mouse.press(page, 'button', 'Set allowance');
      expect(new URL(page.url()).pathname).toBe(`/admin/users/${ann.accountId}`);
      expect(await mainText(operator)).toContain('$20.00 monthly allowance');

      const user = await Window.as(browser, await signedIn(relay, ann.accountId), { javaScriptEnabled });
      await user.page.goto('/wallet');
      expect(await mainText(user)).toMatch(
        /\$20\.00 per month, \$20\.00 left until \d+ \w+, 00:00 UTC; the unspent part expires\./,
      );
      await user.page.goto('/');
      expect(await mainText(user)).toMatch(/\$20\.00 expires \d+ \w+ \(UTC\)/);
      await Promise.all([operator.close(), user.close()]);
    },
    120_000,
  );

  it('is accessible and fits when granted, partly spent, raised and invalid', async () => {
    const operator = await Window.as(browser, (await operatorVisit(relay)).browser);
    const user = await Window.as(browser, await signedIn(relay, ann.accountId));
    const there = `/admin/users/${ann.accountId}`;
    await look(operator, `${there}/allowance`, 'allowance-none');
    await mouse.fill(operator.page, 'Amount per month', '-5');
    await mouse.press(operator.page, 'button', 'Set allowance');
    await expectFine(operator, 'allowance-refused');
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('123456.789'));
    await relay.get(WalletService).credit(ann.accountId, parseUsd('-100000.000000001'), 'Moved to another account');
    await relay.get(AllowanceService).set(ann.accountId, parseUsd('1000000'));
    await look(operator, `${there}/allowance`, 'allowance-raised');
    await look(operator, there, 'allowance-user');
    await look(operator, '/admin/users', 'allowance-users');
    await look(user, '/wallet', 'allowance-wallet');
    await look(user, '/', 'allowance-dashboard');
    await Promise.all([operator.close(), user.close()]);
  }, 240_000);
});
