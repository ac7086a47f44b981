import { jest } from '@jest/globals';
import dns from 'node:dns';
import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { expectError, expectFreeRow, UPSTREAM_ERROR } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { ScriptedSockets } from '../support/scripted-sockets.js';
import { SocketClient } from '../support/socket-client.js';
import { end, head, type JsonObject, ScriptedUpstream } from '../support/scripted-upstream.js';

const PRIVATE = /169\.254|metadata|internal|127\.0\.0\.1|localhost/i;

describe('where channels may be, and what is fetched', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  /** What no call is meant for: whatever reaches it was led there. */
  let elsewhere: ScriptedUpstream;
  beforeAll(async () => {
    [relay, elsewhere] = await Promise.all([RelayApp.start(), ScriptedUpstream.start()]);
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(async () => {
    await relay.close();
    await elsewhere.close();
  });
  afterEach(() => {
    jest.restoreAllMocks();
    relay.upstream.reset();
    expect(elsewhere.requests).toEqual([]);
  });

  const apply = (address: string): Promise<unknown> =>
    relay.applyCatalog(`
models: [{ name: led, context_window: 1000, max_output_tokens: 1000, prices: free }]
channels:
${PROTOCOLS.map((protocol) => `  - { name: led-${protocol}, protocol: ${protocol}, base_url: "${address}", credentials: [x], models: [led], flags: { nativeOnly: true } }`).join('\n')}`);

  it.each([
    'http://169.254.169.254/latest',
    'http://2852039166/v1',
    'http://0xa9.0xfe.0251.254/v1',
    'https://[::ffff:169.254.169.254]/v1',
    'http://[fe80::1]:8000/v1',
    'http://[fd00:ec2::254]/v1',
    'http://0.0.0.0:11434/v1',
    'http://255.255.255.255/v1',
    'http://224.0.0.251/v1',
  ])('is refused by the catalog, which names the field: %s', async (address) => {
    await expect(apply(address)).rejects.toThrow(/channels\[0\]\.base_url.* must not resolve to a link-local/);
  });

  it.each([
    'file:///etc/passwd',
    'ftp://example.com',
    'gopher://x',
    'javascript:alert(1)',
    'unix:/run/x.sock',
    '//host',
  ])('has to be an address of http or https: %s', async (address) => {
    await expect(apply(address)).rejects.toThrow(/base_url.* must start with http/);
  });

  it('may be in a network of one’s own, or on this machine', async () => {
    for (const address of [
      'http://10.0.0.7/v1',
      'http://192.168.1.5:8000',
      'http://[fd12::1]/v1',
      'http://[::1]:11434',
    ])
      await expect(apply(address)).resolves.toBeDefined();
  });

  it.each(PROTOCOLS)('is looked at again when a connection is made: %s', async (protocol) => {
    await apply(relay.upstream.url);
    // As an older release may have stored it.
    await relay
      .get(DataSource)
      .query(`UPDATE channels SET base_url = 'http://169.254.169.254/v1' WHERE name LIKE 'led-%'`);
    await relay.get(CatalogService).reload();
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model: 'led' }));
    expect(await expectError(protocol, response, UPSTREAM_ERROR)).not.toMatch(PRIVATE);
    const row = await expectFreeRow(relay, caller, response, { status: 'failed', error_reason: 'upstream_error' });
    expect(row['error_message']).not.toMatch(PRIVATE);
  });

  it('is checked again for WebSockets when a name resolves differently', async () => {
    const sockets = new ScriptedSockets(relay.upstream.server);
    let leadsTo = '127.0.0.1';
    jest
      .spyOn(dns, 'lookup')
      .mockImplementation(((_host: string, _options: object, done: (error: null, found: object[]) => void) =>
        done(null, [{ address: leadsTo, family: 4 }])) as unknown as typeof dns.lookup);
    const { port } = new URL(relay.upstream.url);
    await relay.applyCatalog(`
models: [{ name: socket, context_window: 1000, max_output_tokens: 1000, prices: free }]
channels:
  - { name: socket, protocol: responses, base_url: "http://sockets.test:${port}/v1", credentials: [x], models: [socket],
      flags: { websocket: true } }`);
    const request = { model: 'socket', input: 'Hello' };
    for (const [address, type] of [
      ['127.0.0.1', 'response.completed'],
      ['169.254.169.254', 'error'],
    ] as const) {
      leadsTo = address;
      const client = await SocketClient.open(relay.url, caller.key);
      client.create(request);
      const { error } = await client.message(type);
      expect(JSON.stringify(error ?? {})).not.toMatch(PRIVATE);
      await client.close();
    }
    expect(sockets.handshakes).toHaveLength(1);
    expect(relay.upstream.requests).toEqual([]);
    sockets.reset();
  });

  it.each(['169.254.169.254', 'fe80::1', '0.0.0.0', '::ffff:169.254.169.254'])(
    'is not found by a name that leads to %s, whatever it led to before',
    async (address) => {
      const { port } = new URL(relay.upstream.url);
      const name = `rebinding-${address.replaceAll(/\W/g, '-')}.test`;
      let leadsTo = '127.0.0.1';
      jest
        .spyOn(dns, 'lookup')
        .mockImplementation(((_host: string, _options: object, done: (error: null, found: object[]) => void) =>
          done(null, [{ address: leadsTo, family: leadsTo.includes(':') ? 6 : 4 }])) as unknown as typeof dns.lookup);
      await apply(`http://${name}:${port}/v1`);
      relay.upstream.script((request) => [
        head(200, { 'content-type': 'application/json', connection: 'close' }),
        ...(request.body.length > 0 ? [end()] : []),
      ]);
      const ask = (): Promise<Response> =>
        relay.post(PATHS.messages, caller.key, aRequest('messages', { model: 'led' }));
      await ask();
      expect(relay.upstream.requests).toHaveLength(1);
      leadsTo = address;
      expect(await expectError('messages', await ask(), UPSTREAM_ERROR)).not.toMatch(PRIVATE);
      expect(relay.upstream.requests).toHaveLength(1);
    },
  );

  it.each(PROTOCOLS.flatMap((protocol) => [301, 302, 303, 307, 308].map((status) => [protocol, status] as const)))(
    'is not left for where an upstream redirects to: %s, %s',
    async (protocol, status) => {
      for (const stream of [false, true]) {
        relay.upstream.script([head(status, { location: `${elsewhere.url}/elsewhere` }), end()]);
        const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream }));
        const said = await expectError(protocol, response, UPSTREAM_ERROR);
        expect(said).toContain('Contact an administrator');
        expect(said).not.toMatch(PRIVATE);
        expect(response.headers.get('location')).toBeNull();
      }
    },
  );

  /** A file by its address, as each protocol writes it. */
  const withAddress = (protocol: (typeof PROTOCOLS)[number], url: string): JsonObject[] => {
    const ask = (content: JsonObject[]): JsonObject =>
      aRequest(
        protocol,
        protocol === 'responses' ? { input: [{ role: 'user', content }] } : { messages: [{ role: 'user', content }] },
      );
    if (protocol === 'chat-completions') return [ask([{ type: 'image_url', image_url: { url } }])];
    if (protocol === 'responses')
      return [ask([{ type: 'input_image', image_url: url }]), ask([{ type: 'input_file', file_url: url }])];
    return ['image', 'document'].map((type) => ask([{ type, source: { type: 'url', url } }]));
  };
  const pairs = PROTOCOLS.flatMap((client) => PROTOCOLS.map((upstream) => [client, upstream] as const));

  it.each(pairs)('is never an address that a client names: %s over %s', async (client, upstream) => {
    await relay.applyCatalog(`
models: [{ name: pair, context_window: 1000, max_output_tokens: 1000, prices: free }]
channels:
${PROTOCOLS.map((protocol) => `  - { name: pair-${protocol}, protocol: ${protocol}, base_url: "${relay.upstream.url}", credentials: [x], models: [${protocol === upstream ? 'pair' : 'unserved'}] }`).join('\n')}`);
    for (const address of [elsewhere.url, 'http://169.254.169.254/latest', 'file:///etc/passwd'])
      for (const body of withAddress(client, `${address}/picture.png`)) {
        const response = await relay.post(PATHS[client], caller.key, { ...body, model: 'pair' });
        const text = await response.text();
        // It goes up as an address, or the call is refused.
        if (response.status === 200) expect(String((await relay.upstream.nextRequest()).body)).toContain('picture.png');
        else expect([response.status, text]).toEqual([400, expect.stringMatching(/url|file|document|image/i)]);
      }
  });
});
