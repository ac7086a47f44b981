import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  bytes,
  delay,
  type ProtocolEndpoint,
  encodeEvents,
  endlessStream,
  eventsAround,
  eventsIn,
  hang,
  head,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';
import { readData, readEvents } from '../support/stream-text.js';

const LIMIT_MS = 300;
/** Long enough for a response to begin on a busy machine. */
const TOTAL_MS = 4 * LIMIT_MS;
const PRELUDE_MS = 50;

const NATIVE = 'flags: { nativeOnly: true }';

/** One channel of each protocol that has too little patience of each kind, and one behind it that answers. */
const catalogFor = (baseUrl: string): string => {
  const models = ['slow-start', 'idle', 'endless', 'slow-then-good', 'folded'];
  const limits = {
    'slow-start': 'first_event_ms',
    idle: 'idle_ms',
    endless: 'total_ms',
    'slow-then-good': 'first_event_ms',
  };
  const channel = (protocol: string, model: string, extra: string): string =>
    `  - { name: ${model}-${protocol}${extra.includes('tier') ? '-2' : ''}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], models: [${model}], ${extra} }`;
  return `
models:
${models
  .map(
    (name) =>
      `  - { name: ${name}, context_window: 100000, max_output_tokens: 1000, prices: [{ input: 1, output: 10 }] }`,
  )
  .join('\n')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  ...Object.entries(limits).map(([model, limit]) =>
    channel(protocol, model, `timeouts: { ${limit}: ${model === 'endless' ? TOTAL_MS : LIMIT_MS} }, ${NATIVE}`),
  ),
  channel(
    protocol,
    'folded',
    `timeouts: { first_event_ms: ${LIMIT_MS} }, flags: { nativeOnly: true, forceUpstreamStream: true }`,
  ),
  channel(protocol, 'slow-then-good', `tier: 2, headers: { x-second: "yes" }, ${NATIVE}`),
]).join('\n')}`;
};

