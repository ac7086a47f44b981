import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';

describe('model and group pages in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let operator: PageVisitor;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (): Promise<Window> => Window.as(browser, operator);

  it('are accessible and fit when a price is changed', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/admin/models');
    await expectFine(window, 'models');
    await page.getByRole('link', { name: 'm', exact: true }).click();
    await page.getByLabel('Output', { exact: true }).first().fill('12.50');
    await page.getByRole('button', { name: 'Recalculate' }).click();
    await page.getByText('With your changes.').waitFor();
    await page.getByRole('button', { name: 'Add long-context price' }).click();
    await page.getByLabel('Minimum prompt').fill('many');
    await page.getByRole('button', { name: 'Save model' }).click();
    await page.getByRole('alert').waitFor();
    await expectFine(window, 'model-refused');
    await page.getByRole('button', { name: 'Remove long-context price 1' }).click();
    await page.getByLabel('Reason').last().fill('The vendor is dearer now');
    await page.keyboard.press('Enter');
    await page.getByText('output $10.00 → $12.50').waitFor();
    expect(await page.getByText('In effect', { exact: true }).count()).toBe(1);
    await expectFine(window, 'model');
    await page.getByRole('link', { name: 'Compare version 2 with the previous version' }).click();
    await page.getByText('Changed', { exact: true }).first().waitFor();
    await expectFine(window, 'compare');
    await page.goto('/admin/models/new');
    await expectFine(window, 'model-new');
    await window.close();
  }, 120_000);

  it('are accessible and fit when a group is added', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/admin/groups/new');
    await page.getByLabel('Name').fill('team');
    await page.getByLabel('Multiplier', { exact: true }).fill('much');
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByRole('alert').waitFor();
    await expectFine(window, 'group-refused');
    await page.getByLabel('Multiplier', { exact: true }).fill('0.5');
    await page.getByLabel('Available to').selectOption('assigned');
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByText('Group team saved').waitFor();
    await expectFine(window, 'group');
    await page.goto('/admin/groups');
    expect(await page.getByRole('link', { name: 'team', exact: true }).count()).toBe(1);
    await expectFine(window, 'groups');
    await window.close();
  }, 120_000);
});
