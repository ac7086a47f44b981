import { SharedMemory } from '../../src/relay/shared-response.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { expectError, INVALID_REQUEST, type Situation } from '../support/api-errors.js';
import { eventually } from '../support/eventually.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type ProtocolEndpoint,
  endlessStream,
  end,
  errorResponse,
  eventsIn,
  gate,
  type Gate,
  type Script,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

const MIB = 1024 * 1024;
const CONFLICT: Situation = {
  openai: [409, 'invalid_request_error', null],
  messages: [409, 'invalid_request_error'],
  reason: 'conflict',
};
/** 1000 tokens in at $1 per million, 200 out at $10. */
const USAGE = { usage: { prompt: 1000, completion: 200 } };
const COST = '3000000';

describe('requests with the Idempotency-Key of one that is still running', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => (relay = await RelayApp.start({ stalledClientMs: 60_000 })));
  beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });
  afterAll(() => relay.close());

  const post = (protocol: ProtocolEndpoint, overrides: object = {}, key = 'one', headers = {}): Promise<Response> =>
    relay.post(PATHS[protocol], caller.key, aRequest(protocol, { ...overrides }), {
      'idempotency-key': key,
      ...headers,
    });
  const raw = (protocol: ProtocolEndpoint, overrides: object = {}): Promise<RawClient> =>
    RawClient.post({
      url: relay.url,
      path: PATHS[protocol],
      key: caller.key,
      body: aRequest(protocol, { stream: true, ...overrides }),
      headers: { 'idempotency-key': 'one' },
    });
  const bytesOf = ({ chunks }: RawClient): number => chunks.reduce((sum, { length }) => sum + length, 0);
  const idOf = (response: Response): string => response.headers.get('x-request-id') ?? '';

  /** A stream whose last half waits. */
  const halves = (protocol: ProtocolEndpoint, rest: Gate): Script => {
    const events = eventsIn(protocol, { ...USAGE, text: ['one ', 'two ', 'three ', 'four'] });
    const middle = Math.ceil(events.length / 2);
    return [streamHead(), sse(events.slice(0, middle)), waitFor(rest), sse(events.slice(middle)), end()];
  };

  it.each(PROTOCOLS.flatMap((protocol) => [false, true].map((stream) => [protocol, stream] as const)))(
    'wait for it and get its response, charged once: %s, streamed: %s',
    async (protocol, stream) => {
      const go = gate();
      relay.upstream.script([waitFor(go), responseIn(protocol, { ...USAGE, stream })]);
      const calls = Array.from({ length: 20 }, () => post(protocol, { stream }));
      await relay.upstream.nextRequest();
      go.open();
      const responses = await Promise.all(calls);
      const texts = await Promise.all(responses.map((response) => response.text()));
      expect(responses.map(({ status }) => status)).toEqual(Array(20).fill(200));
      expect(relay.upstream.requests).toHaveLength(1);
      expect(new Set(texts).size).toBe(1);
      expect(new Set(responses.map(idOf)).size).toBe(20);
      // Every one is in the log by the time its response has ended; one of them was charged.
      const rows = await relay.calls(caller);
      expect(rows).toHaveLength(20);
      const charged = rows.filter(({ cost }) => cost !== '0');
      expect(charged).toMatchObject([{ status: 'succeeded', billing_basis: 'reported', cost: COST }]);
      const first = charged[0]!.id;
      for (const row of rows.filter(({ id }) => id !== first))
        expect(row).toMatchObject({
          status: 'succeeded',
          billing_basis: 'free',
          attempts: 0,
          prompt_tokens: null,
          error_reason: '',
          error_message: `(shared with ${first})`,
        });
      for (const response of responses)
        expect(response.headers.get('x-relay-shared-with')).toBe(idOf(response) === first ? null : first);
      expect(await relay.wallet(caller)).toEqual({ balance: '999.997', held: '0', holds: 0 });
      expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
    },
  );

  it.each(PROTOCOLS)('get what has passed already, and then what comes: %s', async (protocol) => {
    const rest = gate();
    relay.upstream.script(halves(protocol, rest));
    const first = await raw(protocol);
    await eventually(() => expect(first.text).toContain('one '));
    const second = await raw(protocol);
    await eventually(() => expect(second.text).toContain('one '));
    rest.open();
    const [one, two] = await Promise.all([first.complete(), second.complete()]);
    expect(two.toString()).toBe(one.toString());
    expect(two.toString()).toContain('four');
    expect(relay.upstream.requests).toHaveLength(1);
  });

  it('get all of it when the first client disconnects, whose call continues', async () => {
    const rest = gate();
    relay.upstream.script(halves('messages', rest));
    const first = await raw('messages');
    await eventually(() => expect(first.text).toContain('one '));
    const second = await raw('messages');
    await eventually(() => expect(second.text).toContain('one '));
    first.close();
    await eventually(() => expect(relay.upstream.requests).toHaveLength(1));
    rest.open();
    expect((await second.complete()).toString()).toContain('message_stop');
    expect(await relay.upstream.requests[0]!.closed).toBe('finished');
    const rows = await relay.calls(caller);
    expect(rows.map(({ status, cost }) => [status, cost])).toEqual([
      ['succeeded', COST],
      ['succeeded', '0'],
    ]);
  });

  it('end it as cancelled only when all of them have left', async () => {
    relay.upstream.script(halves('chat-completions', gate()));
    const first = await raw('chat-completions');
    await eventually(() => expect(first.text).toContain('one '));
    const second = await raw('chat-completions');
    await eventually(() => expect(second.text).toContain('one '));
    second.close();
    await eventually(async () => expect(await relay.calls(caller)).toMatchObject([{ status: 'cancelled', cost: '0' }]));
    expect(await relay.wallet(caller)).toMatchObject({ holds: 1 });
    first.close();
    expect(await relay.upstream.requests[0]!.closed).toBe('left');
    await eventually(async () =>
      expect((await relay.calls(caller)).map(({ status }) => status)).toEqual(['cancelled', 'cancelled']),
    );
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  });

  it.each(PROTOCOLS)('get its failure, each under its own id: %s', async (protocol) => {
    const go = gate();
    relay.upstream.script([waitFor(go), errorResponse(protocol, 400)]);
    const calls = [post(protocol), post(protocol)];
    await relay.upstream.nextRequest();
    // The other one waits by then, or finds the call failed and runs anew, which would be a second request.
    await new Promise((resolve) => setTimeout(resolve, 500));
    go.open();
    for (const response of await Promise.all(calls)) await expectError(protocol, response, INVALID_REQUEST);
    const rows = await relay.calls(caller);
    expect(rows.map(({ status, cost }) => [status, cost])).toEqual([
      ['failed', '0'],
      ['failed', '0'],
    ]);
    expect(relay.upstream.requests).toHaveLength(1);
  });

  it.each(PROTOCOLS)('are refused when they ask for something else: %s', async (protocol) => {
    const go = gate();
    relay.upstream.script([waitFor(go), responseIn(protocol)]);
    const first = post(protocol);
    await relay.upstream.nextRequest();
    const other = await post(protocol, { temperature: 0.5 });
    expect(await expectError(protocol, other, INVALID_REQUEST)).toContain('Idempotency-Key');
    go.open();
    expect((await first).status).toBe(200);
    expect((await relay.calls(caller)).map(({ status }) => status).toSorted()).toEqual(['refused', 'succeeded']);
  });

  it.each([
    ['chat-completions', 'openai-beta', 'x=1'],
    ['messages', 'anthropic-beta', 'a-2026'],
    ['messages', 'anthropic-version', '2023-01-01'],
    ['messages', 'vendor-version', '2023-01-01'],
    ['responses', 'openai-beta', 'x=1'],
  ] as const)(
    'are refused when a header asks the upstream for something else: %s, %s',
    async (protocol, name, value) => {
      const rest = gate();
      relay.upstream.script(halves(protocol, rest));
      const first = await post(protocol, { stream: true });
      const other = await post(protocol, { stream: true }, 'one', { [name]: value });
      expect(other.status).toBe(400);
      expect(await expectError(protocol, other, INVALID_REQUEST)).toContain('Idempotency-Key');
      // What does not go upstream asks for nothing.
      const same = await post(protocol, { stream: true }, 'one', { 'x-stainless-retry-count': '1' });
      expect(same.headers.get('x-relay-shared-with')).toBe(idOf(first));
      rest.open();
      expect(await same.text()).toBe(await first.text());
      expect(relay.upstream.requests).toHaveLength(1);
    },
  );

  it('run by themselves with another name, another key, or after the end', async () => {
    const go = gate();
    relay.upstream.script([waitFor(go), responseIn('messages', USAGE)]);
    const calls = [post('messages'), post('messages', {}, 'two')];
    const mine = caller;
    caller = await relay.caller();
    calls.push(post('messages'));
    await eventually(() => expect(relay.upstream.requests).toHaveLength(3));
    go.open();
    await Promise.all(calls.map(async (call) => (await call).text()));
    caller = mine;
    await (await post('messages')).text();
    expect(relay.upstream.requests).toHaveLength(4);
    expect((await relay.calls(caller)).map(({ cost }) => cost)).toEqual([COST, COST, COST]);
  });

  it('are refused when the name is longer than 255 characters', async () => {
    const response = await post('messages', {}, 'x'.repeat(256));
    expect(await expectError('messages', response, INVALID_REQUEST)).toContain('255');
    expect((await post('messages', {}, 'x'.repeat(255))).status).toBe(200);
  });

  it.each(PROTOCOLS)('are refused when more than 8 MiB of the response have passed: %s', async (protocol) => {
    relay.upstream.script(endlessStream(protocol, { text: 'again '.repeat(20_000), gapMs: 1 }));
    const first = await raw(protocol);
    await eventually(() => expect(bytesOf(first)).toBeGreaterThan(9 * MIB), 25_000);
    const second = await post(protocol, { stream: true });
    expect(await expectError(protocol, second, CONFLICT, { code: null })).toContain('bytes');
    first.close();
    expect(await relay.upstream.requests[0]!.closed).toBe('left');
  });

  it('are refused when all responses together take more memory than they may, and the first goes on', async () => {
    const memory = relay.get(SharedMemory);
    const usual = memory['limit'];
    Object.assign(memory, { limit: MIB });
    relay.upstream.script(endlessStream('responses', { text: 'again '.repeat(20_000), gapMs: 1 }));
    const first = await raw('responses');
    await eventually(() => expect(bytesOf(first)).toBeGreaterThan(2 * MIB), 25_000);
    const second = await post('responses', { stream: true });
    expect(await expectError('responses', second, CONFLICT, { code: null })).toContain('memory');
    expect(memory.takenBytes).toBeLessThan(MIB);
    const seen = bytesOf(first);
    await eventually(() => expect(bytesOf(first)).toBeGreaterThan(seen + MIB), 25_000);
    first.close();
    expect(await relay.upstream.requests[0]!.closed).toBe('left');
    await eventually(() => expect(memory.takenBytes).toBe(0));
    Object.assign(memory, { limit: usual });
  });

  it('do not block others: one that does not read is disconnected', async () => {
    relay.upstream.script(endlessStream('messages', { text: 'again '.repeat(20_000), gapMs: 1 }));
    const first = await raw('messages');
    const slow = await raw('messages');
    slow.pause();
    // More than is kept for it and more than any socket holds.
    await eventually(() => expect(bytesOf(first)).toBeGreaterThan(40 * MIB), 25_000);
    expect(relay.upstream.requests).toHaveLength(1);
    slow.resume();
    await eventually(() => expect(slow.chunks.at(-1)?.toString()).toContain('disconnected'), 25_000);
    first.close();
    expect(await relay.upstream.requests[0]!.closed).toBe('left');
  }, 60_000);
});
