import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expectError, OVERLOADED, type Situation, TIMEOUT } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { NAMED_PAIRS, type Pair } from '../support/pairs.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  bytes,
  delay,
  end,
  eventsAround,
  eventsIn,
  hang,
  head,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

const LIMIT_MS = 400;
const PRELUDE_MS = 50;
/** A client does not read for longer than that; what it has missed comes well within it. */
const PAUSED_LIMIT_MS = 8000;
const MIB = 1024 * 1024;
/** More than the system's buffers of two connections hold. */
const LARGE = 24 * MIB;

const LIMITS: Readonly<Record<string, string>> = {
  connect: `connect_ms: ${LIMIT_MS}`,
  first: `first_event_ms: ${LIMIT_MS}`,
  idle: `idle_ms: ${LIMIT_MS}`,
  total: `total_ms: ${LIMIT_MS}`,
  'paused-idle': `idle_ms: ${LIMIT_MS}`,
  'paused-total': `total_ms: ${PAUSED_LIMIT_MS}`,
};

/** `<limit>-<protocol>`: one channel of little patience; `<limit>-then-good-<protocol>` has one behind it that answers. */
function catalogFor(baseUrl: string, muteUrl: string): string {
  const models: string[] = [];
  const channels: string[] = [];
  for (const protocol of PROTOCOLS)
    for (const [limit, timeouts] of Object.entries(LIMITS)) {
      const url = limit === 'connect' ? muteUrl : baseUrl;
      const alone = `${limit}-${protocol}`;
      const followed = `${limit}-then-good-${protocol}`;
      models.push(alone, followed);
      const channel = (name: string, address: string, rest: string): string =>
        `  - { name: ${name}, protocol: ${protocol}, base_url: "${address}", credentials: [x], ${rest} }`;
      channels.push(
        channel(alone, url, `models: [${alone}, ${followed}], timeouts: { ${timeouts} }`),
        channel(`${alone}-2`, baseUrl, `models: [${followed}], tier: 2, headers: { x-second: "yes" }`),
      );
    }
  const model = (name: string): string =>
    `  - { name: ${name}, context_window: 20000000, max_output_tokens: 1000, prices: free }`;
  return `models:\n${models.map(model).join('\n')}\nchannels:\n${channels.join('\n')}`;
}

interface Combination extends Pair {
  readonly stream: boolean;
  /** Whether the upstream is asked for a stream. */
  readonly streamed: boolean;
  readonly name: string;
}

const COMBINATIONS: readonly Combination[] = NAMED_PAIRS.flatMap(([name, pair]) =>
  [true, false].map((stream) => ({
    ...pair,
    stream,
    streamed: stream || pair.client !== pair.upstream,
    name: `${name}, ${stream ? 'streamed' : 'whole'}`,
  })),
);
const STREAMED = COMBINATIONS.filter(({ streamed }) => streamed);
const HEAD = head(200, { 'content-type': 'application/json' });
const often = (count: number, gapMs: number, content: string): Script =>
  Array.from({ length: count }, () => [bytes(content), delay(gapMs)]);

