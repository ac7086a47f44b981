import type { Browser } from 'playwright-core';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { RelayApp } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';

const SHOTS = process.env['SHOTS'];

describe('the pages of models and groups in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let token: string;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    token = (await operatorVisit(relay)).browser.cookies.get('switchboard-visit') ?? '';
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = async (): Promise<Window> => {
    const window = await Window.open(browser, relay.url);
    await window.context.addCookies([{ name: 'switchboard-visit', value: token, url: relay.url }]);
    return window;
  };
  const look = async (window: Window, name: string): Promise<void> => {
    await expectFine(window);
    for (const width of SHOTS ? [1280, 390] : []) {
      await window.page.setViewportSize({ width, height: 900 });
      await window.page.screenshot({ path: `${SHOTS}/${name}-${width}.png`, fullPage: true });
    }
    await window.page.setViewportSize({ width: 1280, height: 900 });
  };

  it('are accessible and fit, and a price is changed by what is typed', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/admin/models');
    await look(window, 'models');
    await page.getByRole('link', { name: 'm', exact: true }).click();
    await page.getByLabel('Output', { exact: true }).first().fill('12.50');
    await page.getByRole('button', { name: 'Recalculate' }).click();
    await page.getByText('After what you entered').waitFor();
    await page.getByRole('button', { name: 'Add a long-context price' }).click();
    await page.getByLabel('Prompt of at least').fill('many');
    await page.getByRole('button', { name: 'Save model' }).click();
    await page.getByRole('alert').waitFor();
    await look(window, 'model-refused');
    await page.getByRole('button', { name: 'Remove long-context price 1' }).click();
    await page.getByLabel('Reason').last().fill('The vendor is dearer now');
    await page.keyboard.press('Enter');
    await page.getByText('output $12.50, was $10.00').waitFor();
    expect(await page.getByText('In force', { exact: true }).count()).toBe(1);
    await look(window, 'model');
    await page.getByRole('link', { name: 'Compare version 2 with the one before' }).click();
    await page.getByText('Changed', { exact: true }).first().waitFor();
    await look(window, 'compare');
    await page.goto('/admin/models/new');
    await look(window, 'model-new');
    await window.close();
  });

  it('are accessible and fit, and a group is added, changed and refused', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/admin/groups/new');
    await page.getByLabel('Name').fill('team');
    await page.getByLabel('Multiplier', { exact: true }).fill('much');
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByRole('alert').waitFor();
    await look(window, 'group-refused');
    await page.getByLabel('Multiplier', { exact: true }).fill('0.5');
    await page.getByLabel('Who may choose it').selectOption('assigned');
    await page.getByRole('button', { name: 'Add group' }).click();
    await page.getByText('Group team is saved').waitFor();
    await look(window, 'group');
    await page.goto('/admin/groups');
    expect(await page.getByRole('link', { name: 'team', exact: true }).count()).toBe(1);
    await look(window, 'groups');
    await window.close();
  });
});
