import { setTimeout as sleep } from 'node:timers/promises';
import { TokenThread } from '../../src/protocols/tokens/index.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  chunkEvery,
  cutAt,
  delay,
  destroy,
  type ProtocolEndpoint,
  encodeEvent,
  encodeEvents,
  end,
  errorResponse,
  eventsAround,
  eventsIn,
  gate,
  hang,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { readData, readEvents } from '../support/stream-text.js';

const COMMENT = ': keepalive\n\n';
const KEEP_ALIVE_MS = 50;
const PRELUDE_MS = 250;
/** Longer than a test may take: one that passes did not wait for it. */
const LONG_PRELUDE_MS = 600_000;
const PING = 'event: ping\ndata: {"type":"ping"}\n\n';

/** The events of a response: those before its first content, and the others. Without the upstream's own pings. */
function parts(protocol: ProtocolEndpoint): {
  all: ScriptedEvent[];
  prelude: ScriptedEvent[];
  content: ScriptedEvent[];
} {
  const all = eventsIn(protocol, { text: ['Hel', 'lo ', 'there'] }).filter(({ event }) => event !== 'ping');
  const { before, from } = eventsAround(all, 'Hel');
  return { all, prelude: before, content: from };
}

/** What the client of each protocol is told when the upstream has failed and the stream cannot be taken back (case 98). */
function expectFailure(protocol: ProtocolEndpoint, tail: string, sequence: number): void {
  const said = { message: expect.stringMatching(/\(request id: req_\w+\)$/) };
  const events = readEvents(tail);
  const data = readData(tail);
  if (protocol === 'chat-completions') {
    expect(events.map(({ event }) => event)).toEqual([undefined]);
    expect(data).toEqual([{ error: { ...said, type: 'server_error', param: null, code: expect.any(String) } }]);
  } else if (protocol === 'messages') {
    expect(events.map(({ event }) => event)).toEqual(['error']);
    expect(data).toMatchObject([{ type: 'error', error: { ...said, type: 'api_error' } }]);
  } else {
    expect(events.map(({ event, data: text }) => event ?? text)).toEqual(['error', 'response.failed', '[DONE]']);
    const flat = { code: 'server_error', ...said, param: null };
    expect(data[0]).toEqual({
      type: 'error',
      sequence_number: sequence,
      ...flat,
      error: { type: 'server_error', ...flat },
    });
    expect(data[1]).toMatchObject({
      type: 'response.failed',
      sequence_number: sequence + 1,
      response: { status: 'failed', error: { code: 'server_error', ...said } },
    });
  }
}

