import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ApiKeyService } from '../../src/keys/index.js';
import { MAX_IDLE_PER_KEY } from '../../src/relay/websocket/web-sockets.js';
import {
  expectError,
  INVALID_REQUEST,
  INVALID_TOKEN,
  METHOD_NOT_ALLOWED,
  NO_WEB_SOCKET,
  NOT_ALLOWED,
} from '../support/api-errors.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { endlessStream, hang, type JsonObject, responseIn } from '../support/scripted-upstream.js';
import { SocketClient, socketClients } from '../support/socket-client.js';
import { sendRaw } from '../support/wire.js';

const HELLO = { model: 'm', input: 'Hello' };
const MIB = 1024 * 1024;
const HANDSHAKE = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
};

describe('connections of Responses over WebSocket', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  const start = (...options: Parameters<typeof RelayApp.start>): void => {
    beforeAll(async () => (relay = await RelayApp.start(...options)));
    afterAll(() => relay.close());
    afterEach(() => relay.upstream.reset());
    beforeEach(async () => (caller = await relay.caller({ credit: '1000' })));
  };
  const connect = socketClients(() => ({ url: relay.url, key: caller.key }));

  describe('are opened', () => {
    start({}, { TRUSTED_PROXIES: '127.0.0.1', MAX_CALLS_IN_FLIGHT: '2' });

    const handshake = (headers: Record<string, string | undefined> = {}, path = '/v1/responses'): Promise<Response> => {
      const all = { ...HANDSHAKE, authorization: `Bearer ${caller.key}`, ...headers };
      const sent = Object.entries(all).flatMap(([name, value]) => (value === undefined ? [] : [name, value]));
      return sendRaw(`${relay.url}${path}`, { method: 'GET', headers: sent });
    };

    it.each(['/v1/responses', '/responses', '/v1/v1/responses/', '/v1/responses?x=1'])('at %s', async (path) => {
      const socket = new WebSocket(`${relay.url.replace('http', 'ws')}${path}`, {
        headers: { 'x-api-key': caller.key, 'sec-websocket-protocol': 'any' },
        perMessageDeflate: true,
      });
      const [response] = (await once(socket, 'upgrade')) as [{ headers: Record<string, string> }];
      expect(response.headers).toMatchObject({ 'x-request-id': expect.stringMatching(/^req_/) });
      expect(response.headers).not.toHaveProperty('sec-websocket-extensions');
      expect(response.headers).not.toHaveProperty('sec-websocket-protocol');
      socket.on('error', () => undefined).terminate();
      await once(socket, 'close');
    });

    it('unless the key is missing, unknown, disabled or elsewhere, each an HTTP error', async () => {
      await expectError('responses', await handshake({ authorization: undefined }), INVALID_TOKEN);
      await expectError('responses', await handshake({ authorization: `Bearer sk-${'A'.repeat(48)}` }), INVALID_TOKEN);
      await relay.get(ApiKeyService).setLimits(caller.keyId, {}, ['203.0.113.0/24']);
      await expectError('responses', await handshake({ 'x-forwarded-for': '198.51.100.9' }), NOT_ALLOWED);
      await relay.get(ApiKeyService).disable(caller.keyId);
      const inside = { 'x-forwarded-for': '203.0.113.1' };
      await eventually(async () => expectError('responses', await handshake(inside), INVALID_TOKEN));
      expect((await relay.calls(caller)).map(({ status, transport }) => [status, transport])).toEqual([
        ['refused', 'websocket'],
        ['refused', 'websocket'],
      ]);
    });

    it.each(['api_key', 'key', 'token', 'access_token', 'Authorization'])('unless the query has a %s', async (name) => {
      const response = await handshake({}, `/v1/responses?${name}=${caller.key}`);
      await expectError('responses', response, {
        ...INVALID_REQUEST,
        openai: [400, 'invalid_request_error', 'invalid_value'],
      });
    });

    it('unless they are no handshake', async () => {
      await expectError('responses', await handshake({ 'sec-websocket-version': '12' }), NO_WEB_SOCKET);
      expect((await handshake({ 'sec-websocket-key': 'short' })).status).toBe(400);
      // As proxies pass it on that do not know WebSockets: clients go on over HTTP.
      const removed = await handshake({ upgrade: undefined, connection: undefined, authorization: undefined });
      expect(await expectError('responses', removed, NO_WEB_SOCKET)).toContain('proxy');
      const plain = { upgrade: undefined, connection: undefined, 'sec-websocket-key': undefined };
      await expectError('responses', await handshake(plain), METHOD_NOT_ALLOWED);
      await expectError('responses', await handshake({ ...plain, authorization: undefined }), INVALID_TOKEN);
    });

    it('unless the process is overloaded, which refuses calls on open ones too', async () => {
      relay.upstream.script(hang());
      const client = await connect();
      client.create({ ...HELLO, stream_id: 'a' });
      client.create({ ...HELLO, stream_id: 'b' });
      client.create({ ...HELLO, stream_id: 'c' });
      const overloaded = { code: 'server_is_overloaded' };
      expect(await client.message('error')).toMatchObject({ status: 503, stream_id: 'c', error: overloaded });
      expect((await handshake()).status).toBe(503);
      client.socket.terminate();
      await eventually(async () => expect(await relay.calls(caller)).toHaveLength(4));
    });
  });

  describe('end', () => {
    start({ pingMs: 200, stalledClientMs: 60_000 }, { MAX_BODY_BYTES: String(MIB) });

    it('when the key was revoked: idle ones at the next call, running calls at once', async () => {
      relay.upstream.script(endlessStream('responses'));
      const [idle, running] = [await connect(), await connect()];
      running.create(HELLO);
      await running.message('response.output_text.delta');
      await relay.get(ApiKeyService).disable(caller.keyId);
      await running.message('response.failed');
      await eventually(() => expect(running.closed).toMatchObject({ code: 1008 }));
      idle.create(HELLO);
      expect(await idle.message('error')).toMatchObject({ status: 401, error: { code: 'invalid_api_key' } });
      await eventually(() => expect(idle.closed).toMatchObject({ code: 1008 }));
      const rows = await relay.calls(caller);
      expect(rows.map(({ status, error_reason: reason }) => [status, reason])).toEqual([
        ['failed', 'Invalid token'],
        ['refused', 'Invalid token'],
      ]);
    });

    it('when a message is larger than a body may be', async () => {
      const client = await connect();
      client.create({ ...HELLO, input: 'x'.repeat(MIB) });
      await eventually(() => expect(client.closed).toMatchObject({ code: 1009 }));
      expect(relay.upstream.requests).toHaveLength(0);
    });

    it('when pings remain without a response, and not while they are answered', async () => {
      const dead = new WebSocket(`${relay.url.replace('http', 'ws')}/v1/responses`, {
        headers: { authorization: `Bearer ${caller.key}` },
        autoPong: false,
      });
      await once(dead, 'open');
      const alive = await connect();
      const [code] = (await once(dead, 'close')) as [number];
      expect(code).toBe(1006);
      await sleep(500);
      expect(alive.closed).toBeUndefined();
      relay.upstream.script(responseIn('responses'));
      await alive.respond(HELLO);
    });
  });

  describe('are limited', () => {
    start({ pingMs: 100, socketMs: 300 });

    it('in age: calls may finish, then the client connects again', async () => {
      relay.upstream.script(endlessStream('responses'));
      const [idle, running] = [await connect(), await connect()];
      running.create({ ...HELLO, stream_id: 'a' });
      const reached = { status: 400, error: { code: 'websocket_connection_limit_reached' } };
      expect(await idle.message('error')).toMatchObject(reached);
      await eventually(() => expect(idle.closed).toMatchObject({ code: 1000 }));
      running.create({ ...HELLO, stream_id: 'b' });
      expect(await running.message('error')).toMatchObject({ ...reached, stream_id: 'b' });
      expect(running.closed).toBeUndefined();
      running.socket.terminate();
      await relay.onlyCall(caller);
    });
  });

  describe('are limited too', () => {
    start();

    it(`in number: ${MAX_IDLE_PER_KEY} idle ones per key, the newest`, async () => {
      const clients: SocketClient[] = [];
      for (let count = 0; count < MAX_IDLE_PER_KEY; count += 1) clients.push(await connect());
      expect(clients.map(({ closed }) => closed)).toEqual(clients.map(() => undefined));
      relay.upstream.script(responseIn('responses'));
      // Used last, it is not the oldest any more.
      await clients[0]?.respond(HELLO);
      await connect();
      await eventually(() => expect(clients[1]?.closed).toMatchObject({ code: 1000 }));
      expect(clients[0]?.closed).toBeUndefined();
      expect(clients[1]?.messages).toMatchObject([{ error: { code: 'websocket_connection_limit_reached' } }]);
    });

    it('in memory: a client that does not read holds its upstream back', async () => {
      relay.upstream.script(endlessStream('responses', { text: 'x'.repeat(10_000), gapMs: 0 }));
      const client = await connect();
      client.socket.pause();
      client.create({ ...HELLO, model: 'free' });
      const request = await relay.upstream.nextRequest();
      const standstill = await eventually(async () => {
        const before = request.sentBytes;
        await sleep(200);
        expect(before).toBeGreaterThan(0);
        expect(request.sentBytes).toBe(before);
        return before;
      });
      expect(standstill).toBeLessThan(48 * MIB);
      client.socket.resume();
      await eventually(() => expect(request.sentBytes).toBeGreaterThan(standstill));
      client.socket.terminate();
      expect(await request.closed).toBe('left');
    });

    it('and counted: calls take the concurrency of their key', async () => {
      await relay.get(ApiKeyService).setLimits(caller.keyId, { concurrency: 1 }, undefined);
      relay.upstream.script(hang());
      const client = await connect();
      client.create({ ...HELLO, stream_id: 'a' });
      await relay.upstream.nextRequest();
      client.create({ ...HELLO, stream_id: 'b' });
      const limited: JsonObject = { status: 429, stream_id: 'b', error: { code: 'rate_limit_exceeded' } };
      expect(await client.message('error')).toMatchObject(limited);
      client.socket.terminate();
      await eventually(async () => expect(await relay.calls(caller)).toHaveLength(2));
    });
  });
});
