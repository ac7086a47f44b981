import { DataSource } from 'typeorm';
import { newId } from '../../src/platform/shared/index.js';
import { aCallRow } from '../support/call-rows.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { operatorVisit } from '../support/operator-visit.js';
import { signedIn } from '../support/signed-in.js';

const CALLS = '/admin/calls';

describe('the calls of all users', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let ben: TestCaller;
  let operator: PageVisitor;
  let sql: DataSource;

  const row = async (
    owner: TestCaller,
    minutesAgo: number,
    overrides: Partial<Parameters<typeof aCallRow>[1]> = {},
  ): Promise<string> => {
    const at = Date.now() - minutesAgo * 60_000;
    const id = newId('req', at);
    const { accountId, keyId } = owner;
    await aCallRow(sql, { id, accountId, keyId, createdAt: new Date(at).toISOString(), ...overrides });
    return id;
  };
  const attempt = (callId: string, ordinal: number, channel: string, status: number | null, cost: bigint | null) =>
    sql.query(
      `INSERT INTO call_attempts (call_id, ordinal, created_at, channel, protocol, upstream_model, upstream_status,
         outcome, credential, begun_ms, first_token_ms, duration_ms, upstream_cost, upstream_request_id)
       SELECT id, $2, created_at, $3, 'messages', 'their-model', $4,
              CASE WHEN $4::integer = 200 THEN 'succeeded' ELSE 'rate_limit_exceeded' END, 2, 4, 240, 400, $5, $6
         FROM calls WHERE id = $1`,
      [callId, ordinal, channel, status, cost, `up-${ordinal}`],
    );
  const page = async (path: string): Promise<string> => {
    const { status, text } = await operator.get(path);
    expect(status).toBe(200);
    return text;
  };
  /** The ids of the rows, in their order. */
  const rows = (html: string): string[] => [...html.matchAll(/<tr role="row" id="c-(req_\w+)"/g)].map(([, id]) => id!);
  const cell = (html: string, name: string): string =>
    new RegExp(`class="[^"]*${name}[^"]*">(.*?)</td>`, 's')
      .exec(html)![1]!
      .replaceAll(/<[^>]+>/g, '')
      .trim();

  beforeAll(async () => {
    relay = await RelayApp.start();
    sql = relay.get(DataSource);
    operator = (await operatorVisit(relay)).browser;
  });
  beforeEach(async () => {
    [ann, ben] = await Promise.all([relay.caller({ credit: '10' }), relay.caller({ credit: '10' })]);
  });
  afterAll(() => relay.close());

  it('returns 404 to users who are not administrators', async () => {
    const id = await row(ann, 1);
    const browser = await signedIn(relay, ann.accountId);
    for (const path of [CALLS, `${CALLS}.csv`, `${CALLS}/${id}`]) expect((await browser.get(path)).status).toBe(404);
  });

  it('lists calls with user, channel, upstream status, cost and margin', async () => {
    const [older, newer] = [await row(ann, 2), await row(ben, 1, { cost: 1_000_000n, upstreamCost: 750_000n })];
    await attempt(newer, 1, 'main', 200, 750_000n);
    const html = await page(CALLS);
    const shown = rows(html);
    expect(shown.indexOf(newer)).toBeLessThan(shown.indexOf(older));
    const one = await page(`${CALLS}?request=${newer}`);
    expect(cell(one, 'c-user')).toBe(ben.email);
    expect(cell(one, 'c-model')).toMatch(/main · 200$/);
    expect(cell(one, 'c-cost')).toBe('$0.001000');
    expect(cell(one, 'c-margin')).toBe('25%');
    expect(await page(`${CALLS}?open=${newer}`)).toContain('<dd>cost $0.000750, margin 25%</dd>');
  });

  it('shows a dash for an unknown cost', async () => {
    const html = await page(`${CALLS}?request=${await row(ann, 1)}`);
    expect([cell(html, 'c-cost'), cell(html, 'c-margin')]).toEqual(['$0.001500', '–']);
  });

  it('filters by user id and, ignoring case, by email address', async () => {
    const [hers] = [await row(ann, 1), await row(ben, 1)];
    for (const user of [ann.email, ann.email.toUpperCase(), ann.accountId])
      expect(rows(await page(`${CALLS}?user=${encodeURIComponent(user)}`))).toEqual([hers]);
    const part = ann.email.slice(0, ann.email.indexOf('@'));
    expect(rows(await page(`${CALLS}?user=${encodeURIComponent(part.toUpperCase())}`))).toEqual([hers]);
    const several = await page(`${CALLS}?user=${encodeURIComponent(ann.email.slice(ann.email.indexOf('@')))}&range=7d`);
    expect(rows(several)).toEqual([]);
    expect(several).toContain('Choose a user');
    expect(several).not.toContain('Totals for this filter');
    expect(several).not.toContain('No calls by');
    const html = await page(`${CALLS}?user=nobody%40example.com`);
    expect(rows(html)).toEqual([]);
    expect(html).toContain('No calls by “nobody@example.com” match');
  });

  it('filters by channel, by upstream status, and by calls at a loss', async () => {
    const failedOver = await row(ann, 3, { channel: 'reserve', attempts: 2, cost: 100n, upstreamCost: 101n });
    await attempt(failedOver, 1, 'main', 429, 0n);
    await attempt(failedOver, 2, 'reserve', 200, 101n);
    const plain = await row(ann, 2, { channel: 'main', cost: 100n, upstreamCost: 100n });
    await attempt(plain, 1, 'main', 200, 100n);
    const unreached = await row(ann, 1, { channel: 'main', status: 'failed', errorReason: 'timeout' });
    await attempt(unreached, 1, 'main', null, null);
    const found = async (filter: string) => rows(await page(`${CALLS}?user=${ann.accountId}&${filter}`));
    expect(await found('channel=reserve')).toEqual([failedOver]);
    expect(await found('channel=main')).toEqual([unreached, plain]);
    expect(await found('upstream=429')).toEqual([failedOver]);
    expect(await found('upstream=4xx')).toEqual([failedOver]);
    expect(await found('upstream=2xx')).toEqual([plain, failedOver]);
    expect(await found('upstream=5xx')).toEqual([]);
    expect(await found('upstream=none')).toEqual([unreached]);
    expect(await found('result=at-a-loss')).toEqual([failedOver]);
    expect(await found('result=open&channel=main')).toEqual([]);
  });

  it('charts filtered calls, grouped by channel on request', async () => {
    for (const channel of ['main', 'main', 'reserve']) await row(ann, 1, { channel });
    const html = await page(`${CALLS}?user=${ann.accountId}&by=channel`);
    expect(html).toContain('<span class="big">3</span>');
    expect(html).toMatch(/main 2, reserve 1/);
    expect(await page(`${CALLS}?user=${ann.accountId}&channel=reserve`)).toContain('<span class="big">1</span>');
  });

  it('paginates with the same filters', async () => {
    const ids: string[] = [];
    for (let minutes = 1; minutes <= 26; minutes += 1) ids.push(await row(ann, minutes, { channel: 'paged' }));
    const first = await page(`${CALLS}?channel=paged&size=25`);
    expect(rows(first)).toEqual(ids.slice(0, 25));
    const older = /href="([^"]+)" rel="next"/.exec(first)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');
    expect(older).toContain('channel=paged');
    expect(rows(await page(older))).toEqual(ids.slice(25));
    expect(await page(`${CALLS}?before=x`)).toContain('Page no longer available');
  });

  it('exports filtered calls with account and channel', async () => {
    const id = await row(ann, 1, { channel: 'exported' });
    await row(ben, 1);
    const { status, text } = await operator.get(`${CALLS}.csv?channel=exported&user=${ann.accountId}`);
    expect(status).toBe(200);
    const [header = '', ...lines] = text.trim().split('\n');
    const columns = header.split(',');
    expect(lines).toHaveLength(1);
    const cells = lines[0]!.split(',');
    expect(['request_id', 'account', 'channel'].map((name) => cells[columns.indexOf(name)])).toEqual([
      id,
      ann.email,
      'exported',
    ]);
  });

  it('shows every attempt of a call with channel, credential, status, upstream model, request ID and cost', async () => {
    const id = await row(ann, 1, { channel: 'reserve', attempts: 2, cost: 100_000_000n, upstreamCost: 125_000_000n });
    await attempt(id, 1, 'main', 429, 0n);
    await attempt(id, 2, 'reserve', 200, 125_000_000n);
    const html = await page(`${CALLS}/${id}`);
    const text = html.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' ');
    for (const part of [
      'main attempt 1, credential 2 Rate limit exceeded status 429 their-model up-1',
      'reserve attempt 2, credential 2 Completed status 200 their-model up-2',
      'Cost $0.125000 loss $0.025, −25%',
      ann.email,
    ])
      expect(text).toContain(part);
    expect(html).toContain(`href="/admin/users/${ann.accountId}"`);
  });

  it.each(['req_00000000000070000000000000000000', 'nothing', 'key_01a202d2077f70000000000000000000'])(
    'return 404 for an unknown ID: %s',
    async (id) => {
      const { status, text } = await operator.get(`${CALLS}/${id}`);
      expect([status, text]).toEqual([404, expect.stringContaining('No call has this ID')]);
    },
  );
});
