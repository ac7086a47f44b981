import { jest } from '@jest/globals';
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { BodyBudget } from '../../src/relay/body-budget.js';
import { HeldBody } from '../../src/relay/bodies.js';
import {
  expectError,
  expectFreeRow,
  INVALID_REQUEST,
  INVALID_TOKEN,
  NOT_FOUND,
  OVERLOADED,
  type Situation,
  TOO_LARGE,
  TOO_SLOW,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  type ProtocolEndpoint,
  encodeEvent,
  errorResponse,
  eventsIn,
  gate,
  hang,
  streamHead,
  bytes,
  waitFor,
} from '../support/scripted-upstream.js';
import { usedMemory } from '../support/used-memory.js';

const KIB = 1024;
const MIB = 1024 * KIB;
const CHUNKED: Record<string, string> = { 'transfer-encoding': 'chunked' };

/** A body of so many bytes. */
function bodyOf(protocol: ProtocolEndpoint, size: number, overrides = {}): string {
  const rest = size - JSON.stringify(aRequest(protocol, { ...overrides, extra: '' })).length;
  return JSON.stringify(aRequest(protocol, { ...overrides, extra: 'x'.repeat(rest) }));
}

/** As HTTP frames a piece of a body without a length. */
const chunk = (content: string): string => `${content.length.toString(16)}\r\n${content}\r\n`;

async function responseOf(client: RawClient): Promise<Response> {
  const { status, headers } = await client.head;
  expect(await client.ended).toBe('complete');
  return new Response(client.body, { status, headers: [...headers] });
}