describe('when the relay writes', () => {
  let relay: RelayApp;
  let caller: TestCaller;

  const use = (timings: Parameters<typeof RelayApp.start>[0]): void => {
    beforeAll(async () => (relay = await RelayApp.start(timings)));
    beforeEach(async () => (caller = await relay.caller()));
    afterAll(() => relay.close());
    afterEach(() => {
      RawClient.closeAll();
      relay.upstream.reset();
    });
  };

  const ask = (protocol: ProtocolEndpoint, script: Script, stream = true): Promise<RawClient> => {
    relay.upstream.script(script);
    return RawClient.post({
      url: relay.url,
      path: PATHS[protocol],
      key: caller.key,
      body: aRequest(protocol, { stream }),
    });
  };

  describe('as a stream comes', () => {
    use({});
    describe.each(PROTOCOLS)('%s', (protocol) => {
      it('writes each event at once and whole, as the upstream does (case 23)', async () => {
        const { all, prelude, content } = parts(protocol);
        const client = await ask(protocol, [streamHead(), all.map((event) => [sse([event]), delay(10)]), end()]);
        await client.complete();
        const [first = '', ...others] = client.chunks.map(String);
        // The end may wait for what belongs to it: a marker, or the end of the upstream's body.
        const expected = content.map((event) => encodeEvent(event).toString());
        expect(first).toBe(encodeEvents(prelude).toString() + expected.shift());
        const last = protocol === 'responses' ? expected.splice(-2).join('') : expected.pop();
        expect(others).toEqual([...expected, last]);
      });

      it.each([
        ['one byte', (stream: Buffer) => [chunkEvery(1), bytes(stream)]],
        ['a few bytes', (stream: Buffer) => [chunkEvery(37), bytes(stream)]],
        ['all but a byte', (stream: Buffer) => [cutAt(1, stream.length - 1), bytes(stream)]],
        ['all', (stream: Buffer) => bytes(stream)],
      ])('writes no event in two, though the upstream writes %s at a time (case 23)', async (_, script) => {
        const stream = encodeEvents(parts(protocol).all);
        const client = await ask(protocol, [streamHead(), script(stream), end()]);
        expect((await client.complete()).toString()).toBe(stream.toString());
        for (const chunk of client.chunks.map(String)) expect(chunk).toMatch(/^(?:event|data): (?:.|\n)*\n\n$/);
      });

      it('sends no head before the upstream has sent an event, and then both at once (case 30)', async () => {
        const [head, event] = [gate(), gate()];
        const client = await ask(protocol, [
          waitFor(head),
          streamHead(),
          waitFor(event),
          sse(parts(protocol).all),
          end(),
        ]);
        await sleep(60);
        expect(client.answered).toBe(false);
        head.open();
        await sleep(100);
        expect(client.answered).toBe(false);
        event.open();
        expect((await client.head).status).toBe(200);
        expect((await client.complete()).toString()).toBe(relay.upstream.lastSent.toString());
      });
    });
  });

  describe('while nothing comes', () => {
    use({ keepAliveMs: KEEP_ALIVE_MS, preludeMs: 20 });
    describe.each(PROTOCOLS)('%s', (protocol) => {
      const begunPing = protocol === 'messages' ? PING : COMMENT;

      it('keeps the client alive before and within a response, and costs no sequence number (cases 24 and 30)', async () => {
        const { all, prelude, content } = parts(protocol);
        const [start, more] = [gate(), gate()];
        const client = await ask(protocol, [
          waitFor(start),
          streamHead(),
          sse([...prelude, ...content.slice(0, 1)]),
          waitFor(more),
          sse(content.slice(1)),
          end(),
        ]);
        const begunAt = performance.now();
        await eventually(() => expect(client.chunks.length).toBeGreaterThanOrEqual(3));
        expect(performance.now() - begunAt).toBeGreaterThan(2.5 * KEEP_ALIVE_MS);
        expect((await client.head).status).toBe(200);
        expect((await client.head).headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
        const before = client.chunks.length;
        expect(new Set(client.chunks.map(String))).toEqual(new Set([COMMENT]));

        start.open();
        await eventually(() => expect(client.chunks.length).toBeGreaterThanOrEqual(before + 5));
        more.open();
        const body = await client.complete();
        const pings = client.chunks
          .slice(before)
          .map(String)
          .filter((chunk) => chunk === begunPing);
        expect(pings.length).toBeGreaterThanOrEqual(3);
        expect(body.toString().replaceAll(COMMENT, '').replaceAll(begunPing, '')).toBe(encodeEvents(all).toString());
        if (protocol === 'responses') {
          const numbers = readData(body).map((data) => (data === '[DONE]' ? -1 : data['sequence_number']));
          expect(numbers).toEqual([...all.slice(1).keys(), -1]);
        }
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'succeeded' });
      });

      it('does not write a keep-alive into an event that has half arrived (case 24)', async () => {
        const { all, prelude } = parts(protocol);
        const stream = encodeEvents(all);
        const half = encodeEvents(prelude).length + 20;
        const more = gate();
        const client = await ask(protocol, [
          streamHead(),
          bytes(stream.subarray(0, half)),
          waitFor(more),
          bytes(stream.subarray(half)),
          end(),
        ]);
        await eventually(() => expect(client.text).toContain(begunPing));
        more.open();
        expect((await client.complete()).toString().replaceAll(begunPing, '').replaceAll(COMMENT, '')).toBe(
          stream.toString(),
        );
      });

      it('sends nothing of the kind to a client that asked for no stream (case 24)', async () => {
        const whole = await ask(protocol, [delay(3 * KEEP_ALIVE_MS), errorResponse(protocol, 400)], false);
        expect((await whole.head).status).toBe(400);
        expect(whole.text).not.toContain('keepalive');
        whole.close();
      });

      it('tells a failure of the upstream inside the stream once a keep-alive has gone out (cases 30 and 98)', async () => {
        const fail = gate();
        const client = await ask(protocol, [waitFor(fail), errorResponse(protocol, 500)]);
        expect((await client.head).status).toBe(200);
        await eventually(() => expect(client.text).toContain(COMMENT));
        fail.open();
        await client.ended;
        client.close();
        expectFailure(protocol, client.text.replaceAll(COMMENT, ''), 0);
        expect(await relay.onlyCall(caller)).toMatchObject({
          status: 'failed',
          error_reason: 'upstream_error',
          cost: '0',
        });
      });
    });
  });

  describe('events before the first content', () => {
    use({ preludeMs: PRELUDE_MS });
    describe.each(PROTOCOLS)('%s', (protocol) => {
      const { all, prelude, content } = parts(protocol);

      it('waits for content, but not for longer than the prelude may', async () => {
        const client = await ask(protocol, [streamHead(), sse(prelude), hang()]);
        await relay.upstream.nextRequest();
        const sentAt = performance.now();
        await sleep(PRELUDE_MS / 2);
        expect(client.answered).toBe(false);
        await client.head;
        expect(performance.now() - sentAt).toBeGreaterThan(PRELUDE_MS * 0.9);
        await eventually(() => expect(client.text).toBe(encodeEvents(prelude).toString()));
        client.close();
      });

      it('commits the response after the maximum wait: the failure is reported in the stream (case 98)', async () => {
        const client = await ask(protocol, [streamHead(), sse(prelude), delay(PRELUDE_MS + 200), destroy()]);
        expect((await client.head).status).toBe(200);
        await client.ended;
        client.close();
        const written = encodeEvents(prelude).toString();
        expect(client.text.slice(0, written.length)).toBe(written);
        expectFailure(protocol, client.text.slice(written.length), prelude.length);
      });

      it('tells a failure behind content with the next sequence number, and no clean end (case 98)', async () => {
        const [some, missing] = [[...prelude, ...content.slice(0, 2)], content.slice(2)];
        const client = await ask(protocol, [streamHead(), sse(some), delay(30), destroy()]);
        await client.ended;
        client.close();
        const written = encodeEvents(some).toString();
        expect(client.text.slice(0, written.length)).toBe(written);
        expectFailure(protocol, client.text.slice(written.length), some.length);
        expect(client.text).not.toContain(encodeEvent(missing.at(-2)!).toString());
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', billing_basis: 'partial' });
      });

      it('does not begin with comments: a failure behind them is still an HTTP error', async () => {
        const comment = bytes(': PROCESSING\n\n');
        const client = await ask(protocol, [
          streamHead(),
          comment,
          delay(PRELUDE_MS + 200),
          comment,
          delay(30),
          destroy(),
        ]);
        expect((await client.head).status).toBe(protocol === 'messages' ? 500 : 502);
        client.close();
      });

      it('keeps the order of all that follows it', async () => {
        const client = await ask(protocol, [streamHead(), sse(prelude), delay(PRELUDE_MS + 50), sse(content), end()]);
        expect((await client.complete()).toString()).toBe(encodeEvents(all).toString());
      });
    });
  });

  describe('events before the first content that are not held back', () => {
    use({ preludeMs: LONG_PRELUDE_MS });
    describe.each(PROTOCOLS)('%s', (protocol) => {
      const { prelude, content } = parts(protocol);

      it('goes out with the first content at once', async () => {
        const client = await ask(protocol, [streamHead(), sse(prelude), sse(content.slice(0, 1)), hang()]);
        await eventually(() => expect(client.chunks).toHaveLength(1));
        expect(client.text).toBe(encodeEvents([...prelude, ...content.slice(0, 1)]).toString());
        client.close();
      });

      it('goes out at once when it is larger than 64 KiB', async () => {
        const large = prelude.map((event, index) =>
          index > 0 || typeof event.data === 'string'
            ? event
            : { ...event, data: { ...event.data, echo: 'x'.repeat(70_000) } },
        );
        const client = await ask(protocol, [streamHead(), sse(large), hang()]);
        expect((await client.head).status).toBe(200);
        client.close();
      });

      it('is forgotten when the upstream fails behind it: the client gets an HTTP error', async () => {
        const client = await ask(protocol, [streamHead(), sse(prelude), delay(30), destroy()]);
        expect((await client.head).status).toBe(protocol === 'messages' ? 500 : 502);
        await client.complete();
        expect(client.text).toMatch(/^\{.*"error":/);
        expect(await relay.onlyCall(caller)).toMatchObject({ status: 'failed', cost: '0', billing_basis: 'free' });
      });
    });
  });

  describe('while events flow', () => {
    const LONG_MS = 2000;
    use({ keepAliveMs: LONG_MS });

    it.each(PROTOCOLS)('no keep-alive comes between them (case 24): %s', async (protocol) => {
      // The end waits for nothing: what these events do not report is not counted.
      Object.assign(relay.get(TokenThread), { maxBytes: 0 } satisfies Partial<TokenThread>);
      const events = eventsIn(protocol, { text: Array.from({ length: 15 }, (_, index) => `${index} `) });
      const client = await ask(protocol, [
        streamHead(),
        events.map((event) => [sse([event]), delay(LONG_MS / 8)]),
        end(),
      ]);
      expect((await client.complete()).toString()).toBe(encodeEvents(events).toString());
    });
  });

  describe('a failure behind a prelude that was never told', () => {
    use({ keepAliveMs: 50, preludeMs: 1000 });

    it.each(PROTOCOLS)('is the first thing that the client hears: %s (cases 25, 30 and 98)', async (protocol) => {
      const go = gate();
      const { prelude } = parts(protocol);
      const client = await ask(protocol, [waitFor(go), streamHead(), sse(prelude), delay(30), destroy()]);
      await client.head;
      go.open();
      await client.ended;
      client.close();
      expectFailure(protocol, client.text.replaceAll(COMMENT, ''), 0);
    });
  });
});
