import type { Browser } from 'playwright-core';
import { DataSource } from 'typeorm';
import { actingAs, AuditLog, COMMAND_LINE } from '../../src/platform/audit/index.js';
import { newId } from '../../src/platform/shared/index.js';
import { expectFine, startBrowser, Window } from '../support/browser.js';
import { aCallRow } from '../support/call-rows.js';
import { mouse } from '../support/page-input.js';
import { operatorVisit } from '../support/operator-visit.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';

const CALLS = '/admin/calls';
/** As long as a name may be on a page without being cut, without a place to break it at. */
const LONG = 'a-name-of-sixty-characters-'.padEnd(60, 'x');

describe('overview, call log and audit log in a browser', () => {
  let relay: RelayApp;
  let browser: Browser;
  let ann: TestCaller;
  let real: string;
  let failed: string;
  let operator: PageVisitor;

  const open = (options = {}): Promise<Window> => Window.as(browser, operator, options);

  beforeAll(async () => {
    [relay, browser] = await Promise.all([RelayApp.start(), startBrowser()]);
    ann = await relay.caller({ credit: '10000' });
    const response = await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello', stream: true });
    await response.text();
    real = response.headers.get('x-request-id')!;
    failed = newId('req', Date.now() - 60_000);
    const sql = relay.get(DataSource);
    await aCallRow(sql, {
      id: failed,
      accountId: ann.accountId,
      keyId: ann.keyId,
      model: LONG,
      channel: LONG,
      cost: 123_456_789_123n,
      upstreamCost: 223_456_789_123n,
      status: 'failed',
      errorReason: 'upstream_error',
      errorMessage: 'word '.repeat(60),
      promptTokens: 9_999_999,
      completionTokens: 1_234_567,
      attempts: 2,
    });
    await twoAttempts(sql, failed);
    const lines = ['tier 1 → 2', `base_url ${LONG} → ${LONG}2`];
    const entry = { action: 'changed', object: { kind: 'channel', id: 'chn_1', name: LONG }, lines } as const;
    await actingAs(COMMAND_LINE, () =>
      sql.transaction((manager) => relay.get(AuditLog).record({ ...entry, reason: 'It was slow.' }, manager)),
    );
    operator = (await operatorVisit(relay)).browser;
  });
  afterAll(async () => {
    await browser.close();
    await relay.close();
  });

  it('link from a user on the overview to their calls, a call and its attempts', async () => {
    const window = await open();
    const { page } = window;
    await page.goto('/admin');
    await page.getByRole('link', { name: 'All channels' }).waitFor();
    const row = page.getByRole('row').filter({ hasText: ann.email });
    await row.getByRole('link', { name: '2', exact: true }).click();
    await page.waitForURL(`**${CALLS}?user=*`);
    expect(await page.locator('tr[id^="c-"]').count()).toBe(2);
    await page.locator(`#c-${failed} a.toggle`).click();
    await page.getByRole('link', { name: 'Open details' }).click();
    await page.waitForURL(`**${CALLS}/${failed}`);
    expect(await page.getByRole('table', { name: 'Attempts' }).innerText()).toContain('status 429');
    expect(window.complaints).toEqual([]);
    await window.close();
  });

  it.each([
    ['with script', true],
    ['without script', false],
  ])('filter calls by administrator fields, and show an empty state, %s', async (_, javaScriptEnabled) => {
    const window = await open({ javaScriptEnabled });
    const { page } = window;
    await page.goto(CALLS);
    await page.getByLabel('Result').selectOption('Cost more than charged');
    await mouse.press(page, 'button', 'Apply');
    expect(await page.locator('tr[id^="c-"]').evaluateAll((rows) => rows.map(({ id }) => id))).toEqual([`c-${failed}`]);
    await mouse.fill(page, 'User', 'nobody@example.com');
    await mouse.press(page, 'button', 'Apply');
    expect(await page.getByRole('main').innerText()).toContain('No calls by “nobody@example.com” match');
    expect(await page.getByRole('searchbox', { name: 'User' }).inputValue()).toBe('nobody@example.com');
    await window.close();
  });

  it.each([
    ['with script', true],
    ['without script', false],
  ])('filter the audit log, open a change, and report invalid dates, %s', async (_, javaScriptEnabled) => {
    const window = await open({ javaScriptEnabled });
    const { page } = window;
    await page.goto('/admin/audit');
    await mouse.fill(page, 'Text', 'slow');
    await mouse.press(page, 'button', 'Apply');
    const changes = page.getByRole('table', { name: 'Changes, newest first' });
    expect(await changes.innerText()).toContain('tier 1 → 2');
    expect((await changes.getByRole('row').nth(1).boundingBox())!.height).toBeLessThanOrEqual(36);
    await changes.locator('a.toggle').click();
    await changes.locator('tr.detail').waitFor();
    expect(await changes.locator('del, ins').allInnerTexts()).toEqual(['1', '2', LONG, `${LONG}2`]);
    expect(await changes.locator('tr.detail').innerText()).toContain('It was slow.');
    if (javaScriptEnabled) await expectFine(window);
    await page.goto('/admin/audit?from=2026-02-02&to=2026-02-01');
    expect(await page.getByRole('alert').innerText()).toContain('Invalid date range');
    await window.close();
  });

  it.each([
    ['the overview', () => ['/admin', '/admin?range=30d']],
    [
      'the calls',
      () => [
        CALLS,
        `${CALLS}?open=${failed}&by=channel`,
        `${CALLS}?user=nobody&sort=cost`,
        `${CALLS}?range=custom&from=x`,
      ],
    ],
    ['a call', () => [`${CALLS}/${real}`, `${CALLS}/${failed}`, `${CALLS}/nothing`]],
    ['the audit log', () => ['/admin/audit', '/admin/audit?text=nothing-like-it', '/admin/audit?before=x&from=x']],
  ])(
    '%s: is accessible and fits',
    async (_, pathsOf) => {
      const window = await open();
      for (const path of pathsOf()) {
        await window.page.goto(path);
        await expectFine(window);
      }
      await window.close();
    },
    120_000,
  );
});

/** The first one was refused, the second one answered. */
async function twoAttempts(sql: DataSource, callId: string): Promise<void> {
  await sql.query(
    `INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status, outcome,
       reason, credential, begun_ms, connect_ms, headers_ms, first_byte_ms, first_token_ms, duration_ms, upstream_cost,
       upstream_request_id)
     SELECT c.id, a.*
     FROM calls c, LATERAL (VALUES
       (1, c.created_at, 'b-channel', 'messages', $2, 429, 'rate_limit_exceeded', $3, 2, 4, 20, 90, 92, NULL, 93, 0, $2),
       (2, c.created_at, $2, 'messages', 'their-model', 200, 'succeeded', '', 1, 110, 0, 100, 130, 140, 480, 223456789123,
         'up-2')
     ) AS a WHERE c.id = $1`,
    [callId, LONG, `${'word '.repeat(30)}${'x'.repeat(150)}`],
  );
}
