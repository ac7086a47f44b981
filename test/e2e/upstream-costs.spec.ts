import { DataSource } from 'typeorm';
import { PROTOCOLS, PATHS, aRequest } from '../support/protocols.js';
import { deadUrl } from '../support/ports.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  destroy,
  type ProtocolEndpoint,
  errorResponse,
  eventsAround,
  eventsIn,
  hang,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { signedIn } from '../support/signed-in.js';

const USAGE = { prompt: 1000, cacheRead: 400, completion: 50 };
/** 600 × $1 + 400 × $0.10 + 50 × $8, per million: what `USAGE` costs at the first channel. */
const AT_FIRST = '1040000';
/** Half of 600 × $2 + 400 × $0.20 + 50 × $10. */
const AT_SECOND = '890000';
const TEXT = 'Hello there';

/** `two` has two channels, one behind the other, `gone` another before the second; who charges what for `dark` nobody knows, for `half` at the second alone. */
const catalogFor = (url: string, nobodysUrl: string): string => `
groups:
  - { name: default, multiplier: 0.1 }
models:
${['two', 'gone', 'dark', 'half']
  .map(
    (name) => `
  - { name: ${name}, context_window: 200000, max_output_tokens: 64000,
      prices: [{ input: 2, cache_read: 0.2, output: 10 }] }`,
  )
  .join('')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  channel(protocol, 'first', url, 1, '[two, dark, half]', '{ two: { input: 1, cache_read: 0.1, output: 8 } }'),
  channel(protocol, 'nobody', nobodysUrl, 1, '[gone]', '{ gone: 1 }'),
  channel(protocol, 'second', url, 2, '[two, gone, dark, half]', '{ two: 0.5, gone: 0.5, half: 0.5 }'),
]).join('\n')}`;

const channel = (
  protocol: ProtocolEndpoint,
  name: string,
  url: string,
  tier: number,
  models: string,
  costs: string,
): string =>
  `  - { name: ${name}-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [x], tier: ${tier}, flags: { nativeOnly: true }, models: ${models}, costs: ${costs} }`;

