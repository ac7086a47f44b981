import { DataSource } from 'typeorm';
import { signedIn } from '../support/signed-in.js';
import type { PageVisitor } from '../support/page-visitor.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { newId, Secret } from '../../src/platform/shared/index.js';
import { StoredResponses } from '../../src/relay/stored-responses/index.js';
import { aCallRow } from '../support/call-rows.js';
import { aRequest } from '../support/protocols.js';

const LOG = '/usage-logs/common';
const REFUSED = {
  status: 'refused',
  errorReason: 'insufficient quota',
  errorMessage: 'insufficient quota: The key "ci" has $0 left.',
  billingBasis: 'free',
  cost: 0n,
  promptTokens: null,
  completionTokens: null,
  firstTokenMs: null,
};
const MARKUP = `<img src=x onerror=alert(1)>"'`;

describe('the pages of the usage log', () => {
  let relay: RelayApp;
  let ann: TestCaller;
  let browser: PageVisitor;

  const row = async (
    owner: TestCaller,
    minutesAgo: number,
    overrides: Partial<Parameters<typeof aCallRow>[1]> = {},
  ): Promise<string> => {
    const at = Date.now() - minutesAgo * 60_000;
    const id = newId('req', at);
    const { accountId, keyId } = owner;
    await aCallRow(relay.get(DataSource), {
      id,
      accountId,
      keyId,
      createdAt: new Date(at).toISOString(),
      ...overrides,
    });
    return id;
  };
  const page = async (path: string): Promise<string> => {
    const { status, text } = await browser.get(path);
    expect(status).toBe(200);
    return text;
  };
  /** The ids of the rows, in their order. */
  const rows = (html: string): string[] => [...html.matchAll(/<tr role="row" id="c-(req_\w+)"/g)].map(([, id]) => id!);
  const link = (html: string, rel: 'next' | 'prev'): string =>
    new RegExp(`href="([^"]+)" rel="${rel}"`).exec(html)![1]!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '=');

  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  beforeEach(async () => {
    ann = await relay.caller({ credit: '10' });
    browser = await signedIn(relay, ann.accountId);
  });
  afterAll(() => relay.close());

  it('shows which calls were charged otherwise than their upstream reported, and why', async () => {
    await row(ann, 4);
    const id = await row(ann, 5, { billingBasis: 'corrected' });
    await relay
      .get(DataSource)
      .query('UPDATE calls SET upstream_report = $2 WHERE id = $1', [
        id,
        { findings: ['prompt_too_large'], prompt_tokens: 1e10, completion_tokens: 7 },
      ]);
    expect(rows(await page(`${LOG}?result=corrected`))).toEqual([id]);
    expect(await page(`${LOG}/${id}`)).toContain(
      'The upstream reported 10,000,000,000 prompt and 7 completion tokens, which is implausible (the prompt cannot have that many tokens).',
    );
  });

  it('shows transport and output limit of a request if they are known', async () => {
    await (await relay.post('/v1/messages', ann.key, aRequest('messages', { max_tokens: 1234 }))).text();
    const { id } = await relay.onlyCall(ann);
    const html = await page(`${LOG}/${id}`);
    expect(html).toMatch(/<dt>Output limit<\/dt>\s*<dd>1,234 tokens<\/dd>/);
    expect(html).toContain('<dt>Transport</dt><dd>HTTP</dd>');
    await relay.get(DataSource).query(`UPDATE calls SET transport = 'websocket' WHERE id = $1`, [id]);
    expect(await page(`${LOG}/${id}`)).toContain('<dt>Transport</dt><dd>WebSocket</dd>');
    expect(await page(`${LOG}/${await row(ann, 5)}`)).not.toMatch(/Output limit|Transport/);
  });

  it('are signed-in users', async () => {
    const { status, location } = await new (await import('../support/page-visitor.js')).PageVisitor(relay.url).get(LOG);
    expect([status, location]).toEqual([303, expect.stringMatching(/^\/sign-in\?next=/)]);
  });

  it('show a real call as soon as its client has seen its end, with everything that is asked of a row', async () => {
    const response = await relay.post('/v1/responses', ann.key, { model: 'm', input: 'hello', stream: true });
    const id = response.headers.get('x-request-id')!;
    await response.text();
    const { cost, prompt_tokens: prompt, completion_tokens: completion } = await relay.onlyCall(ann);
    const html = await page(LOG);
    expect(rows(html)).toEqual([id]);
    const cell = (name: string): string =>
      new RegExp(`class="[^"]*${name}[^"]*">(.*?)</td>`, 's').exec(html)![1]!.replaceAll(/<[^>]+>/g, ' ');
    expect(cell('c-model')).toMatch(/^m\s+Responses · test key\s*$/);
    expect(cell('c-tok')).toContain(
      `${Number(prompt).toLocaleString('en')}  in  ${Number(completion).toLocaleString('en')}`,
    );
    expect(cell('c-cost').replaceAll(' ', '')).toMatch(/^\$0\.\d{6,9}/);
    expect(BigInt(String(cost))).toBeGreaterThan(0n);
    expect(cell('c-ttft')).toMatch(/\d+ *ms/);
    expect(cell('c-state')).toContain('Completed');
    expect(html).not.toContain(`>${id}<`);
    const opened = await page(`${LOG}?open=${id}`);
    expect(opened).toContain(`>${id}</code>`);
    expect(opened).toContain('aria-label="Copy request ID"');
    expect(opened).toContain('Open details');
    expect(opened).toContain('Per 1M');
    const trace = await page(`${LOG}/${id}`);
    expect(trace).toContain('>Calls with this key</a>');
    expect(trace).toContain('>Share of tokens</h3>');
    expect(trace).not.toContain('New prompt');
    expect(trace).toContain('Prompts and responses are not stored');
    expect(trace).toContain('<dt>Protocol</dt><dd>OpenAI Responses, streamed</dd>');
    expect(trace).not.toContain('Translated to');
    expect(trace).toContain('Attempt 1');
    expect(trace).not.toContain('responses-main');
    expect(trace).not.toContain('vendor-m-2026');
  });

  it('say until when a response is kept, to its account alone, and delete it at once', async () => {
    const id = await row(ann, 1);
    const { accountId, keyId, key } = ann;
    const kept = await relay.get(StoredResponses).store(
      { accountId, keyId, secret: new Secret(key) },
      {
        id: 'resp_1',
        callId: id,
        channelId: 'chn_1',
        credentialId: null,
        itemIds: [],
        content: { input: '[]', response: '{}' },
      },
    );
    const trace = await page(`${LOG}/${id}`);
    expect(trace).toMatch(new RegExp(`This response is stored until <time datetime="${kept?.toISOString()}"`));
    expect(trace).not.toContain('Prompts and responses are not stored');
    const bob = await signedIn(relay, (await relay.caller()).accountId);
    expect((await bob.submit('/usage-logs/common', {}, `${LOG}/${id}/forget`)).status).toBe(404);
    expect(await page(`${LOG}/${id}`)).toContain('Delete now');
    const deleted = await browser.submit(`${LOG}/${id}`, {}, `${LOG}/${id}/forget`);
    expect((await browser.follow(deleted)).text).toContain('Response deleted');
    expect(await page(`${LOG}/${id}`)).toContain('Prompts and responses are not stored');
  });

  it('name the reason and the message of a failure, and what to change', async () => {
    const id = await row(ann, 1, REFUSED);
    const html = await page(LOG);
    expect(html).toContain('<b>insufficient quota</b> The key &quot;ci&quot; has $0 left.');
    expect(html).toContain('not counted');
    expect(html).toContain('not charged');
    for (const path of [`${LOG}/${id}`, `${LOG}?open=${id}`]) {
      const detail = await page(path);
      expect(detail).toContain('<p>The key &quot;ci&quot; has $0 left.</p>');
      for (const words of ['Raise the one that is used up', 'href="/wallet">Open wallet', `href="/keys/${ann.keyId}"`])
        expect(detail).toContain(words);
    }
    await relay.get(DataSource).query("UPDATE api_keys SET state = 'deleted' WHERE id = $1", [ann.keyId]);
    expect(await page(`${LOG}/${id}`)).not.toContain(`href="/keys/${ann.keyId}"`);
  });

  it('say once and without alarm that a client left', async () => {
    const id = await row(ann, 1, {
      status: 'cancelled',
      errorReason: 'context canceled',
      errorMessage: 'context canceled: the client closed the connection.',
    });
    for (const path of [`${LOG}/${id}`, `${LOG}?open=${id}`]) {
      const html = await page(path);
      expect(html).toContain('<strong>The client closed the connection</strong>');
      expect(html).not.toContain('flash--bad');
    }
    expect((await page(`${LOG}/${id}`)).match(/closed the connection/g)).toHaveLength(1);
  });

  it('count refused calls apart from failed ones, and list no models that clients made up', async () => {
    await row(ann, 1, { ...REFUSED, model: 'made-up', errorReason: 'model_not_found' });
    await row(ann, 2, { status: 'failed', errorReason: 'rate_limit_exceeded', model: 'real', billingBasis: 'free' });
    await row(ann, 3, { status: 'failed', errorReason: 'upstream_error', model: 'real', billingBasis: 'free' });
    const html = await page(LOG);
    expect(html).toContain('2 rejected, 1 failed');
    expect(html).toContain('<option value="real">');
    expect(html).not.toContain('<option value="made-up">');
    const csv = (await browser.get(`${LOG}.csv?result=refused`)).text.trim().split('\n').slice(1);
    expect(csv.map((line) => line.split(',').at(-4))).toEqual(['refused', 'refused']);
    expect(await page(`/keys/${ann.keyId}/leaked`)).toContain('1 rejected');
    expect((await page(`/keys/${ann.keyId}`)).replaceAll(/<[^>]*>/g, ' ').replaceAll(/\s+/g, ' ')).toContain(
      'real 2 1 1 ',
    );
  });

  it('chart calls by how they ended, with a table of the same sums and a link from each bar to its calls', async () => {
    const hour = 60;
    await row(ann, 2 * hour, REFUSED);
    const older = [await row(ann, 5 * hour), await row(ann, 5 * hour, { model: 'other', cost: 7n })];
    const html = await page(LOG);
    expect(html).toContain('3 calls, 1 rejected, per hour');
    expect(html).toMatch(/<tfoot>.*<th scope="row">Total<\/th>\s*<td>3<\/td>\s*<td>1<\/td>\s*<td>0</s);
    const plot = /<svg class="chart__links".*?<\/svg>/s.exec(html)![0];
    const bars = [...plot.matchAll(/<a href="([^"]+)"/g)].map(([, href]) =>
      href!.replaceAll('&amp;', '&').replaceAll('&#x3D;', '='),
    );
    const ofBars = await Promise.all(bars.map(async (href) => rows(await page(href))));
    expect(ofBars.flat()).toHaveLength(3);
    expect(ofBars[0]!.toSorted()).toEqual(older.toSorted());
    const bar = await page(bars[0]!);
    expect(bar).toMatch(/Remove filter Time: \d+ \w+, \d\d:00 to /);
    const csv = (await browser.get(bars[0]!.replace(LOG, `${LOG}.csv`))).text.trim().split('\n');
    expect(csv).toHaveLength(3);
    const divided = await page(`${LOG}?by=model&chart=cost`);
    expect(divided).toMatch(/<th scope="col">gpt-5\.5<\/th>\s*<th scope="col">other<\/th>/);
    expect(divided).toMatch(/<tfoot>.*?<td>\$0\.00150\d*<\/td>\s*<td>\$0\.000000007</s);
    expect(divided).not.toMatch(/class="seg only-wide"/);
  });

  it('end the charts of a running range with now, and say where no model was read', async () => {
    await row(ann, 1, { ...REFUSED, model: '' });
    const today = new Date().toISOString().slice(0, 10);
    const html = await page(LOG);
    expect(html).toMatch(/Each bar is one hour, from [^<]* to now \(UTC\)/);
    expect(html).toContain('>model unknown<');
    expect(await page(`${LOG}?range=custom&from=${today}&to=${today}`)).not.toContain('to now');
  });

  it('show of a refused call that it was checked, and nothing that would come after', async () => {
    const trace = await page(`${LOG}/${await row(ann, 1, REFUSED)}`);
    expect(trace).toContain('Rejected by checks');
    for (const words of ['Accepted', 'Settled', '0 attempts']) expect(trace).not.toContain(words);
  });

  it('give nothing away of another account', async () => {
    const bob = await relay.caller();
    const theirs = await row(bob, 1, { model: 'secret-model' });
    for (const path of [LOG, `${LOG}?open=${theirs}`, `${LOG}?request=${theirs}`, `${LOG}?key=${bob.keyId}`])
      expect(await page(path)).not.toContain('secret-model');
    expect(await page(`${LOG}?request=${theirs}`)).toContain('No call with this ID');
    const refused = await browser.get(`${LOG}/${theirs}`);
    const unknown = await browser.get(`${LOG}/${newId('req', Date.now())}`);
    expect([refused.status, unknown.status]).toEqual([404, 404]);
    expect(refused.text).not.toContain('secret-model');
    expect((await browser.get(`${LOG}.csv?range=30d&request=${theirs}`)).text.trim().split('\n')).toHaveLength(1);
    for (const odd of ['req_x', '%00', "'", '..%2f..%2fwallet', 'req_'.padEnd(3000, '0')])
      expect((await browser.get(`${LOG}/${odd}`)).status).toBe(404);
  });

  it('say which protocol a call was translated to', async () => {
    const html = await page(`${LOG}/${await row(ann, 1)}`);
    expect(html).toContain('<dd>OpenAI Responses, streamed</dd><dt>Translated to</dt><dd>Anthropic Messages</dd>');
  });

  it('sort calls by cost, over pages of the same order', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 30; index += 1)
      ids.push(await row(ann, index + 1, { cost: BigInt(index) * 1_000_000n }));
    const first = await page(`${LOG}?sort=cost&size=25`);
    expect(rows(first)).toEqual(ids.toReversed().slice(0, 25));
    expect(first).toContain('aria-sort="descending"');
    expect(first).toContain('Highest cost first, 25 per page');
    expect(rows(await page(link(first, 'next')))).toEqual(ids.toReversed().slice(25));
    const cursor = new URL(link(first, 'next'), relay.url).searchParams.get('before')!;
    expect(await page(`${LOG}?sort=tokens&before=${cursor}`)).toContain('Page no longer available');
    expect(rows(await page(`${LOG}?sort=nonsense&size=25`))).toEqual(ids.slice(0, 25));
  });

  it('find a call by its id, whatever the range', async () => {
    const id = await row(ann, 60 * 24 * 5);
    expect(rows(await page(`${LOG}?range=1h`))).toEqual([]);
    const found = await page(`${LOG}?range=1h&request=${id}`);
    expect(rows(found)).toEqual([id]);
    expect(found).not.toContain('id="totals"');
    expect(rows(await page(`${LOG}?request=%20${id}%20&result=failed`))).toEqual([]);
    const nonsense = await page(`${LOG}?request=nonsense`);
    expect(nonsense).toContain('No call with this ID');
    expect(nonsense).toContain('Enter the whole request ID.');
  });

  it('describe a chart of one bar', async () => {
    const span = 'range=span&from=2026-11-20T20:03:00Z&to=2026-11-20T20:04:00Z';
    expect(await page(`${LOG}?${span}&model=m`)).toContain('The bar is one minute from 20:03 (UTC)');
  });

  it('explain why the ID of a response to a wrong key finds no call', async () => {
    const wrong = await relay.post('/v1/responses', `sk-${'0'.repeat(48)}`, { model: 'm', input: 'hello' });
    await wrong.text();
    expect(wrong.status).toBe(401);
    const html = await page(`${LOG}?request=${wrong.headers.get('x-request-id')}`);
    expect(html).toContain('Requests without a valid API key are not recorded');
  });

  it('write markup in names and errors as text', async () => {
    const sql = relay.get(DataSource);
    await sql.query('UPDATE api_keys SET name = $1 WHERE id = $2', [MARKUP, ann.keyId]);
    const id = await row(ann, 1, {
      model: MARKUP,
      group: MARKUP,
      errorReason: MARKUP,
      errorMessage: MARKUP,
      status: 'failed',
    });
    const search = `model=${encodeURIComponent(MARKUP)}&group=${encodeURIComponent(MARKUP)}&key=${ann.keyId}`;
    for (const path of [
      LOG,
      `${LOG}?by=model`,
      `${LOG}?by=key`,
      `${LOG}?open=${id}`,
      `${LOG}?${search}`,
      `${LOG}/${id}`,
      `${LOG}?model=${encodeURIComponent(`"><script>`)}`,
    ]) {
      const html = await page(path);
      expect(html).not.toContain('<img');
      expect(html).not.toContain('"><script>');
    }
  });

  it('keep what is filtered on the way through pages, and in the CSV, which is what the pages show', async () => {
    const expected: string[] = [];
    for (let call = 0; call < 30; call += 1)
      expected.push(
        await row(ann, call + 1, { model: call % 5 === 4 ? 'other' : 'm', cost: BigInt(call) * 1_234_567n }),
      );
    const filtered = expected.filter((_, call) => call % 5 !== 4);
    const first = await page(`${LOG}?model=m&size=25`);
    expect(rows(first)).toEqual(filtered);
    const all = await page(`${LOG}?size=25`);
    expect(rows(all)).toEqual(expected.slice(0, 25));
    await row(ann, 0);
    const second = await page(link(all, 'next'));
    expect(rows(second)).toEqual(expected.slice(25));
    expect(link(all, 'next')).toContain('size=25');
    expect(rows(await page(link(second, 'prev')))).toEqual(expected.slice(0, 25));
    const csv = await browser.get(`${LOG}.csv?model=m`);
    expect(csv.headers.get('content-type')).toBe('text/csv; charset=utf-8');
    expect(csv.headers.get('cache-control')).toBe('no-store');
    const lines = csv.text
      .trim()
      .split('\n')
      .slice(1)
      .map((line) => line.split(','));
    expect(lines.map(([, id]) => id)).toEqual(filtered.toReversed());
    expect(lines.map((line) => line[8])).toEqual(lines.map(() => ''));
    const dollars = lines.reduce((sum, line) => sum + Math.round(Number(line[17]) * 1e9), 0);
    expect(first).toContain(`$${(Math.floor(dollars / 1e7) / 100).toFixed(2)}`);
  });

  it.each(['nonsense', 'eyJhdCI6IjIwMjYifQ.AAAA', '', 'a.b.c'])(
    'show the newest calls for the cursor %j, and say so',
    async (cursor) => {
      const id = await row(ann, 1);
      const html = await page(`${LOG}?before=${cursor}`);
      expect(rows(html)).toEqual([id]);
      expect(html.includes('Page no longer available')).toBe(cursor !== '');
    },
  );

  it('say what is missing: calls at all, calls of this range, calls that match', async () => {
    expect(await page(LOG)).toContain('No calls yet');
    await row(ann, 60 * 24 * 3);
    expect(await page(LOG)).toContain('No calls in this range');
    const html = await page(`${LOG}?range=7d&result=failed`);
    expect(html).toContain('No calls match these filters');
    expect(html).toContain('Remove filter Result: Failed');
  });

  it.each([
    ['from=2026-13-01&to=2026-01-01', 'Enter dates in the form'],
    ['from=2026-02-02&to=2026-02-01', 'Enter a start date on or before the end date'],
    ['from=2024-01-01&to=2026-02-01', 'at most 366 days'],
  ])('explain what is wrong with the range %s', async (range, words) => {
    await row(ann, 1);
    expect(await page(`${LOG}?range=custom&${range}`)).toContain(words);
  });

  it('take anything for a filter', async () => {
    const odd = [
      'range=x',
      'by=x&size=7',
      'model=%00',
      'model=a&model=b',
      'before=a&before=b',
      `model=${'x'.repeat(5000)}`,
      'result=x',
      'open=%00',
      'key=%25',
      'request=%00',
      'from[]=1',
    ];
    for (const search of odd) expect(await page(`${LOG}?${search}`)).toContain('<h1>Usage logs</h1>');
  });
});