describe('an upstream that takes too long', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({ preludeMs: PRELUDE_MS });
    await relay.applyCatalog(catalogFor(relay.upstream.url));
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  interface TimedOutCall {
    readonly status: number;
    readonly text: string;
    readonly row: StoredCall;
    readonly tookMs: number;
    /** `server-timing` */
    readonly timing: string;
  }

  async function ask(
    protocol: ProtocolEndpoint,
    model: string,
    script: Script,
    stream: boolean,
  ): Promise<TimedOutCall> {
    relay.upstream.script(script);
    const begunAt = performance.now();
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream }));
    const text = await response.text();
    const tookMs = performance.now() - begunAt;
    const timing = response.headers.get('server-timing') ?? '';
    return { status: response.status, text, tookMs, timing, row: await relay.onlyCall(caller) };
  }

  /** The upstream's socket was closed as well. */
  const expectUpstreamLeft = async (): Promise<void> =>
    expect(await (await relay.upstream.nextRequest()).closed).toBe('left');

  /** The failure of a running stream, as each protocol words a timeout. */
  function expectTimeoutIn(protocol: ProtocolEndpoint, tail: string, sequence: number): void {
    const data = readData(tail);
    if (protocol === 'chat-completions')
      expect(data).toMatchObject([{ error: { type: 'server_error', code: 'timeout' } }]);
    else if (protocol === 'messages') expect(data).toMatchObject([{ type: 'error', error: { type: 'timeout_error' } }]);
    else {
      expect(data).toMatchObject([
        { type: 'error', sequence_number: sequence, code: 'server_error' },
        { type: 'response.failed', sequence_number: sequence + 1, response: { error: { code: 'server_error' } } },
        '[DONE]',
      ]);
    }
    expect(tail).toContain(`(request id: `);
  }

  describe.each(PROTOCOLS)('%s', (protocol) => {
    const { all, three } = beginning(protocol);

    it('to go on after three deltas ends the stream with an error, and is paid for what it said (case 105)', async () => {
      const { text, row, tookMs } = await ask(protocol, 'idle', [streamHead(), sse(three), hang()], true);
      const written = encodeEvents(three).toString();
      expect(text.slice(0, written.length)).toBe(written);
      expectTimeoutIn(protocol, text.slice(written.length), three.length);
      expect(tookMs).toBeGreaterThan(LIMIT_MS * 0.9);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'timeout', billing_basis: 'partial' });
      expect(Number(row['completion_tokens'])).toBeGreaterThan(0);
      await expectUpstreamLeft();
    });

    it('but says something now and then is waited for (case 105)', async () => {
      const script = all.map((event) => [sse([event]), delay(LIMIT_MS / 6)]);
      const { text, row } = await ask(protocol, 'idle', [streamHead(), script], true);
      expect(text).toBe(encodeEvents(all).toString());
      expect(row).toMatchObject({ status: 'succeeded' });
    });

    it.each<[string, Script, boolean]>([
      ['sends no head', [hang()], true],
      ['sends no head of a whole answer', [hang()], false],
      ['sends a head and no event', [streamHead(), hang()], true],
      [
        'sends comments and no event',
        [streamHead(), Array.from({ length: 200 }, () => [delay(20), bytes(': PROCESSING\n\n')])],
        true,
      ],
    ])('to begin is a 504, and costs nothing: it %s', async (_, script, stream) => {
      const { status, text, row, tookMs } = await ask(protocol, 'slow-start', script, stream);
      expect(status).toBe(504);
      const error = {
        message: expect.stringContaining('did not start to respond in time'),
        type: 'server_error',
        code: 'timeout',
      };
      const { type, message } = { ...error, type: 'timeout_error' };
      expect(JSON.parse(text)).toMatchObject({ error: protocol === 'messages' ? { type, message } : error });
      expect(tookMs).toBeGreaterThan(LIMIT_MS * 0.9);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'timeout', billing_basis: 'free', cost: '0' });
      expect(await relay.wallet(caller)).toMatchObject({ balance: '10', held: '0' });
      await expectUpstreamLeft();
    });

    it('may take longer over the rest than it may to begin', async () => {
      const { text, row } = await ask(
        protocol,
        'slow-start',
        [streamHead(), sse(three), delay(2 * LIMIT_MS), sse(all.slice(three.length))],
        true,
      );
      expect(text).toBe(encodeEvents(all).toString());
      expect(row).toMatchObject({ status: 'succeeded' });
    });

    it('may take longer over the rest of a stream that is put together for its client (case 115)', async () => {
      const script = [streamHead(), sse(three), delay(2 * LIMIT_MS), sse(all.slice(three.length))];
      const { status, text, row, timing } = await ask(protocol, 'folded', script, false);
      expect([status, text]).toEqual([200, expect.stringContaining('One, two, three, four')]);
      expect(row).toMatchObject({ status: 'succeeded', attempts: 1 });
      // What the upstream takes is not the relay's time.
      expect(Number(/relay;dur=([\d.]+)/.exec(timing)?.[1])).toBeLessThan(2 * LIMIT_MS);
    });

    it.each<[string, Script]>([
      ['no event', [streamHead(), hang()]],
      ['comments alone', [streamHead(), Array.from({ length: 200 }, () => [delay(20), bytes(': PROCESSING\n\n')])]],
    ])('to begin a stream that is put together is a 504: %s', async (_, script) => {
      const { status, row } = await ask(protocol, 'folded', script, false);
      expect([status, row]).toMatchObject([504, { status: 'failed', error_reason: 'timeout', cost: '0' }]);
      await expectUpstreamLeft();
    });

    it.each([[[hang()]], [[streamHead(), hang()]]])('to begin is left for the next channel', async (script) => {
      const second = responseIn(protocol);
      const { status, text, row } = await ask(
        protocol,
        'slow-then-good',
        (request) => (request.headers['x-second'] === 'yes' ? second : script),
        true,
      );
      expect(status).toBe(200);
      const sent = readEvents(relay.upstream.lastSent).filter(({ data }) => !data.includes('"choices":[]'));
      expect(readEvents(text)).toEqual(sent);
      expect(row).toMatchObject({ status: 'succeeded', attempts: 2, channel: `slow-then-good-${protocol}-2` });
      expect(await relay.attempts(row.id)).toMatchObject([{ outcome: 'timeout' }, { outcome: 'succeeded' }]);
    });

    it('over the whole of its response is cut short', async () => {
      const { text, row } = await ask(protocol, 'endless', endlessStream(protocol, { gapMs: 5 }), true);
      expect(text).toContain('response timed out');
      expect(row).toMatchObject({ status: 'failed', error_reason: 'timeout', billing_basis: 'partial' });
      await expectUpstreamLeft();
    });

    it('over the whole of a response that is not streamed is a 504', async () => {
      const trickle = [
        head(200, { 'content-type': 'application/json' }),
        Array.from({ length: 500 }, () => [bytes(' '), delay(5)]),
      ];
      const { status, row } = await ask(protocol, 'endless', trickle, false);
      expect(status).toBe(504);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'timeout', cost: '0' });
      await expectUpstreamLeft();
    });
  });
});

/** A response in four deltas, and what of it comes before the fourth. */
function beginning(protocol: ProtocolEndpoint): { all: ScriptedEvent[]; three: ScriptedEvent[] } {
  const all = eventsIn(protocol, { text: ['One, ', 'two, ', 'three, ', 'four'] });
  return { all, three: eventsAround(all, 'four').before };
}