describe('time limits hold for every pair of protocols, streamed or not', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  let mute: Server;
  beforeAll(async () => {
    // Connections are made, and nothing is ever said on them: also not what encryption begins with.
    mute = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(mute, 'listening');
    relay = await RelayApp.start({ preludeMs: PRELUDE_MS, refusalMs: LIMIT_MS });
    await relay.applyCatalog(
      catalogFor(relay.upstream.url, `https://127.0.0.1:${(mute.address() as AddressInfo).port}/v1`),
    );
  });
  beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
  afterAll(async () => {
    await relay.close();
    mute.close();
  });
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });

  const ask = ({ client, upstream, stream }: Combination, model: string): Promise<Response> =>
    relay.post(PATHS[client], caller.key, aRequest(client, { model: `${model}-${upstream}`, stream }));

  /** Every combination at once: the first channel plays the script, the second one, where there is one, answers. */
  function play(script: (protocol: string, streamed: boolean) => Script): void {
    relay.upstream.script((request) => {
      const protocol = request.protocol!;
      return request.headers['x-second'] === 'yes'
        ? responseIn(protocol, { text: ['Second'] })
        : script(protocol, request.json['stream'] === true);
    });
  }

  /** On a busy machine a settlement may have to be tried again, after its error has been sent. */
  const rowsOf = (count: number): Promise<readonly StoredCall[]> =>
    eventually(async () => {
      const rows = await relay.calls(caller);
      expect(rows).toHaveLength(count);
      return rows;
    });

  async function expectRefused(combinations: readonly Combination[], model: string, situation: Situation = TIMEOUT) {
    const messages = await Promise.all(
      combinations.map(async (combination) => {
        const begunMs = performance.now();
        const response = await ask(combination, model);
        const message = await expectError(combination.client, response, situation);
        return { message, tookMs: performance.now() - begunMs, id: response.headers.get('x-request-id')! };
      }),
    );
    for (const { tookMs } of messages) expect(tookMs).toBeGreaterThan(LIMIT_MS * 0.9);
    const rows = await rowsOf(combinations.length);
    for (const row of rows) expect(row).toMatchObject({ status: 'failed', error_reason: situation.reason, cost: '0' });
    for (const { id } of messages) expect(await relay.attempts(id)).toMatchObject([{ outcome: situation.reason }]);
  }

  async function expectFailover(combinations: readonly Combination[], model: string): Promise<void> {
    const texts = await Promise.all(
      combinations.map(async (combination) => [
        combination.name,
        await (await ask(combination, `${model}-then-good`)).text(),
      ]),
    );
    for (const [name, text] of texts) expect([name, text]).toEqual([name, expect.stringContaining('Second')]);
    const rows = await rowsOf(combinations.length);
    for (const row of rows) {
      expect(row).toMatchObject({ status: 'succeeded', attempts: 2 });
      expect(await relay.attempts(row.id)).toMatchObject([{ outcome: 'timeout' }, { outcome: 'succeeded' }]);
    }
  }

  describe('R3: to be connected', () => {
    it('or it is a 504', () => expectRefused(COMBINATIONS, 'connect'));
    it('or the next channel is asked', () => {
      play((protocol) => responseIn(protocol));
      return expectFailover(COMBINATIONS, 'connect');
    });
  });

  describe.each<[string, readonly Combination[], string, (protocol: string, streamed: boolean) => Script]>([
    ['to begin: no head comes', COMBINATIONS, 'first', () => [hang()]],
    ['to begin: a head comes and no event', STREAMED, 'first', () => [streamHead(), hang()]],
    [
      'to go on: a head comes and nothing of a whole answer',
      COMBINATIONS,
      'idle',
      (_, streamed) => [streamed ? streamHead() : HEAD, hang()],
    ],
    ['to begin: only comments come', STREAMED, 'first', () => [streamHead(), often(500, 20, ': PROCESSING\n\n')]],
    // More than is kept of what comes before a response.
    [
      'to begin: comments come in masses',
      STREAMED,
      'first',
      () => [streamHead(), often(500, 20, `: ${'x'.repeat(20_000)}\n\n`)],
    ],
    [
      'to begin: only events come that keep the connection open',
      STREAMED.filter(({ upstream }) => upstream !== 'chat-completions'),
      'first',
      (protocol) => [streamHead(), often(500, 20, keepAlive(protocol))],
    ],
    [
      'to begin: a byte comes now and then, and never an event',
      STREAMED,
      'first',
      () => [streamHead(), bytes('data: '), often(500, 20, 'x')],
    ],
    [
      'over the whole: bytes come for ever',
      COMBINATIONS,
      'total',
      (_, streamed) => [streamed ? streamHead() : HEAD, often(500, 20, ' ')],
    ],
  ])('R3: %s', (_, combinations, model, script) => {
    it('is a 504', () => {
      play(script);
      return expectRefused(combinations, model);
    });
    it('is left for the next channel', () => {
      play(script);
      return expectFailover(combinations, model);
    });
  });

  it('R3: fails over by status when the body of an error does not arrive', async () => {
    play(() => [head(503, { 'content-type': 'application/json' }), hang()]);
    await expectRefused(COMBINATIONS, 'paused-total', OVERLOADED);
    caller = await relay.caller();
    const texts = COMBINATIONS.map(async (combination) => (await ask(combination, 'paused-total-then-good')).text());
    for (const text of await Promise.all(texts)) expect(text).toContain('Second');
  });

  it.each<[string, string, (protocol: string) => Script]>([
    ['to go on after some deltas', 'idle', (protocol) => [streamHead(), sse(beginning(protocol)), hang()]],
    [
      'over the whole of a stream',
      'total',
      (protocol) => [streamHead(), sse(beginning(protocol)), often(500, 20, ': x\n\n')],
    ],
  ])('R3: %s, or its client gets an error in the stream, or a 504 if unstreamed', async (_, model, script) => {
    play(script);
    await Promise.all(
      STREAMED.map(async (combination) => {
        const response = await ask(
          combination,
          `${model}-then-good`.replace('-then-good', combination.stream ? '-then-good' : ''),
        );
        if (!combination.stream) return void (await expectError(combination.client, response, TIMEOUT));
        const text = await response.text();
        expect([combination.name, response.status, text]).toEqual([
          combination.name,
          200,
          expect.stringContaining('One, '),
        ]);
        expect([combination.name, text]).toEqual([
          combination.name,
          expect.stringMatching(
            combination.client === 'messages'
              ? /"timeout_error"/
              : combination.client === 'responses'
                ? /"response\.failed"/
                : /"timeout"/,
          ),
        ]);
      }),
    );
    for (const row of await relay.calls(caller))
      expect(row).toMatchObject({ status: 'failed', error_reason: 'timeout', attempts: 1 });
  });

  it('R3: a comment is a sign of life once a response has begun', async () => {
    play((protocol) => {
      const { before, from } = eventsAround(eventsIn(protocol, { text: ['One, ', 'two, ', 'three'] }), 'three');
      return [streamHead(), sse(before), often(40, LIMIT_MS / 20, ': x\n\n'), sse(from), end()];
    });
    const texts = STREAMED.map(async (combination) => [
      combination.name,
      await (await ask(combination, 'idle')).text(),
    ]);
    for (const [name, text] of await Promise.all(texts))
      expect([name, text]).toEqual([name, expect.stringContaining('three')]);
    for (const row of await relay.calls(caller)) expect(row).toMatchObject({ status: 'succeeded' });
  });

  describe.each<Pair>([
    { client: 'messages', upstream: 'messages', model: '' },
    { client: 'chat-completions', upstream: 'chat-completions', model: '' },
    { client: 'responses', upstream: 'messages', model: '' },
  ])('R3: time in which a client of $client over $upstream takes nothing', ({ client: protocol, upstream }) => {
    it.each([
      ['idle', 3 * LIMIT_MS],
      ['total', PAUSED_LIMIT_MS + 500],
    ])("is not the upstream's: %s", async (limit, pauseMs) => {
      const pieces = Array.from({ length: LARGE / MIB }, () => 'x'.repeat(MIB));
      play(() => [streamHead(), sse(eventsIn(upstream, { text: [...pieces, 'the end'] })), end()]);
      const body = aRequest(protocol, { model: `paused-${limit}-${upstream}`, stream: true });
      const client = await RawClient.post({ url: relay.url, path: PATHS[protocol], key: caller.key, body });
      await client.head;
      client.pause();
      const request = await relay.upstream.nextRequest();
      await sleep(pauseMs);
      // It was held back indeed.
      expect(request.sentBytes).toBeLessThan(LARGE);
      client.resume();
      await client.complete();
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
    });
  });
});

const keepAlive = (protocol: string): string =>
  protocol === 'messages'
    ? 'event: ping\ndata: {"type":"ping"}\n\n'
    : 'data: {"type":"keepalive","sequence_number":0}\n\n';

/** What comes of a response before its last words. */
const beginning = (protocol: string) =>
  eventsAround(eventsIn(protocol, { text: ['One, ', 'two, ', 'three'] }), 'three').before;
