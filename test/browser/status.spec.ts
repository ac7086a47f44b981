import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { Settings } from '../../src/platform/settings/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import { RelayApp } from '../support/relay-app.js';

const HOUR_MS = 3_600_000;
const LONGEST_NAME = 'w'.repeat(60);

describe('the status in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    await relay.applyCatalog(`
models:
  - { name: ${LONGEST_NAME}, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
channels:
  - { name: long, protocol: responses, base_url: "${relay.upstream.url}", credentials: [a], models: { ${LONGEST_NAME}: v } }
`);
    const { accountId, keyId } = await relay.caller();
    const made = (model: string, place: number, row: object): Promise<void> =>
      aCallRow(relay.get(DataSource), {
        id: `req_${model.slice(0, 4)}_${place}`,
        accountId,
        keyId,
        model,
        createdAt: new Date(Date.now() - place * HOUR_MS).toISOString(),
        ...row,
      });
    for (let place = 0; place < 20; place += 1) {
      await made('m', place, {});
      await made('fee', place, place % 4 === 0 ? { status: 'failed', errorReason: 'timeout' } : {});
      await made(LONGEST_NAME, place, place < 15 ? { status: 'failed', errorReason: 'upstream_error' } : {});
    }
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  const makePublic = async (isPublic: boolean): Promise<void> => {
    await relay
      .get(DataSource)
      .query(
        `INSERT INTO settings (section, value) VALUES ('site', $1) ON CONFLICT (section) DO UPDATE SET value = $1`,
        [JSON.stringify({ statusIsPublic: isPublic })],
      );
    await relay.get(Settings).reload();
  };

  it('shows the availability of each model by label, percentage and hour without sign-in', async () => {
    await makePublic(true);
    const window = await Window.open(browser, relay.url);
    const { page } = window;
    await page.goto('/pricing');
    await page.getByRole('link', { name: 'Status' }).click();
    const rowOf = (name: string) =>
      page.getByRole('row').filter({ has: page.getByRole('rowheader', { name, exact: true }) });
    expect(await rowOf('m').getByText('Operational').count()).toBe(1);
    expect(await rowOf('fee').getByText('Some calls fail').count()).toBe(1);
    expect(await rowOf('fee').getByText('75%', { exact: true }).count()).toBe(1);
    expect(await rowOf(LONGEST_NAME).getByText('Most calls fail').count()).toBe(1);
    expect(await rowOf('m').getByRole('img').getAttribute('aria-label')).toContain('100% in 20 with data');
    await rowOf('fee').getByText('View as table').click();
    expect(await rowOf('fee').getByRole('table').getByRole('row').count()).toBe(25);
    await expectFine(window, 'status');
    await window.close();
  });

  it('redirects to the sign-in when it is not public and the browser is not signed in', async () => {
    await makePublic(false);
    const window = await Window.open(browser, relay.url);
    await window.page.goto('/status');
    expect(new URL(window.page.url()).pathname).toBe('/sign-in');
    await window.close();
  });
});