describe.each(PROTOCOLS)('upstream costs of calls (%s)', (protocol) => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalogFor(relay.upstream.url, await deadUrl()));
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const good = responseIn(protocol, { usage: USAGE });
  const { until, before } = eventsAround(eventsIn(protocol, { usage: USAGE, text: [TEXT, ' again'] }), TEXT);

  async function ask(model: string, stream: boolean, ...scripts: Script[]): Promise<StoredCall> {
    relay.upstream.scriptNext(...scripts);
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream }));
    await response.text().catch(() => '');
    return relay.onlyCall(caller);
  }
  const costs = async ({ id }: StoredCall): Promise<unknown[]> =>
    (await relay.attempts(id)).map(({ upstream_cost }) => upstream_cost);

  it.each([false, true])('are computed from the charged usage, not from the group (streamed: %s)', async (stream) => {
    const row = await ask('two', stream, good);
    expect(row).toMatchObject({ upstream_cost: AT_FIRST, billing_basis: 'reported', cost: '178000' });
    const [attempt] = await relay.attempts(row.id);
    expect(attempt).toMatchObject({ upstream_cost: AT_FIRST, cost_version: expect.stringMatching(/^cst_/) });
  });

  it('are those of the attempt that served, when the one before was refused', async () => {
    const row = await ask('two', true, errorResponse(protocol, 503), good);
    expect(row).toMatchObject({ status: 'succeeded', upstream_cost: AT_SECOND });
    expect(await costs(row)).toEqual(['0', AT_SECOND]);
  });

  it('are zero when the connection failed', async () => {
    const row = await ask('gone', false, good);
    expect(await costs(row)).toEqual(['0', AT_SECOND]);
    expect(row).toMatchObject({ upstream_cost: AT_SECOND });
  });

  it('are unknown of an attempt that had begun to answer, and so of the whole call', async () => {
    const row = await ask('two', true, [streamHead(), sse(before), destroy('close')], good);
    expect(row).toMatchObject({ status: 'succeeded', attempts: 2, upstream_cost: null });
    expect(await costs(row)).toEqual([null, AT_SECOND]);
  });

  it('are unknown for an attempt without a response', async () => {
    const row = await ask('two', false, destroy(), good);
    expect(await costs(row)).toEqual([null, AT_SECOND]);
    expect(row).toMatchObject({ upstream_cost: null });
  });

  it('are nothing when every channel refused', async () => {
    const row = await ask('two', false, errorResponse(protocol, 503), errorResponse(protocol, 500));
    expect(row).toMatchObject({ status: 'failed', cost: '0', upstream_cost: '0' });
    expect(await costs(row)).toEqual(['0', '0']);
  });

  it('are nothing of a refusal, also where the channel does not say what the model costs', async () => {
    const row = await ask('half', false, errorResponse(protocol, 503), good);
    expect(await costs(row)).toEqual(['0', AT_SECOND]);
    expect(row).toMatchObject({ status: 'succeeded', upstream_cost: AT_SECOND });
  });

  it('are unknown where the channel does not say what the model costs', async () => {
    const row = await ask('dark', true, good);
    expect(row).toMatchObject({ status: 'succeeded', upstream_cost: null });
    expect(await relay.attempts(row.id)).toMatchObject([{ upstream_cost: null, cost_version: null }]);
  });

  it('are those of what was seen, when the stream is cut short', async () => {
    const row = await ask('two', true, [streamHead(), sse(until), destroy('close')]);
    expect(row).toMatchObject({ status: 'failed', billing_basis: 'partial' });
    const input = BigInt(row['prompt_tokens'] as string);
    const [cached, output] = [BigInt(row['cached_tokens'] as string), BigInt(row['completion_tokens'] as string)];
    expect(output).toBeGreaterThan(0n);
    expect(row).toMatchObject({ upstream_cost: String((input - cached) * 1000n + cached * 100n + output * 8000n) });
  });

  it('are those of what was seen, when the client leaves', async () => {
    relay.upstream.scriptNext([streamHead(), sse(until), hang()]);
    const leaving = new AbortController();
    const response = await fetch(`${relay.url}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(aRequest(protocol, { model: 'two', stream: true })),
      signal: leaving.signal,
    });
    await response.body?.getReader().read();
    leaving.abort();
    const row = await relay.onlyCall(caller);
    expect(row).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
    expect(BigInt(row['upstream_cost'] as string)).toBeGreaterThan(0n);
    expect(await costs(row)).toEqual([row['upstream_cost']]);
  });

  it('are nothing of a call that was refused here', async () => {
    const poor = await relay.caller({ credit: '0' });
    await (await relay.post(PATHS[protocol], poor.key, aRequest(protocol, { model: 'two' }))).text();
    expect(await relay.onlyCall(poor)).toMatchObject({ status: 'refused', upstream_cost: '0' });
  });

  it('are visible to administrators only, on the page of the call, with the margin', async () => {
    const { id } = await ask('two', true, responseIn(protocol, { usage: USAGE, headers: { 'x-request-id': 'up-2' } }));
    const visitor = await signedIn(relay, caller.accountId);
    const page = async (): Promise<string> => (await visitor.get(`/usage-logs/common/${id}`)).text;
    expect(await page()).not.toMatch(/up-2|Upstream cost|Margin/);
    await relay.get(DataSource).query("UPDATE accounts SET role = 'admin' WHERE id = $1", [caller.accountId]);
    expect(await page()).toContain(
      '<dt>Upstream</dt><dd>status 200, <code>up-2</code></dd>' +
        '<dt>Upstream cost</dt><dd>$0.001040</dd><dt>Margin</dt><dd>−$0.000862</dd>',
    );
  });

  it('are a dash where they are unknown', async () => {
    const { id } = await ask('dark', false, good);
    const visitor = await signedIn(relay, caller.accountId);
    await relay.get(DataSource).query("UPDATE accounts SET role = 'admin' WHERE id = $1", [caller.accountId]);
    const { text } = await visitor.get(`/usage-logs/common/${id}`);
    expect(text).toContain('<dt>Upstream cost</dt><dd>–</dd><dt>Margin</dt><dd>–</dd>');
  });

  it('stand beside the name that the upstream gave the request', async () => {
    const named = (headers: Record<string, string>): Script => responseIn(protocol, { usage: USAGE, headers });
    const refused = errorResponse(protocol, 503, undefined, { 'request-id': `r-${'x'.repeat(300)}` });
    const { id } = await ask('two', false, refused, named({ 'x-request-id': 'up-1', 'request-id': 'other' }));
    expect(await relay.attempts(id)).toMatchObject([
      { upstream_request_id: `r-${'x'.repeat(198)}` },
      { upstream_request_id: 'up-1' },
    ]);
  });
});