describe('R10: bodies that ask too much of memory or patience', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  const start = (...options: Parameters<typeof RelayApp.start>): void => {
    beforeAll(async () => (relay = await RelayApp.start(...options)));
    beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
    afterAll(() => relay.close());
    afterEach(async () => {
      RawClient.closeAll();
      relay.upstream.reset();
      await eventually(() => expect(takenBytes()).toBe(0));
    });
  };
  const takenBytes = (): number => relay.get(BodyBudget).takenBytes;

  /** Sends the head of a call, and the beginning of its body. */
  const begin = (protocol: ProtocolEndpoint, body: string, headers: Record<string, string>, key = caller.key) =>
    RawClient.post({ url: relay.url, path: PATHS[protocol], key, body, headers });
  const announce = (protocol: ProtocolEndpoint, length: number, body = '{') =>
    begin(protocol, body, { 'content-length': String(length) });

  describe('the memory of all bodies together', () => {
    start({}, { BODY_MEMORY_BYTES: String(300 * KIB), MAX_BODY_BYTES: String(200 * KIB) });

    it.each(PROTOCOLS)('is refused to a call that does not fit, and given again: %s', async (protocol) => {
      relay.upstream.scriptNext(hang());
      const first = await begin(protocol, bodyOf(protocol, 200 * KIB), {});
      await relay.upstream.nextRequest();
      const other = await relay.caller();
      const response = await relay.post(PATHS[protocol], other.key, bodyOf(protocol, 150 * KIB));
      await expectError(protocol, response, OVERLOADED);
      expect(response.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
      await expectFreeRow(relay, other, response, { status: 'refused', error_reason: 'server_is_overloaded' });
      // What fits is served meanwhile.
      expect((await relay.post(PATHS[protocol], other.key, bodyOf(protocol, 50 * KIB))).status).toBe(200);
      first.close();
      await eventually(() => expect(takenBytes()).toBe(0));
      expect((await relay.post(PATHS[protocol], caller.key, bodyOf(protocol, 150 * KIB))).status).toBe(200);
    });

    it('N3: is not kept from others by one key that opens slow uploads, however much they announce', async () => {
      const uploads = await Promise.all(
        Array.from({ length: 20 }, () => announce('messages', 200 * KIB, `{"x":"${'y'.repeat(10 * KIB)}`)),
      );
      await eventually(() => expect(takenBytes()).toBeGreaterThan(130 * KIB));
      for (const size of [50 * KIB, 120 * KIB, 70 * KIB]) {
        const other = await relay.caller();
        expect((await relay.post(PATHS.messages, other.key, bodyOf('messages', size))).status).toBe(200);
      }
      for (const upload of uploads) upload.close();
    });

    it('N3: is freed by aborting slow uploads first, with an error that says to retry', async () => {
      const uploads = await Promise.all(
        Array.from({ length: 4 }, async () => {
          const { key } = await relay.caller();
          const headers = { 'content-length': String(200 * KIB) };
          return begin('messages', `{"x":"${'y'.repeat(60 * KIB)}`, headers, key);
        }),
      );
      await eventually(() => expect(takenBytes()).toBeGreaterThan(240 * KIB));
      // From then on their speed is known.
      await sleep(1100);
      expect((await relay.post(PATHS.messages, caller.key, bodyOf('messages', 70 * KIB))).status).toBe(200);
      const [slow] = await Promise.race(uploads.map(async (upload) => [await responseOf(upload)] as const));
      expect(await expectError('messages', slow!, OVERLOADED)).toContain('Retry shortly');
      for (const upload of uploads) upload.close();
    });

    it('is taken by a body of unknown length as it grows', async () => {
      relay.upstream.scriptNext(hang());
      const filler = await begin('messages', bodyOf('messages', 200 * KIB), {});
      await relay.upstream.nextRequest();
      const growing = await begin('messages', '', CHUNKED, (await relay.caller()).key);
      await growing.send(chunk(`{"x":"${'y'.repeat(50 * KIB)}`));
      await eventually(() => expect(takenBytes()).toBeGreaterThan(250 * KIB));
      expect(growing.answered).toBe(false);
      void growing.send(chunk('y'.repeat(60 * KIB)));
      await expectError('messages', await responseOf(growing), OVERLOADED);
      await eventually(() => expect(takenBytes()).toBe(200 * KIB));
      filler.close();
    });

    it('is never exceeded by one body alone, which is then too large and not early', async () => {
      await relay.close();
      relay = await RelayApp.start({}, { BODY_MEMORY_BYTES: String(100 * KIB) });
      caller = await relay.caller();
      const response = await relay.post(PATHS.messages, caller.key, bodyOf('messages', 101 * KIB));
      expect(await expectError('messages', response, TOO_LARGE)).toContain(String(100 * KIB));
    });
  });

  describe('the memory of one body', () => {
    start();

    it.each<[string, (body: string) => Promise<unknown>]>([
      ['was answered', (body) => relay.post(PATHS.messages, caller.key, body)],
      [
        'was refused for what it says',
        () => relay.post(PATHS.messages, caller.key, bodyOf('messages', MIB, { model: 7 })),
      ],
      ['was refused for its form', (body) => relay.post(PATHS.messages, caller.key, body.replace(':', ';'))],
      [
        'was refused for its model',
        () => relay.post(PATHS.messages, caller.key, bodyOf('messages', MIB, { model: 'no' })),
      ],
      [
        'failed at every upstream',
        (body) => {
          relay.upstream.script(errorResponse('messages', 500));
          return relay.post(PATHS.messages, caller.key, body);
        },
      ],
      [
        'was left half way',
        async (body) => leave(await begin('messages', body.slice(0, -5), { 'content-length': `${MIB}` })),
      ],
      [
        'was left while its upstream thought',
        async (body) => {
          relay.upstream.script(hang());
          const client = await begin('messages', body, {});
          await relay.upstream.nextRequest();
          expect(takenBytes()).toBe(MIB);
          client.close();
        },
      ],
    ])('is given back when the call %s', async (_, play) => {
      await play(bodyOf('messages', MIB));
      await eventually(() => expect(takenBytes()).toBe(0));
    });

    async function leave(client: RawClient): Promise<void> {
      await eventually(() => expect(takenBytes()).toBe(MIB - 5));
      client.close();
    }

    it('is not asked for by bodies in crumbs, which are refused', async () => {
      const client = await begin('messages', '', CHUNKED);
      await client.send(chunk(' ').repeat(10_000));
      expect(await expectError('messages', await responseOf(client), INVALID_REQUEST)).toContain('chunks');
      client.close();
    });

    it.each(PROTOCOLS)(
      'is held while another channel may be tried, and not while the response comes: %s',
      async (protocol) => {
        const begun = gate();
        const over = gate();
        const [first, ...rest] = eventsIn(protocol, { text: 'Hello' }).map(encodeEvent);
        // Once a stream has ended with its usage, the next one is expected to.
        await (await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream: true }))).text();
        await relay.upstream.nextRequest();
        relay.upstream.script([
          streamHead(),
          waitFor(begun),
          bytes(Buffer.concat([first!, ...rest.slice(0, -1)])),
          waitFor(over),
        ]);
        const dropped = watchDropped();
        const client = await begin(protocol, bodyOf(protocol, 16 * MIB, { stream: true }), {});
        await relay.upstream.nextRequest();
        expect(takenBytes()).toBe(16 * MIB);
        begun.open();
        await client.head;
        await eventually(() => expect(takenBytes()).toBe(0));
        // Nothing else has kept it either.
        await eventually(() => {
          usedMemory();
          expect(dropped.map((memory) => memory.deref() === undefined)).toEqual([true]);
        });
        over.open();
        client.close();
      },
    );

    it('is no more than the body takes, however small its pieces are', async () => {
      const piece = chunk('yyyyyyyyyyyyyyyyyyyy').repeat(1000);
      const before = usedMemory();
      const client = await begin('messages', '', CHUNKED);
      await client.send(chunk('{"x":"'));
      for (let index = 0; index < 20; index++) await client.send(piece);
      await eventually(() => expect(takenBytes()).toBeGreaterThan(390_000));
      // Kept one by one they took some 400 bytes each.
      expect(usedMemory() - before).toBeLessThan(4 * MIB);
      client.close();
    });
  });

  describe('a body that does not come', () => {
    start({ bodyMs: 400, bodyBytesPerSecond: 5000, lingerUnreadMs: 200 });

    it.each(PROTOCOLS)('is refused in time, and its connection is closed: %s', async (protocol) => {
      const client = await announce(protocol, 100_000, '{"model":');
      const response = await responseOf(client);
      expect(await expectError(protocol, response, TOO_SLOW)).toContain('too slowly');
      expect(response.headers.get('connection')).toBe('close');
      await expectFreeRow(relay, caller, response, { status: 'refused', error_reason: 'request_timeout' });
      await client.closed;
    });

    it('is refused when it drips, with a length or without', async () => {
      for (const headers of [{ 'content-length': '100000' }, CHUNKED]) {
        const client = await begin('messages', '', headers);
        const dripping = setInterval(() => void client.send(headers === CHUNKED ? chunk(' ') : ' '), 20);
        await expectError('messages', await responseOf(client), TOO_SLOW);
        await client.closed;
        clearInterval(dripping);
      }
    });

    it('is refused when it stops after a good beginning', async () => {
      const client = await announce('messages', MIB, `{"x":"${'y'.repeat(500 * KIB)}`);
      await expectError('messages', await responseOf(client), TOO_SLOW);
    });
  });

  describe('a body that takes its time but keeps coming', () => {
    const HEADERS_MS = 100;
    start({ bodyMs: 1000, bodyBytesPerSecond: 1000 }, {}, { headersMs: HEADERS_MS, checkMs: 50, idleMs: 60_000 });

    it('is waited for, by every limit there is', async () => {
      const body = bodyOf('messages', 300 * KIB);
      const client = await announce('messages', body.length, '');
      const pieces = 50;
      const size = Math.ceil(body.length / pieces);
      for (let index = 0; index < pieces; index++) {
        await client.send(body.slice(index * size, (index + 1) * size));
        await sleep(50);
      }
      expect((await responseOf(client)).status).toBe(200);
    });

    it('refuses missing or endless headers with an error in the OpenAI format', async () => {
      const { hostname, port } = new URL(relay.url);
      for (const beginning of ['', 'POST /v1/messages HTTP/1.1\r\nhost: x\r\nx-slow: ']) {
        const socket = connect(Number(port), hostname);
        await once(socket, 'connect');
        let response = '';
        socket.on('data', (data) => (response += data.toString()));
        socket.on('error', () => undefined);
        const closed = once(socket, 'close');
        socket.write(beginning);
        const dripping = beginning && setInterval(() => socket.writable && socket.write('x'), 10);
        await closed;
        clearInterval(dripping || undefined);
        expect(response).toMatch(/^HTTP\/1\.1 408 /);
        expect(response).toMatch(
          /\{"error":\{"message":"[^"]+\(request id: req_\w+\)","type":"invalid_request_error",/,
        );
      }
    });
  });

  describe('a client that sends all of its body before it reads', () => {
    const MAX_BODY_BYTES = 4 * MIB;
    start({ lingerUnreadMs: 5000 }, { MAX_BODY_BYTES: String(MAX_BODY_BYTES) });
    const upload = 3 * MIB;

    /** Reads nothing until all of its body is on the way. */
    async function uploadThenRead(path: string, key: string, announced: number, beginning = ''): Promise<Response> {
      const headers = { 'content-length': String(announced) };
      const client = await RawClient.post({ url: relay.url, path, key, body: beginning, headers });
      client.pause();
      for (let sent = beginning.length; sent < announced; sent += 64 * KIB)
        await client.send(Buffer.alloc(Math.min(64 * KIB, announced - sent), ' '));
      client.resume();
      const response = await responseOf(client);
      expect(response.headers.get('connection')).toBe('close');
      await client.closed;
      return response;
    }

    it.each<[string, () => Promise<Response>, Situation]>([
      ['a stranger', () => uploadThenRead(PATHS.messages, 'sk-nobody', upload), INVALID_TOKEN],
      ['one that is lost', () => uploadThenRead('/v1/messages/nowhere', caller.key, upload), NOT_FOUND],
      [
        'one whose body is too large',
        () => uploadThenRead(PATHS.messages, caller.key, MAX_BODY_BYTES + MIB),
        TOO_LARGE,
      ],
      ['one whose body is no JSON', () => uploadThenRead(PATHS.messages, caller.key, upload, '[,'), INVALID_REQUEST],
    ])('reads why it was refused: %s', async (_, send, situation) => {
      await expectError('messages', await send(), situation);
    });

    it.each([CHUNKED, { 'content-length': String(1000 * MIB) }])('is not listened to for ever: %j', async (headers) => {
      const client = await begin('messages', '', headers);
      const piece = headers === CHUNKED ? chunk(' '.repeat(64 * KIB)) : ' '.repeat(64 * KIB);
      let sent = 0;
      while (sent < 500 * MIB && (await client.send(piece))) sent += 64 * KIB;
      await client.closed;
      // What is read of it at most, twice; and what the system's buffers hold.
      expect(sent).toBeLessThan(2 * MAX_BODY_BYTES + 32 * MIB);
      await expectError('messages', await responseOf(client), TOO_LARGE);
    });
  });

  describe('a client that goes on sending and does not leave', () => {
    start({ lingerUnreadMs: 200 });

    it('is cut off a while after it was answered', async () => {
      const client = await RawClient.post({
        url: relay.url,
        path: PATHS.messages,
        key: 'sk-nobody',
        body: '{',
        headers: { 'content-length': '1000000' },
      });
      await expectError('messages', await responseOf(client), INVALID_TOKEN);
      await client.closed;
    });

    it('keeps its connection when its body was there already', async () => {
      const client = await RawClient.post({ url: relay.url, path: PATHS.messages, key: 'sk-nobody', body: '{}' });
      const response = await responseOf(client);
      expect(response.headers.get('connection')).not.toBe('close');
    });
  });
});

/** The memory of each body that is dropped from now on, as long as somebody else keeps it. */
function watchDropped(): WeakRef<object>[] {
  const memories: WeakRef<object>[] = [];
  const drop = jest.spyOn(HeldBody.prototype, 'drop');
  drop.mockImplementation(function (this: HeldBody) {
    drop.mockRestore();
    memories.push(new WeakRef(this.bytes.buffer));
    this.drop();
  });
  return memories;
}
