import type { Browser, BrowserContextOptions } from 'playwright-core';
import { ApiKeyService } from '../../src/keys/index.js';
import { evaluate, expectFine, NARROW, startBrowser, Window } from '../support/browser.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp } from '../support/relay-app.js';
import { jsonAnswer } from '../support/scripted-upstream.js';

describe('model and group pages in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let operator: PageVisitor;
  let accountId: string;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    ({ browser: operator, accountId } = await operatorVisit(relay));
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const open = (options: BrowserContextOptions = {}): Promise<Window> => Window.as(browser, operator, options);

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

  const LISTED = ['gpt-5.5', 'gpt-5.4-mini', 'house-gpt', 'other-model'];

  it('filter and tick the models of a provider in place', async () => {
    const window = await open();
    const { page } = window;
    const data = LISTED.map((id) => ({ id, object: 'model' }));
    relay.upstream.scriptNext(jsonAnswer(200, { object: 'list', data }));
    await page.goto('/admin/models/add');
    const hint = page.getByText('Not needed for Ollama.');
    expect(await hint.isVisible()).toBe(false);
    await page.getByLabel('Ollama', { exact: true }).check({ force: true });
    expect(await hint.isVisible()).toBe(true);
    await page.getByLabel('OpenAI', { exact: true }).check({ force: true });
    await page.getByLabel('API key').fill('sk-typed-into-add-models');
    await page.getByLabel('Base URL').fill(relay.upstream.url);
    await page.getByRole('button', { name: 'Continue' }).click();

    const filter = page.getByLabel('Model name');
    const box = (name: string) => page.locator(`input[name="model"][value="${name}"]`);
    const states = async (what: (name: string) => Promise<boolean>): Promise<string[]> => {
      const are = await Promise.all(LISTED.map(what));
      return LISTED.filter((_, index) => are[index]);
    };
    const shown = () => states((name) => box(name).isVisible());
    const ticked = () => states((name) => box(name).isChecked());
    await filter.fill('GPT');
    expect(await page.getByText('3 shown').isVisible()).toBe(true);
    expect(await shown()).toEqual(['gpt-5.5', 'gpt-5.4-mini', 'house-gpt']);
    await page.getByRole('button', { name: 'Select all with a list price', exact: true }).click();
    expect(await ticked()).toEqual(['gpt-5.5', 'gpt-5.4-mini']);
    await filter.fill('mini');
    await page.getByRole('button', { name: 'Select none with a list price', exact: true }).click();
    await filter.fill('');
    expect(await page.getByText('4 shown').isVisible()).toBe(true);
    expect(await ticked()).toEqual(['gpt-5.5']);
    await page.getByRole('button', { name: 'Select all without a list price' }).click();
    expect(await ticked()).toEqual(['gpt-5.5', 'house-gpt', 'other-model']);
    // Without a round trip.
    expect(relay.upstream.requests).toHaveLength(1);
    await expectFine(window, 'models-add');
    await window.close();
  }, 120_000);

  it.each([true, false])(
    'show the save bar of a group when it has changes, with script: %s',
    async (javaScriptEnabled) => {
      const window = await open({ javaScriptEnabled });
      const { page } = window;
      await page.goto('/admin/groups/default');
      await page.setViewportSize(NARROW);
      const save = page.getByRole('button', { name: 'Save group' });
      const isInSight = async (): Promise<boolean> => (await save.boundingBox())!.y < NARROW.height;
      // Without script, a change cannot be seen.
      expect(await isInSight()).toBe(!javaScriptEnabled);
      await page.getByLabel('Multiplier', { exact: true }).fill('2');
      expect(await isInSight()).toBe(true);
      await page.getByRole('button', { name: 'Recalculate' }).click();
      await page.getByText('With your changes. Not saved yet.').waitFor();
      expect(await isInSight()).toBe(true);
      await window.close();
    },
    120_000,
  );

  it('keep the save bar of a stored object in sight only once there is something to save', async () => {
    const { id } = await relay.get(ApiKeyService).create({ accountId, name: 'stored' });
    const window = await open();
    const { page } = window;
    await page.goto('/admin/channels');
    const channel = await page.getByRole('link', { name: 'chat-completions-main', exact: true }).getAttribute('href');
    const stored = [`/keys/${id}/edit`, '/account/alerts', `${channel}`, '/admin/models/m', '/admin/groups/default'];
    for (const path of stored) {
      await page.goto(path);
      const before = await evaluate(page, BAR_POSITION);
      await page.locator('form:has(> .savebar) .input:visible').first().press('x');
      expect({ path, before, after: await evaluate(page, BAR_POSITION) }).toEqual({
        path,
        before: 'static',
        after: 'sticky',
      });
    }
    await window.close();
    const plain = await open({ javaScriptEnabled: false });
    await plain.page.goto(`/keys/${id}/edit`);
    expect(await evaluate(plain.page, BAR_POSITION)).toBe('sticky');
    await plain.close();
  });

  it('keep the focused field of a form out from behind its save bar', async () => {
    const window = await open();
    const { page } = window;
    await page.setViewportSize(NARROW);
    await page.goto('/admin/models/new');
    let lowest = 0;
    for (let stop = 0; stop < 40; stop += 1) {
      await page.keyboard.press('Tab');
      expect(await evaluate(page, COVERED)).toBe('');
      lowest = Math.max(lowest, await evaluate<number>(page, 'scrollY'));
    }
    expect(lowest).toBeGreaterThan(NARROW.height);
    await window.close();
  }, 120_000);
});

const BAR_POSITION = `getComputedStyle(document.querySelector('.savebar')).position`;
const CARET_PX = 40;
/** The focused field, if the save bar is over it; of a text area, over its first line, where the caret is. */
const COVERED = `(() => {
  const focused = document.activeElement;
  const bar = document.querySelector('.savebar');
  const { top, bottom } = focused.getBoundingClientRect();
  const end = focused.matches('textarea') ? Math.min(bottom, top + ${CARET_PX}) : bottom;
  return focused.matches('input, select, textarea') && end > bar.getBoundingClientRect().top ? focused.outerHTML : '';
})()`;
