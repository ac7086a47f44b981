import { setTimeout as sleep } from 'node:timers/promises';
import { expectError, INVALID_TOKEN, TOO_LARGE } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { documentedLines, Nginx } from '../support/nginx.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  bytes,
  delay,
  encodeEvent,
  eventsIn,
  gate,
  hang,
  responseIn,
  type Script,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { SocketClient } from '../support/socket-client.js';
import { ServiceUnderLoad } from '../support/service-under-load.js';

const MIB = 1024 * 1024;
/** The promise is 100 ms; the rest is for a busy machine. */
const ABORT_MS = 1000;
/** So long the relay waits before it says that a response still comes. */
const KEEP_ALIVE_MS = 100;

describe('behind nginx, with the lines of the documentation', () => {
  let relay: RelayApp;
  let nginx: Nginx;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({ keepAliveMs: KEEP_ALIVE_MS, bodyMs: 2000 }, { TRUSTED_PROXIES: '127.0.0.1' });
    nginx = await Nginx.start(relay.url);
  });
  beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
  afterAll(async () => {
    await nginx.close();
    await relay.close();
  });
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });

  const call = (body: object | string, path: string = PATHS.messages, init: RequestInit = {}): Promise<Response> =>
    fetch(`${nginx.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, ...(init.headers as Record<string, string> | undefined) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
      ...(init.signal && { signal: init.signal }),
    });

  it.each(PROTOCOLS)('each event arrives before the next one is sent: %s', async (protocol) => {
    const events = eventsIn(protocol, { text: ['one', 'two', 'three', 'four'] });
    const gates = events.map(() => gate());
    const script: Script = [
      streamHead(),
      ...events.map((event, index) => [bytes(encodeEvent(event)), waitFor(gates[index]!)]),
    ];
    relay.upstream.script(script);
    const response = await call(aRequest(protocol, { stream: true }), PATHS[protocol]);
    const reader = response.body!.getReader();
    let text = '';
    const untilReceived = async (word: string): Promise<void> => {
      while (!text.includes(word)) text += Buffer.from((await reader.read()).value!).toString();
    };
    for (const [index, open] of gates.entries()) {
      const word = ['one', 'two', 'three', 'four'].find((one) => JSON.stringify(events[index]!.data).includes(one));
      // The upstream goes on only when this has been read.
      if (word !== undefined) await untilReceived(word);
      open.open();
    }
    expect(text).toContain('four');
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
  });

  it('passes WebSockets on', async () => {
    relay.upstream.script(responseIn('responses', { text: 'Hello there' }));
    const client = await SocketClient.open(nginx.url, caller.key);
    const { output } = await client.respond({ model: 'm', input: 'Hi' });
    expect(JSON.stringify(output)).toContain('Hello there');
    await client.close();
  });

  it('delivers keep-alives while nothing else arrives', async () => {
    relay.upstream.script([streamHead(), hang()]);
    const client = await RawClient.post({
      url: nginx.url,
      path: PATHS['chat-completions'],
      key: caller.key,
      body: aRequest('chat-completions', { stream: true }),
    });
    await eventually(() => expect(client.text.match(/^: ?/gm)?.length).toBeGreaterThan(2));
  });

  it.each([true, false])('a client that leaves is gone for the upstream at once, streamed: %s', async (stream) => {
    relay.upstream.script([streamHead(), bytes(encodeEvent(eventsIn('messages')[0]!)), hang()]);
    const leaving = new AbortController();
    call(aRequest('messages', { stream }), PATHS.messages, { signal: leaving.signal }).catch(() => undefined);
    const request = await relay.upstream.nextRequest();
    await sleep(100);
    const leftAt = performance.now();
    leaving.abort();
    expect(await request.closed).toBe('left');
    expect((request.closedAt ?? Infinity) - leftAt).toBeLessThan(ABORT_MS);
    expect(await relay.onlyCall(caller)).toMatchObject({ status: 'cancelled', error_reason: 'context canceled' });
  });

  it('accepts a body of 60 MB, and refuses one over the limit in the client’s protocol', async () => {
    const picture = 'x'.repeat(60 * MIB);
    expect((await call(aRequest('messages', { picture }))).status).toBe(200);
    expect((await relay.upstream.nextRequest()).body.length).toBeGreaterThan(60 * MIB);
    const larger = await call(aRequest('messages', { picture: 'x'.repeat(65 * MIB) }));
    await expectError('messages', larger, TOO_LARGE);
  }, 60_000);

  it('refuses a request without a key before its body has been sent', async () => {
    const client = await RawClient.post({
      url: nginx.url,
      path: PATHS.messages,
      key: 'sk-nobody',
      body: '{',
      headers: { 'content-length': String(MIB) },
    });
    expect(await client.head).toMatchObject({ status: INVALID_TOKEN.messages[0] });
  });

  it('a body that does not come is refused by the relay, and not by a page of nginx', async () => {
    const client = await RawClient.post({
      url: nginx.url,
      path: PATHS.messages,
      key: caller.key,
      body: '{"model":',
      headers: { 'content-length': '1000' },
    });
    expect((await client.head).status).toBe(408);
    await eventually(() => expect(client.text).toContain('"type":"error"'));
  });

  it('a response that is silent for long, and not streamed, is waited for', async () => {
    relay.upstream.script([delay(3000), bytes('{"usage":{}}')]);
    expect((await call(aRequest('messages'))).status).toBe(200);
  });

  it.each([{}, { 'x-forwarded-for': '198.51.100.7' }, { 'x-forwarded-for': '198.51.100.7, 203.0.113.9' }])(
    'a call has the address of who connected to nginx, whatever it says itself: %j',
    async (headers) => {
      expect((await call(aRequest('messages'), PATHS.messages, { headers })).status).toBe(200);
      expect(await relay.onlyCall(caller)).toMatchObject({ ip: '127.0.0.1' });
    },
  );

  it('the address that a proxy before it names is believed where one stands there', async () => {
    const chained = documentedLines().replace('For $remote_addr', 'For $proxy_add_x_forwarded_for');
    const second = await Nginx.start(relay.url, chained);
    const response = await fetch(`${second.url}${PATHS.messages}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${caller.key}`, 'x-forwarded-for': '198.51.100.7, 203.0.113.9' },
      body: JSON.stringify(aRequest('messages')),
    });
    expect(response.status).toBe(200);
    await response.text();
    await second.close();
    expect(await relay.onlyCall(caller)).toMatchObject({ ip: '203.0.113.9' });
  });

  it('/metrics is not shown', async () => {
    expect((await fetch(`${nginx.url}/metrics`)).status).toBe(404);
  });

  it('connections to the relay are used again', async () => {
    const sockets = new Set<unknown>();
    relay.app.getHttpServer().on('connection', (socket: unknown) => sockets.add(socket));
    for (let index = 0; index < 10; index++) await (await call(aRequest('messages'))).text();
    expect(sockets.size).toBeLessThan(5);
  });

  it('nginx has nothing to complain of', () => {
    expect(nginx.complaints.split('\n').filter((line) => /\[(?:emerg|alert|crit|warn)\]/.test(line))).toEqual([]);
  });
});

describe('a service that stops behind nginx', () => {
  let world: ServiceUnderLoad;
  afterEach(() => world.close());

  it('finishes its streams, and tells new calls to come again in their protocol', async () => {
    world = await ServiceUnderLoad.start();
    await world.load.stop();
    const nginx = await Nginx.start(world.service.address);
    const key = /sk-\w+/.exec(world.service.output)?.[0] ?? '';
    const ask = (stream: boolean): Promise<Response> =>
      fetch(`${nginx.url}${PATHS.messages}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}` },
        body: JSON.stringify(aRequest('messages', { stream })),
      });
    const over = gate();
    const [first, ...rest] = eventsIn('messages', { text: 'Hello' }).map(encodeEvent);
    world.upstream.script([
      streamHead(),
      bytes(first!),
      ...rest.slice(0, -2).map(bytes),
      waitFor(over),
      ...rest.slice(-2).map(bytes),
    ]);
    const running = await ask(true);
    const text = running.text();
    const stopped = world.service.stop('SIGTERM');
    await eventually(async () => expect((await fetch(`${nginx.url}/readyz`)).status).toBe(503), 20_000);
    const refused = await ask(false);
    expect([refused.status, await refused.text()]).toEqual([529, expect.stringContaining('shutting down')]);
    over.open();
    expect(await text).toContain('message_stop');
    expect(await stopped).toBe(0);
    // Where nobody listens any more, nginx says so itself.
    expect((await ask(false)).status).toBe(502);
    await nginx.close();
  }, 180_000);
});
