import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request as openRequest } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { chunksOf, openResponse } from '../support/chunks.js';
import {
  bytes,
  chatResponse,
  chatEvents,
  chunkEvery,
  cutAt,
  cutAtEveryPosition,
  delay,
  destroy,
  type ProtocolEndpoint,
  encodeEvents,
  endlessStream,
  eventsIn,
  gate,
  hang,
  head,
  pacedStream,
  raw,
  type Script,
  type ScriptedEvent,
  ScriptedUpstream,
  stopAfter,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

const PATHS: readonly (readonly [ProtocolEndpoint, string])[] = [
  ['responses', '/responses'],
  ['chat-completions', '/chat/completions'],
  ['messages', '/messages'],
];

describe('The scripted upstream', () => {
  let upstream: ScriptedUpstream;
  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
  });
  afterEach(() => upstream.reset());
  afterAll(() => upstream.close());

  const open = (path: string): Promise<[IncomingMessage, ClientRequest]> => openResponse(upstream.url + path);
  const readChunks = (path: string, body?: unknown): Promise<Buffer[]> => chunksOf(upstream.url + path, body);

  describe('recording', () => {
    it('keeps a request as it stood on the wire', async () => {
      const response = await fetch(`${upstream.url}/messages?beta=true`, {
        method: 'POST',
        headers: { 'X-Api-Key': 'secret' },
        body: '{"model":"m","n":9007199254740993}',
      });
      expect(response.status).toBe(200);
      const request = await upstream.nextRequest();
      expect(request).toMatchObject({ method: 'POST', path: '/v1/messages', protocol: 'messages' });
      expect(request.query.get('beta')).toBe('true');
      expect(request.headers['x-api-key']).toBe('secret');
      expect(request.rawHeaders.map((header) => header.toLowerCase())).toContain('x-api-key');
      expect(request.body.toString()).toBe('{"model":"m","n":9007199254740993}');
      expect(request.receivedAt).toBeLessThanOrEqual(performance.now());
      await response.text();
      expect(await request.closed).toBe('finished');
      expect(request.closedAt).toBeUndefined();
    });

    it('hands out requests one after another, those before the asking first', async () => {
      await readChunks('/responses', { stream: true });
      const second = fetch(`${upstream.url}/models`);
      expect((await upstream.nextRequest()).path).toBe('/v1/responses');
      expect((await upstream.nextRequest()).path).toBe('/v1/models');
      await (await second).text();
      await expect(upstream.nextRequest(20)).rejects.toThrow('received no further request');
      expect(upstream.requests).toHaveLength(2);
    });

    it.each([
      ['before the head', [hang()]],
      ['after the head', [streamHead(), hang()]],
      ['inside the body', [streamHead(), bytes('data: {'), hang()]],
      ['while waiting', [waitFor(new Promise(() => undefined))]],
      ['during a delay', [delay(3_600_000)]],
      ['during an endless stream', endlessStream('messages', { gapMs: 0 })],
    ] as [string, Script][])('notices a client that leaves %s', async (_when, script) => {
      upstream.script(script);
      const client = openRequest(`${upstream.url}/messages`, { method: 'POST', agent: false });
      client.on('error', () => undefined);
      client.end('{}');
      const request = await upstream.nextRequest();
      await wait(20);
      const left = performance.now();
      client.destroy();
      expect(await request.closed).toBe('left');
      expect(request.closedAt! - left).toBeGreaterThanOrEqual(0);
      expect(request.closedAt! - left).toBeLessThan(500);
    });

    it('calls it cut, not left, when script or test broke the connection', async () => {
      upstream.scriptNext([streamHead(), destroy()], hang());
      await expect(fetch(`${upstream.url}/responses`).then((response) => response.text())).rejects.toThrow(
        'terminated',
      );
      const request = await upstream.nextRequest();
      expect([await request.closed, request.closedAt]).toEqual(['cut', undefined]);

      const hanging = fetch(`${upstream.url}/responses`);
      const cut = await upstream.nextRequest();
      upstream.reset();
      await expect(hanging).rejects.toThrow('fetch failed');
      expect(await cut.closed).toBe('cut');
    });
  });

  describe('bytes', () => {
    it.each(PATHS)('sends exactly what lastSent says (%s)', async (protocol, path) => {
      for (const stream of [true, false]) {
        const received = Buffer.concat(await readChunks(path, { model: 'm', stream }));
        expect(received.length).toBeGreaterThan(50);
        expect(received.equals(upstream.lastSent)).toBe(true);
        if (stream) expect(received.equals(encodeEvents(eventsIn(protocol, { model: 'm' })))).toBe(true);
      }
    });

    it('writes each event in one piece, or in pieces of any size', async () => {
      const events = chatEvents();
      const body = encodeEvents(events);
      upstream.script(chatResponse({ stream: true }));
      expect(await readChunks('/chat/completions')).toHaveLength(events.length);
      upstream.script([chunkEvery(1), chatResponse({ stream: true })]);
      expect(await readChunks('/chat/completions')).toHaveLength(body.length);
      upstream.script([chunkEvery(4), head(200), bytes('abcdefghij')]);
      expect((await readChunks('/responses')).map(String)).toEqual(['abcd', 'efgh', 'ij']);
    });

    it('cuts at given offsets of the whole body, across writes', async () => {
      upstream.script([cutAt(7, 2), head(200), bytes('abcde'), bytes('fghij')]);
      const chunks = await readChunks('/responses');
      expect(chunks.map(String)).toEqual(['ab', 'cde', 'fg', 'hij']);
    });

    it('offers every cut of a body in turn', async () => {
      const events: ScriptedEvent[] = [{ data: 'ø' }];
      const halves: string[] = [];
      for (const script of cutAtEveryPosition(events)) {
        upstream.script(script);
        const chunks = await readChunks('/responses');
        expect(Buffer.concat(chunks).toString()).toBe('data: ø\n\n');
        halves.push(chunks.map(({ length }) => length).join('+'));
      }
      expect(halves).toEqual(['1+9', '2+8', '3+7', '4+6', '5+5', '6+4', '7+3', '8+2', '9+1']);
    });

    it.each(['end', 'close', 'reset'] as const)('truncates a body (%s)', async (how) => {
      upstream.script([stopAfter(30, how), chatResponse({ stream: true })]);
      const [response] = await open('/chat/completions');
      const received: Buffer[] = [];
      response.on('data', (chunk: Buffer) => received.push(chunk));
      response.on('error', () => undefined);
      await new Promise((resolve) => response.once('close', resolve));
      expect(upstream.lastSent).toHaveLength(30);
      expect(response.complete).toBe(how === 'end');
      // A reset may overtake the bytes before it.
      if (how !== 'reset') expect(Buffer.concat(received).equals(upstream.lastSent)).toBe(true);
    });

    it('speaks past HTTP where a test wants garbage', async () => {
      upstream.script([raw('SMTP ready\r\n\r\n'), destroy('close')]);
      await expect(open('/responses')).rejects.toMatchObject({ code: expect.stringMatching(/^HPE_/u) as string });
    });
  });

  describe('timing', () => {
    it('goes on when a gate opens', async () => {
      const ready = gate();
      upstream.script([streamHead(), bytes('one'), waitFor(ready), bytes('two')]);
      const [response] = await open('/responses');
      expect(String((await once(response, 'data'))[0])).toBe('one');
      await wait(20);
      expect(String(upstream.lastSent)).toBe('one');
      ready.open();
      expect(String((await once(response, 'data'))[0])).toBe('two');
    });

    it('paces a stream', async () => {
      const events = chatEvents();
      upstream.script(pacedStream('chat-completions', events, 20));
      const begun = performance.now();
      expect(Buffer.concat(await readChunks('/chat/completions')).equals(encodeEvents(events))).toBe(true);
      expect(performance.now() - begun).toBeGreaterThanOrEqual(events.length * 19);
    });

    it.each(PATHS)('goes on for ever, in the grammar of the protocol (%s)', async (protocol, path) => {
      upstream.script(endlessStream(protocol, { text: 'x', gapMs: 0 }));
      const [response, client] = await open(path);
      let received = '';
      for await (const chunk of response) {
        received += String(chunk);
        if (received.length > 20_000) break;
      }
      client.destroy();
      const blocks = received.split('\n\n').slice(0, -1);
      const opening = String(encodeEvents(eventsIn(protocol, { text: 'x' }))).split('\n\n');
      const same = protocol === 'responses' ? 5 : protocol === 'messages' ? 4 : 2;
      expect(blocks.slice(0, same)).toEqual(opening.slice(0, same));
      const numbers = blocks.map((block) => /"sequence_number":(\d+)/u.exec(block)?.[1]);
      if (protocol === 'responses') expect(numbers).toEqual(blocks.map((_block, index) => String(index)));
      expect(await (await upstream.nextRequest()).closed).toBe('left');
    });

    it('does not run ahead of a client that does not read', async () => {
      upstream.script(endlessStream('chat-completions', { text: 'x'.repeat(60_000), gapMs: 0 }));
      const [response, client] = await open('/chat/completions');
      response.pause();
      const request = await upstream.nextRequest();
      let before = -1;
      // Until the buffers of the two sockets are full.
      while (request.sentBytes > before && before < 50_000_000) {
        before = request.sentBytes;
        await wait(200);
      }
      expect(request.sentBytes).toBeLessThan(50_000_000);
      expect(request.sent.length).toBeLessThanOrEqual(8 * 1024 * 1024);
      client.destroy();
      expect(await request.closed).toBe('left');
    });
  });

  describe('scripts', () => {
    it('apply to the next requests first, then to all, until reset', async () => {
      upstream.script(bytes('standing'));
      upstream.scriptNext(bytes('first'), (request) => bytes(`second ${request.path}`));
      const responses: string[] = [];
      for (let count = 0; count < 4; count += 1) responses.push(Buffer.concat(await readChunks('/x')).toString());
      expect(responses).toEqual(['first', 'second /v1/x', 'standing', 'standing']);
      upstream.reset();
      expect(upstream.requests).toHaveLength(0);
      expect(Buffer.concat(await readChunks('/x')).toString()).toContain('Scripted error 404');
    });

    it('that throw are reported by reset, not swallowed', async () => {
      upstream.script(() => {
        throw new Error('a mistake in the test');
      });
      await expect(fetch(`${upstream.url}/responses`)).rejects.toThrow('fetch failed');
      expect(() => upstream.reset()).toThrow(AggregateError);
    });
  });
});
