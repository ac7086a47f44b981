import { once } from 'node:events';
import { connect } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import {
  expectError,
  expectIds,
  INVALID_REQUEST,
  INVALID_TOKEN,
  METHOD_NOT_ALLOWED,
  NOT_FOUND,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import type { ProtocolEndpoint } from '../support/scripted-upstream.js';
import { sendRaw } from '../support/wire.js';

/** What clients append to the base URL they were given, and what people give them. */
const FORMS: Readonly<Record<ProtocolEndpoint, readonly string[]>> = {
  messages: [
    '/v1/messages',
    '/v1/messages?beta=true',
    '/v1/v1/messages?beta=true',
    '/messages',
    '/messages?beta=true',
    '/v1/messages/',
    '/v1/messages/?beta=true',
    '/v1/messages/v1/messages',
  ],
  'chat-completions': [
    '/v1/chat/completions',
    '/v1/v1/chat/completions',
    '/chat/completions',
    '/chat/completions/',
    '/v1/chat/completions/?api-version=2026-01-01',
    '/v1/chat/completions/chat/completions',
  ],
  responses: ['/v1/responses', '/v1/v1/responses', '/responses', '/v1/responses/', '/responses/?x=1'],
};

describe('addresses (case 108)', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller();
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const bearer = (): string[] => ['authorization', `Bearer ${caller.key}`];
  const ask = (method: string, path: string, headers: readonly string[] = [], body = ''): Promise<Response> =>
    sendRaw(`${relay.url}${path}`, { method, headers, body });

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    it.each(FORMS[protocol])('%s is understood', async (path) => {
      const response = await relay.post(path, caller.key, aRequest(protocol));
      expect(response.status).toBe(200);
      expectIds(response);
      const { path: sent } = await relay.upstream.nextRequest();
      expect(sent).toBe(PATHS[protocol]);
    });

    it.each(FORMS[protocol])('%s words its errors in the protocol', async (path) => {
      await expectError(protocol, await relay.post(path, caller.key, '{'), INVALID_REQUEST);
      await expectError(protocol, await relay.post(path, 'sk-nobody', '{'), INVALID_TOKEN);
    });

    it.each(['/', '/v1', '/v1/', '/v1/v1', '/?x=1'])('a post to the base URL, %s, is understood', async (path) => {
      const headers: Record<string, string> = protocol === 'messages' ? { 'anthropic-version': '2023-06-01' } : {};
      const response = await relay.post(path, caller.key, aRequest(protocol), headers);
      expect(response.status).toBe(200);
      expectIds(response);
      expect((await relay.upstream.nextRequest()).protocol).toBe(protocol);
      expect((await relay.calls(caller)).at(-1)).toMatchObject({ protocol, status: 'succeeded' });
    });

    it.each<[string, string[]]>([
      ['as curl -d names it', ['content-type', 'application/x-www-form-urlencoded']],
      ['as text', ['content-type', 'text/plain;charset=UTF-8']],
      ['with another charset', ['content-type', 'application/json; charset=latin-1']],
      ['as a form with parts', ['content-type', 'multipart/form-data; boundary=x']],
      ['with a type that is none', ['content-type', 'garbage']],
      ['with an empty type', ['content-type', '']],
      ['without a type', []],
    ])('a body %s is read as JSON', async (_, headers) => {
      for (const path of [PATHS[protocol], PATHS[protocol].replace('/v1', '')]) {
        const response = await ask('POST', path, [...bearer(), ...headers], JSON.stringify(aRequest(protocol)));
        expect(response.status).toBe(200);
        expect((await relay.upstream.nextRequest()).headers['content-type']).toBe('application/json');
      }
    });

    it('a GET is a 405 with a key, and without one a missing key; a HEAD is a 405 and no more', async () => {
      const path = PATHS[protocol];
      const get = await ask('GET', path, bearer());
      expect(get.headers.get('allow')).toContain('POST');
      expect(await expectError(protocol, get, METHOD_NOT_ALLOWED)).toContain('POST');
      await expectError(protocol, await ask('PUT', path, bearer()), METHOD_NOT_ALLOWED);
      await expectError(protocol, await ask('GET', path), INVALID_TOKEN);
      const head = await ask('HEAD', path);
      expect([head.status, await head.text()]).toEqual([405, '']);
      expectIds(head);
    });

    it('a browser may ask, without a key, whether it may call', async () => {
      const wanted = 'authorization, content-type, anthropic-version, x-stainless-os';
      const question = ['access-control-request-method', 'POST', 'access-control-request-headers', wanted];
      const response = await ask('OPTIONS', PATHS[protocol], ['origin', 'https://app.example', ...question]);
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect(response.headers.get('access-control-allow-origin')).toBe('*');
      expect(response.headers.get('access-control-allow-methods')).toMatch(/\bPOST\b/);
      // A star stands for all names but this one (Fetch standard).
      expect(response.headers.get('access-control-allow-headers')?.split(/, */)).toEqual(
        expect.arrayContaining(['*', 'authorization']),
      );
      const readable = response.headers.get('access-control-expose-headers')?.split(/, */);
      const needed = [
        'request-id',
        'x-request-id',
        'retry-after',
        'retry-after-ms',
        'x-should-retry',
        'x-relay-warnings',
      ];
      expect(readable).toEqual(expect.arrayContaining(needed));
      // What it calls then, it must be allowed to read.
      const call = (...headers: string[]): Promise<Response> =>
        ask('POST', PATHS[protocol], ['authorization', 'Bearer sk-nobody', ...headers]);
      const answer = await call('origin', 'https://app.example');
      expect(answer.headers.get('access-control-allow-origin')).toBe('*');
      // Nobody else needs to be told.
      expect((await call()).headers.get('access-control-allow-origin')).toBeNull();
    });
  });

  it.each<[string, ProtocolEndpoint]>([
    ['/v1/messages/count_tokens', 'messages'],
    ['/messages/count_tokens', 'messages'],
    ['/v1/responses/input_tokens', 'responses'],
  ])('%s, which is no call, takes a POST as well, and a HEAD is a 405 and no more', async (path, protocol) => {
    await expectError(protocol, await ask('GET', path, bearer()), METHOD_NOT_ALLOWED);
    await expectError(protocol, await ask('GET', path), INVALID_TOKEN);
    const head = await ask('HEAD', path);
    expect([head.status, await head.text()]).toEqual([405, '']);
    expect((await ask('OPTIONS', path)).status).toBe(204);
  });

  it.each(['/', '/health', '/api/hello'])('HEAD %s is answered without a key, and OPTIONS', async (path) => {
    const head = await ask('HEAD', path);
    expect([head.status, await head.text()]).toEqual([200, '']);
    expect((await ask('OPTIONS', path)).status).toBe(204);
  });

  it.each(['/health', '/api/hello', '/healthz', '/readyz'])('GET %s is answered without a key', async (path) => {
    const response = await ask('GET', path);
    expect(response.status).toBe(200);
    expect(await response.json()).toEqual({ status: 'ok' });
  });

  describe.each<[string, string, string]>([
    ['POST', '/nowhere', '{}'],
    ['POST', '/api/hello', '{}'],
    ['POST', '/v2/chat/completions', JSON.stringify(aRequest('chat-completions'))],
    ['POST', '/v1/embeddings', '{"model":"m","input":"x"}'],
    ['POST', '/v1/completions', '{"model":"m","prompt":"x"}'],
    ['POST', '/v1/files', '{}'],
    ['POST', '/v1/batches', '{}'],
    ['POST', '/openai/deployments/m/chat/completions', '{}'],
    ['PUT', '/nowhere', '{}'],
    ['DELETE', '/v1/files/file_1', ''],
    ['GET', '/v1', ''],
    ['GET', '/v1/nowhere', ''],
    ['GET', '/v1/nowhere/%zz', ''],
    ['GET', '/v1/responses/*/x', ''],
    ['GET', '/v1/:id(', ''],
    ['GET', '/v1/files?limit=2', ''],
    ['GET', '/v1/chat/completions/chatcmpl_1', ''],
  ])('%s %s', (method, path, body) => {
    const protocol: ProtocolEndpoint = 'chat-completions';
    it.each([[['content-type', 'application/json']], [['content-type', 'garbage']], [[]]])(
      'is an Invalid token without a valid key, and with one a 404 that names the right base URL: %j',
      async (headers) => {
        const otherUser = await expectError(protocol, await ask(method, path, headers, body), INVALID_TOKEN);
        expect(otherUser).toMatch(/^Invalid token: /);
        const known = await ask(method, path, [...bearer(), ...headers], body);
        const message = await expectError(protocol, known, NOT_FOUND);
        expect(message).toContain(
          `${relay.url}/v1 for OpenAI clients and ${relay.url} for Anthropic and Google clients`,
        );
        for (const right of Object.values(PATHS)) expect(message).toContain(right);
      },
    );
  });

  it('tells those who came with the header of Messages in its shape', async () => {
    for (const name of ['anthropic-version', 'vendor-version']) {
      const version = [name, '2023-06-01'];
      await expectError('messages', await ask('GET', '/v1/nowhere', [...bearer(), ...version]), NOT_FOUND);
      await expectError(
        'messages',
        await ask('POST', '/v1/messages/batches', [...bearer(), ...version], '{}'),
        NOT_FOUND,
      );
      await expectError('messages', await ask('GET', '/v1/nowhere', version), INVALID_TOKEN);
    }
  });

  it.each(['/nowhere', '/nowhere/%zz', '/v1x', '/favicon.ico'])(
    'returns an error page for %s to browsers and plain text to other clients',
    async (path) => {
      const page = await ask('GET', path, ['accept', 'text/html']);
      expect(page.status).toBe(404);
      expect(page.headers.get('content-type')).toMatch(/^text\/html/);
      expect(await page.text()).toMatch(/Page not found[^]*req_[0-9a-f]{32}/);
      const plain = await ask('GET', path, ['accept', '*/*']);
      expect(plain.status).toBe(404);
      expect(plain.headers.get('content-type')).toMatch(/^text\/plain/);
      expect(await plain.text()).toMatch(/^There is no page at this address\. \(request id: req_[0-9a-f]{32}\)\n$/);
    },
  );

  it('the whole address may stand in the request line, as behind a proxy', async () => {
    const body = JSON.stringify(aRequest('messages'));
    const head = `host: relay.example\r\nx-api-key: ${caller.key}\r\nconnection: close\r\n`;
    const posted = `POST http://relay.example/messages?beta=true HTTP/1.1\r\n${head}content-length: ${body.length}\r\n\r\n`;
    const requested = `GET HTTP://relay.example:8080/v1/models/vendor/with-slash HTTP/1.1\r\n${head}\r\n`;
    for (const text of [posted + body, requested]) {
      const response = await overSocket(text);
      expect(response).toMatch(/^HTTP\/1\.1 200 /);
      expect(response).toMatch(/\r\nx-request-id: req_/);
    }
  });

  it.each([
    ['a broken header', 400, 'bad header'],
    ['headers that are too large', 431, `x-large: ${'x'.repeat(20_000)}`],
  ])('%s is refused in the shape that most clients read', async (_, status, line) => {
    const raw = await overSocket(`POST /v1/messages HTTP/1.1\r\nhost: x\r\n${line}\r\n\r\n{}`);
    const [head = '', body = ''] = raw.split('\r\n\r\n');
    expect(head).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
    const id = /^x-request-id: (req_[0-9a-f]{32})\r?$/m.exec(head)?.[1];
    expect(head).toContain(`request-id: ${id}`);
    const message = expect.stringMatching(new RegExp(String.raw`\. \(request id: ${id}\)$`)) as string;
    expect(JSON.parse(body)).toEqual({
      error: { message, type: 'invalid_request_error', param: null, code: 'invalid_value' },
    });
  });

  async function overSocket(text: string): Promise<string> {
    const socket = connect(Number(new URL(relay.url).port), '127.0.0.1');
    await once(socket, 'connect');
    socket.on('error', () => undefined);
    socket.write(text);
    return textOf(socket);
  }
});
