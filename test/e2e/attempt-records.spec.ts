import { DataSource } from 'typeorm';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { deadUrl } from '../support/ports.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, bytes, delay, type ProtocolEndpoint, head, type Script } from '../support/scripted-upstream.js';
import { signedIn } from '../support/signed-in.js';

const OVERLOADED: Script = [
  delay(60),
  head(503, { 'content-type': 'application/json' }),
  delay(60),
  bytes('{"error":{"message":"busy at http://10.0.0.1/v1","type":"overloaded_error"}}'),
];
/** What a server may quote of a request, and say of itself, at length. */
const LONG_WORDS = `"sk-proj-${'s'.repeat(40)}" is no field. ${'word '.repeat(400)}`;

/** `two` has two channels, the second one behind the first; `gone` one where nobody listens. */
const catalogFor = (url: string, nobodysUrl: string): string => `
models:
${['two', 'gone'].map((name) => `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, prices: free }`).join('\n')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  channel(protocol, 'first', url, 'models: [two], tier: 1'),
  channel(protocol, 'second', url, 'models: [two], tier: 2'),
  channel(protocol, 'gone', nobodysUrl, 'models: [gone]'),
]).join('\n')}`;

const channel = (protocol: ProtocolEndpoint, name: string, url: string, rest: string): string =>
  `  - { name: ${name}-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [secret-of-${name}], flags: { nativeOnly: true }, ${rest} }`;

interface Attempt {
  readonly begun_ms: number;
  readonly connect_ms: number;
  readonly headers_ms: number;
  readonly first_byte_ms: number;
  readonly first_token_ms: number;
  readonly duration_ms: number;
  readonly reason: string;
}

describe('each attempt is on record', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    await relay.applyCatalog(catalogFor(relay.upstream.url, await deadUrl()));
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  async function ask(
    protocol: ProtocolEndpoint,
    model: string,
    stream: boolean,
    ...scripts: Script[]
  ): Promise<Attempt[]> {
    relay.upstream.scriptNext(...scripts);
    await (await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream }))).text();
    return (await relay.attempts((await relay.onlyCall(caller)).id)) as unknown as Attempt[];
  }

  it.each(PROTOCOLS)('with when it began, and how far it came by when, in order (%s)', async (protocol) => {
    const response = [delay(60), responseIn(protocol)];
    const [failed, good] = (await ask(protocol, 'two', true, OVERLOADED, response)) as [Attempt, Attempt];
    expect(failed).toMatchObject({ channel: `first-${protocol}`, credential: 1, outcome: 'server_is_overloaded' });
    expect(failed).toMatchObject({ first_token_ms: null, upstream_status: 503 });
    expectInOrder(0, failed.begun_ms);
    expectInOrder(0, failed.connect_ms, failed.headers_ms, failed.first_byte_ms, failed.duration_ms);
    // Timers and clocks of two processes may differ by a little.
    expect(failed.headers_ms).toBeGreaterThanOrEqual(55);
    expect(failed.first_byte_ms - failed.headers_ms).toBeGreaterThanOrEqual(50);
    expect(good).toMatchObject({ channel: `second-${protocol}`, outcome: 'succeeded', reason: '' });
    // Each is rounded for itself.
    expectInOrder(failed.begun_ms + failed.duration_ms - 1, good.begun_ms);
    expectInOrder(good.connect_ms, good.headers_ms, good.first_byte_ms, good.first_token_ms, good.duration_ms);
    const { duration_ms: total } = await relay.onlyCall(caller);
    expectInOrder(good.begun_ms + good.duration_ms - 1, Number(total));
  });

  it('without a time of anything that did not come', async () => {
    const [attempt] = await ask('messages', 'gone', false);
    expect(attempt).toMatchObject({ connect_ms: null, headers_ms: null, first_byte_ms: null, first_token_ms: null });
    expect(attempt).toMatchObject({
      upstream_status: null,
      outcome: 'upstream_error',
      reason: 'The connection to the upstream failed.',
    });
  });

  it('as connected at once where a connection is there already', async () => {
    await ask('responses', 'two', false);
    const other = await relay.caller();
    await (await relay.post('/v1/responses', other.key, aRequest('responses', { model: 'two' }))).text();
    const [attempt] = (await relay.attempts((await relay.onlyCall(other)).id)) as unknown as Attempt[];
    expect(attempt?.connect_ms).toBeLessThanOrEqual(attempt!.headers_ms);
    expect(relay.upstream.requests).toHaveLength(2);
  });

  it('with a reason in our words: short, and without keys and addresses', async () => {
    const refusal = [head(400, { 'content-type': 'application/json' }), bytes(JSON.stringify({ error: LONG_WORDS }))];
    const [refused] = (await ask('chat-completions', 'two', true, refusal)) as [Attempt];
    expect(refused).toMatchObject({ outcome: 'invalid_request' });
    expect(refused.reason).toMatch(/^The upstream rejected the request: status 400/);
    expect(refused.reason).not.toContain('is no field');
    expect(refused.reason.length).toBeLessThanOrEqual(300);
    expect(refused.reason).not.toContain('sk-proj');
    const another = await relay.caller();
    caller = another;
    const [busy] = (await ask('chat-completions', 'two', true, OVERLOADED)) as [Attempt];
    expect(busy.reason).toMatch(/overloaded|busy/i);
    expect(busy.reason).not.toContain('10.0.0.1');
  });

  it('and on the page of its call, with its reason; only administrators see the channel', async () => {
    await ask('responses', 'two', true, OVERLOADED, [delay(60), responseIn('responses')]);
    const { id } = await relay.onlyCall(caller);
    const visitor = await signedIn(relay, caller.accountId);
    const html = (await visitor.get(`/usage-logs/common/${id}`)).text;
    for (const words of ['Attempt 1', 'Attempt 2', 'Wait for the response', 'Wait for the first byte'])
      expect(html).toContain(words);
    const [{ reason }] = (await relay.attempts(id)) as unknown as [Attempt];
    expect(html).toContain(`<td role="cell" colspan="5">${reason}</td>`);
    expect(html).not.toContain('first-responses');
    await relay.get(DataSource).query("UPDATE accounts SET role = 'admin' WHERE id = $1", [caller.accountId]);
    expect((await visitor.get(`/usage-logs/common/${id}`)).text).toContain('503, first-responses');
  });
});

/** Later ones are not smaller; what never came is. */
function expectInOrder(...times: readonly number[]): void {
  expect(times.every((time) => typeof time === 'number')).toBe(true);
  expect(times.toSorted((one, other) => one - other)).toEqual(times);
}
