import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import {
  expectError,
  INVALID_TOKEN,
  METHOD_NOT_ALLOWED,
  NO_WEB_SOCKET,
  NOT_FOUND,
  type Situation,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

const upgradeTo = (protocol: string): string[] => ['connection', 'Upgrade', 'upgrade', protocol];
const WEB_SOCKET = [
  ...upgradeTo('websocket'),
  'sec-websocket-version',
  '13',
  'sec-websocket-key',
  'dGhlIHNhbXBsZSBub25jZQ==',
  // As Codex sends it.
  'openai-beta',
  'responses_websockets=2026-02-06',
];

describe('requests to speak another protocol (case 111)', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
  });
  afterAll(() => relay.close());

  const get = (path: string, headers: readonly string[], key?: string): Promise<Response> =>
    sendRaw(`${relay.url}${path}`, {
      method: 'GET',
      headers: [...headers, ...(key === undefined ? [] : ['authorization', `Bearer ${key}`])],
    });

  it.each<[string, ProtocolEndpoint]>([
    ['/v1/messages', 'messages'],
    ['/v1/chat/completions', 'chat-completions'],
  ])('a WebSocket at %s is a 426, with a key, without one and with a wrong one', async (path, protocol) => {
    for (const key of [caller.key, undefined, 'sk-nobody'])
      expect(await expectError(protocol, await get(path, WEB_SOCKET, key), NO_WEB_SOCKET)).toContain('HTTP');
  });

  it.each<[string, readonly string[], ProtocolEndpoint, Situation]>([
    ['/v1/messages', WEB_SOCKET, 'messages', NO_WEB_SOCKET],
    ['/v1/chat/completions', WEB_SOCKET, 'chat-completions', NO_WEB_SOCKET],
    ['/v1/responses', upgradeTo('h2c'), 'responses', METHOD_NOT_ALLOWED],
    ['/v1/responses/resp_1', WEB_SOCKET, 'responses', NOT_FOUND],
    ['/v1/realtime?model=m', WEB_SOCKET, 'chat-completions', NOT_FOUND],
  ])('at %s, %j is refused as what it is', async (path, headers, protocol, situation) => {
    await expectError(protocol, await get(path, headers, caller.key), situation);
    if (situation !== NO_WEB_SOCKET) await expectError(protocol, await get(path, headers), INVALID_TOKEN);
  });

  it('ignores an offered upgrade on ordinary requests', async () => {
    for (const offered of ['h2c', 'TLS/1.0, h2c', 'websocket']) {
      expect((await get('/health', upgradeTo(offered))).status).toBe(200);
      for (const protocol of PROTOCOLS) {
        const headers = ['authorization', `Bearer ${caller.key}`, ...upgradeTo(offered)];
        const body = JSON.stringify(aRequest(protocol));
        expect((await sendRaw(`${relay.url}${PATHS[protocol]}`, { headers, body })).status).toBe(200);
      }
    }
  });

  it('the connection goes on in HTTP behind the refusal, and closes when the client closes it', async () => {
    const connections = (): Promise<number> =>
      new Promise((resolve, reject) =>
        relay.app.getHttpServer().getConnections((error: Error | null, count: number) => {
          if (error === null) resolve(count);
          else reject(error);
        }),
      );
    const before = await connections();
    const socket = connect(Number(new URL(relay.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const lines = ['host: x', 'connection: Upgrade', 'upgrade: websocket'];
    socket.write(`GET /v1/messages HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
    expect(await firstLine(socket)).toBe('HTTP/1.1 426 Upgrade Required');
    socket.write('GET /health HTTP/1.1\r\nhost: x\r\n\r\n');
    expect(await firstLine(socket)).toBe('HTTP/1.1 200 OK');
    socket.end();
    await eventually(async () => expect(await connections()).toBe(before));
  });

  it('leaves no rows: none of it was a call', async () => {
    const otherUser = await relay.caller();
    await get('/v1/messages', WEB_SOCKET, otherUser.key);
    expect(await relay.calls(otherUser)).toEqual([]);
  });
});

/** Of the next response, which comes in one piece. */
async function firstLine(socket: Socket): Promise<string | undefined> {
  const [bytes] = (await once(socket, 'data')) as [Buffer];
  return bytes.toString('latin1').split('\r\n')[0];
}
