import { setTimeout as sleep } from 'node:timers/promises';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually, TIMEOUT_MS } from '../support/eventually.js';
import { RawClient, type RawEnding } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  delay,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  endlessStream,
  eventsIn,
  head,
  type RecordedRequest,
  type Script,
  streamHead,
} from '../support/scripted-upstream.js';
import { usedMemory } from '../support/used-memory.js';

const MIB = 1024 * 1024;
const STALLED_MS = 600;
/** What the system's buffers of both connections may hold, and Node's; an upstream that is not held back writes more in a second. */
const MOST_BUFFERED = 48 * MIB;

describe('R5: a client that takes its response slowly or not at all', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  const start = (stalledClientMs: number): void => {
    beforeAll(async () => (relay = await RelayApp.start({ stalledClientMs })));
    beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
    afterAll(() => relay.close());
    afterEach(() => {
      RawClient.closeAll();
      relay.upstream.reset();
    });
  };

  const ask = (protocol: ProtocolEndpoint, script: Script, stream = true): Promise<RawClient> => {
    relay.upstream.script(script);
    const body = aRequest(protocol, { stream });
    return RawClient.post({ url: relay.url, path: PATHS[protocol], key: caller.key, body });
  };

  /** Bytes that the upstream has written when it has not written any for a while. */
  async function standstill(request: RecordedRequest): Promise<number> {
    return eventually(async () => {
      const before = request.sentBytes;
      await sleep(150);
      if (request.sentBytes !== before || before === 0)
        throw new Error(`The upstream still writes: ${request.sentBytes}`);
      return before;
    });
  }

  describe('and stays', () => {
    start(60_000);

    it.each(PROTOCOLS)(
      'holds its upstream back, in bounded memory, and gets all of it in the end (case 104): %s',
      async (protocol) => {
        const memory = usedMemory();
        const client = await ask(protocol, endlessStream(protocol, { text: 'again '.repeat(4000), gapMs: 0 }));
        await client.head;
        client.pause();
        const request = await relay.upstream.nextRequest();
        const sent = await standstill(request);
        expect(sent).toBeLessThan(MOST_BUFFERED);
        // What the upstream has recorded of its own writing is not the relay's: at most 8 MiB.
        expect(usedMemory() - memory).toBeLessThan(40 * MIB);
        client.resume();
        await eventually(() => expect(request.sentBytes).toBeGreaterThan(sent + 8 * MIB), TIMEOUT_MS);
        client.close();
        expect(await request.closed).toBe('left');
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
      },
    );

    it('holds back an endless response that is not streamed too (case 104)', async () => {
      const memory = usedMemory();
      const piece = bytes(Buffer.alloc(64 * 1024, 'x'));
      const client = await ask('messages', endlessBody(piece), false);
      await client.head;
      client.pause();
      const request = await relay.upstream.nextRequest();
      expect(await standstill(request)).toBeLessThan(MOST_BUFFERED + 8 * MIB);
      // Of what is recorded and what is kept for a late failure, 8 MiB each at most.
      expect(usedMemory() - memory).toBeLessThan(48 * MIB);
      client.close();
      expect(await request.closed).toBe('left');
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled' });
    });

    it.each(PROTOCOLS)(
      'gets an unstreamed response of more than 8 MiB whole, and pays what is reported: %s',
      async (protocol) => {
        const response = largeResponse(protocol, 10 * MIB);
        const client = await ask(
          protocol,
          [head(200, { 'content-type': 'application/json' }), bytes(response), end()],
          false,
        );
        expect((await client.complete()).equals(response)).toBe(true);
        expect((await client.head).headers.get('content-type')).toBe('application/json; charset=utf-8');
        // 1,000 × $1/M + 200 × $10/M.
        expect(await relay.onlyCall(caller)).toMatchObject({
          status: 'succeeded',
          billing_basis: 'reported',
          prompt_tokens: '1000',
          completion_tokens: '200',
          cost: '3000000',
          stream: false,
        });
      },
    );

    it.each(PROTOCOLS)(
      'pays what is reported when a server puts it in front of a large response: %s',
      async (protocol) => {
        const { usage, ...rest } = JSON.parse(largeResponse(protocol, 10 * MIB).toString()) as Record<string, unknown>;
        const response = Buffer.from(JSON.stringify({ usage: { note: '{"}\\', ...(usage as object) }, ...rest }));
        const client = await ask(protocol, wholeResponse(response), false);
        expect((await client.complete()).equals(response)).toBe(true);
        expect(await relay.onlyCall(caller)).toMatchObject({ billing_basis: 'reported', cost: '3000000' });
      },
    );

    it('gets a large response whole though nothing is reported with it, and pays for its output limit', async () => {
      const { usage: _, ...rest } = JSON.parse(largeResponse('messages', 10 * MIB).toString()) as Record<
        string,
        unknown
      >;
      const client = await ask('messages', wholeResponse(Buffer.from(JSON.stringify(rest))), false);
      expect(await client.ended).toBe('complete');
      client.close();
      const row = await relay.onlyCall(caller);
      expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'estimated' });
      expect(row['completion_tokens']).toBe('1000');
    });

    it('does not get a response of more than 8 MiB that breaks off as if it were whole', async () => {
      const response = largeResponse('messages', 10 * MIB).subarray(0, 9 * MIB);
      const script = [
        head(200, { 'content-type': 'application/json' }),
        bytes(response),
        delay(50),
        { type: 'destroy', how: 'close' } as const,
      ];
      const client = await ask('messages', script, false);
      expect(await client.ended).toBe('cut');
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'partial' });
    });
  });

  describe('and stops', () => {
    start(STALLED_MS);

    it.each(PROTOCOLS)('counts as gone when it takes no byte for so long: %s', async (protocol) => {
      const client = await ask(protocol, endlessStream(protocol, { text: 'again '.repeat(4000), gapMs: 0 }));
      await client.head;
      client.pause();
      const request = await relay.upstream.nextRequest();
      expect(await request.closed).toBe('left');
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
      expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
      client.resume();
      expect(await client.ended).toBe('cut');
    });

    it('is let go although its response is complete, when it does not take the end of it', async () => {
      // As large as an event may be, nearly: of less the buffers of both sockets may take all.
      const response = encodeEvents(eventsIn('messages', { text: 'x'.repeat(28 * MIB) }));
      const client = await ask('messages', [streamHead(), bytes(response), end()]);
      await client.head;
      client.pause();
      // It was settled before its end was written.
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
      await sleep(4 * STALLED_MS);
      client.resume();
      expect(await client.ended).toBe('cut');
    });

    it('is let go when it does not take an unstreamed response, which is settled by then', async () => {
      const client = await ask(
        'messages',
        [head(200, { 'content-type': 'application/json' }), bytes(largeResponse('messages', 8 * MIB - 1000)), end()],
        false,
      );
      client.pause();
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
      await sleep(4 * STALLED_MS);
      client.resume();
      expect(await client.ended).toBe('cut');
    });

    it('is not gone while it takes some of a large event now and then', async () => {
      const response = encodeEvents(eventsIn('messages', { text: 'x'.repeat(24 * MIB) }));
      const client = await ask('messages', [streamHead(), bytes(response), end()]);
      await client.head;
      const begunAt = performance.now();
      const takeSome = async (): Promise<RawEnding | undefined> => {
        client.pause();
        await sleep(STALLED_MS / 4);
        client.resume();
        return Promise.race([client.ended, sleep(1, undefined)]);
      };
      let ending = await takeSome();
      while (ending === undefined) ending = await takeSome();
      expect(ending).toBe('complete');
      expect(client.body.length).toBe(response.length);
      expect(performance.now() - begunAt).toBeGreaterThan(2 * STALLED_MS);
      client.close();
      expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
    });
  });
});

