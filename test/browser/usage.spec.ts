import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { newId } from '../../src/platform/shared/index.js';
import { expectFine, NARROW, sidewaysScroll, startBrowser, WIDE, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

const LOG = '/usage-logs/common';
const LONGEST = 'a-model-name-of-sixty-characters-without-any-place-to-break-it';

describe('the usage log and the wallet in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let real: string;
  let failed: string;
  let visitor: PageVisitor;

  const open = (options = {}): Promise<Window> => Window.as(browser, visitor, options);

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start({}, { SUPPORT_CONTACT: 'help@example.com' }), startBrowser()]);
    ann = await relay.caller({ credit: '10000' });
    const response = await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello', stream: true });
    await response.text();
    real = response.headers.get('x-request-id')!;
    failed = newId('req', Date.now() - 60_000);
    await aCallRow(relay.get(DataSource), {
      id: failed,
      accountId: ann.accountId,
      keyId: ann.keyId,
      model: LONGEST,
      group: 'a-group-of-sixty-characters-that-is-as-long-as-one-may-ever-be',
      cost: 0n,
      status: 'failed',
      errorReason: 'context_length_exceeded',
      errorMessage: 'word '.repeat(60),
      promptTokens: 9_999_999,
      completionTokens: 1_234_567,
      holdBegunMs: 2,
      holdMs: 2,
      settleWaitMs: 120,
      waits: {
        client: {
          count: 1234,
          ms: 90,
          spans: [
            [700, 60],
            [800, 80],
          ],
        },
        credit: { count: 1, ms: 20, spans: [[680, 20]] },
        back_off: { count: 1, ms: 5, spans: [[305, 5]] },
      },
    });
    await threeAttempts(relay.get(DataSource), failed);
    visitor = await signedIn(relay, ann.accountId);
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  it.each([
    ['with script', true],
    ['without script', false],
  ])('opens and closes a row in its place, and the address says so, %s', async (_, javaScriptEnabled) => {
    const window = await open({ javaScriptEnabled });
    const { page } = window;
    await page.goto(`${LOG}?range=7d`);
    const toggle = page.locator(`#c-${real} a.toggle`);
    await toggle.click();
    await page.waitForURL(`**${LOG}?range=7d&open=${real}#c-${real}`);
    await page.locator('tr.detail .formula').waitFor();
    expect(await toggle.getAttribute('aria-expanded')).toBe('true');
    await page.reload();
    expect(await page.locator('tr.detail').count()).toBe(1);
    await toggle.click();
    await page.locator('tr.detail').waitFor({ state: 'detached' });
    expect(page.url()).toContain(`${LOG}?range=7d#c-${real}`);
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it.each([
    ['one line', 'wide', WIDE, 36],
    ['a short record', 'narrow', NARROW, 110],
  ])('shows a call in %s without its ID, in a %s window', async (_what, _size, viewport, maxHeight) => {
    const window = await open({ viewport });
    const { page } = window;
    await page.goto(LOG);
    const row = page.locator(`#c-${failed}`);
    expect((await row.boundingBox())!.height).toBeLessThanOrEqual(maxHeight);
    const texts = await row.innerText();
    expect(texts).not.toContain(failed);
    for (const item of [
      LONGEST,
      'a-group-of-sixty',
      '9,999,999',
      '1,234,567',
      '250 ms',
      '900 ms',
      'context_length_exceeded',
    ])
      expect(texts.replaceAll(/\s+/g, ' ')).toContain(item);
    await window.close();
  });

  it('is accessible, fits, and breaks no rule of its own', async () => {
    const window = await open();
    for (const path of [
      LOG,
      `${LOG}?open=${real}&by=model`,
      `${LOG}?open=${failed}&result=refused`,
      `${LOG}?range=custom&from=x`,
      `${LOG}?request=x`,
      `${LOG}/${real}`,
      `${LOG}/${failed}`,
      '/wallet',
      '/wallet?before=x',
    ]) {
      await window.page.goto(path);
      await expectFine(window);
    }
    await window.close();
  }, 120_000);

  it.each([
    ['wide', WIDE],
    ['narrow', NARROW],
  ])(
    'tells where the time of a call went to eyes and to readers of the screen, in a %s window',
    async (_, viewport) => {
      const window = await open({ viewport, javaScriptEnabled: false });
      const { page } = window;
      await page.goto(`${LOG}/${failed}`);
      const timeline = page.getByRole('table', { name: 'Timeline of the call in milliseconds' });
      const paused = timeline.getByRole('row', { name: 'Paused by the client' });
      expect(await paused.getByRole('cell').allInnerTexts()).toEqual(['', '700', '90 ms', '1,234 times']);
      // One bar for each time, drawn over the lane.
      expect(await paused.locator('rect').count()).toBe(3);
      expect(await timeline.getByRole('columnheader').allInnerTexts()).toContain('Outcome');
      expect(await paused.getByText('1,234 times').isVisible()).toBe(true);
      for (const step of ['Hold placed', 'Pause before retry', 'Increase the hold', 'Settled'])
        expect(await timeline.getByRole('rowheader', { name: step }).isVisible()).toBe(true);
      await page.emulateMedia({ media: 'print' });
      expect(await timeline.isVisible()).toBe(true);
      expect(await sidewaysScroll(page)).toBe(0);
      await window.close();
    },
  );

  it('sorts by a column header, and keeps the order when a filter is applied', async () => {
    const window = await open();
    const { page } = window;
    const first = () => page.locator('tr[id^="c-"]').first().getAttribute('id');
    await page.goto(LOG);
    expect(await first()).toBe(`c-${real}`);
    await page.getByRole('columnheader', { name: 'Tokens' }).getByRole('link').click();
    await page.waitForURL('**sort=tokens');
    expect(await first()).toBe(`c-${failed}`);
    expect(await page.getByRole('columnheader', { name: 'Tokens' }).getAttribute('aria-sort')).toBe('descending');
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.waitForURL('**sort=tokens**');
    expect(await first()).toBe(`c-${failed}`);
    await window.close();
  });

  it('redeems by keyboard alone, and begins at what is wrong', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/wallet');
    await page.getByLabel('Redemption code').focus();
    await page.keyboard.type('nothing');
    await page.keyboard.press('Enter');
    await page.locator('.flash--bad[role="alert"]').waitFor();
    expect(await page.title()).toMatch(/^Error: Wallet/);
    expect(await page.evaluate('document.activeElement.getAttribute("role")')).toBe('alert');
    expect(await page.getByLabel('Redemption code').inputValue()).toBe('nothing');
    await window.close();
  });
});

/** Of a call that was answered by the third channel: the first one could not be reached, the second one was refused. */
async function threeAttempts(sql: DataSource, callId: string): Promise<void> {
  await sql.query(
    `INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status, outcome,
       reason, credential, begun_ms, connect_ms, headers_ms, first_byte_ms, first_token_ms, duration_ms)
     SELECT c.id, a.*
     FROM calls c, LATERAL (VALUES
       (1, c.created_at, 'a-channel', 'messages', 'their-model', NULL, 'timeout', 'Connecting to the upstream timed out.',
         1, 4, NULL, NULL, NULL, NULL, 300),
       (2, c.created_at, 'b-channel', 'messages', $2, 400, 'invalid_request', $3, 2, 310, 20, 90, 92, NULL, 93),
       (3, c.created_at, 'c-channel', 'messages', 'their-model', 200, 'succeeded', '', 1, 410, 0, 100, 130, 250, 480)
     ) AS a WHERE c.id = $1`,
    [callId, LONGEST, `${'word '.repeat(30)}${'x'.repeat(150)}`],
  );
}