const wholeResponse = (response: Buffer): Script => [
  head(200, { 'content-type': 'application/json' }),
  bytes(response),
  end(),
];

/** A response that is all beginning. */
function endlessBody(piece: Script): Script {
  return function* () {
    yield [
      head(200, { 'content-type': 'application/json' }),
      bytes('{"id":"msg_1","content":[{"type":"text","text":"'),
    ];
    for (;;) yield piece;
  };
}

/** A whole response with a text of so many bytes: 1,000 tokens in, 200 out. */
function largeResponse(protocol: ProtocolEndpoint, size: number): Buffer {
  const text = 'x'.repeat(size);
  const message = { role: 'assistant', content: text };
  const counts = { prompt_tokens: 1000, completion_tokens: 200, total_tokens: 1200 };
  const others = { input_tokens: 1000, output_tokens: 200 };
  const responses: Readonly<Record<ProtocolEndpoint, object>> = {
    'chat-completions': { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'stop' }], usage: counts },
    messages: { id: 'msg_1', content: [{ type: 'text', text }], stop_reason: 'end_turn', usage: others },
    responses: {
      id: 'resp_1',
      status: 'completed',
      output: [{ type: 'message', content: [{ type: 'output_text', text }] }],
      usage: others,
      user: null,
      metadata: {},
    },
  };
  return Buffer.from(JSON.stringify(responses[protocol]));
}
