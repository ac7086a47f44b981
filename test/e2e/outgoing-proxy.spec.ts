import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ConnectProxy } from '../support/connect-proxy.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import {
  bytes,
  type ProtocolEndpoint,
  encodeEvent,
  eventsIn,
  hang,
  type JsonObject,
  ScriptedUpstream,
  streamHead,
} from '../support/scripted-upstream.js';
import { ScriptedSockets } from '../support/scripted-sockets.js';
import { Service } from '../support/service.js';
import { SocketClient } from '../support/socket-client.js';
import { AUTHORITY_FILE, NAME, TlsFront } from '../support/tls-front.js';

/** The promise is 100 ms; the rest is for a busy machine. */
const ABORT_MS = 1000;

/** One upstream, by names that the proxy knows and by its address, which it is not asked for. */
const catalogFor = (upstreamPort: string, tlsPort: number): string => {
  const places: Readonly<Record<string, string>> = {
    proxied: `https://${NAME}:8443/v1`,
    usual: `https://api.${NAME}/v1`,
    untrusted: 'https://another.test/v1',
    local: `http://127.0.0.1:${upstreamPort}/v1`,
    excluded: `https://direct.${NAME}:${tlsPort}/v1`,
    mine: `https://localhost:${tlsPort}/v1`,
  };
  const entries = Object.entries(places);
  return `
models:
${entries.map(([name]) => `  - { name: ${name}, context_window: 1000, max_output_tokens: 1000, prices: free }`).join('\n')}
channels:
${entries
  .flatMap(([name, url]) =>
    PROTOCOLS.map(
      (protocol) =>
        `  - { name: ${name}-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [x], models: [${name}], flags: { nativeOnly: true, websocket: ${protocol === 'responses'} }, timeouts: { connect_ms: 1000 } }`,
    ),
  )
  .join('\n')}
`;
};

describe('upstreams behind a proxy', () => {
  let upstream: ScriptedUpstream;
  let front: TlsFront;
  let proxy: ConnectProxy;
  let service: Service;
  let key: string;
  beforeAll(async () => {
    upstream = await ScriptedUpstream.start();
    front = await TlsFront.start(upstream.origin);
    proxy = await ConnectProxy.start(front.port);
    service = await Service.start(undefined, {
      https_proxy: proxy.url,
      NO_PROXY: `direct.${NAME}`,
      NODE_EXTRA_CA_CERTS: AUTHORITY_FILE,
    });
    key = /sk-\w+/.exec(service.output)?.[0] ?? '';
    const file = join(service.dataDir, 'catalog.yaml');
    writeFileSync(file, catalogFor(new URL(upstream.origin).port, front.port));
    expect(await service.command('catalog', 'apply', file)).toMatchObject({ code: 0 });
  }, 120_000);
  afterAll(async () => {
    await service.remove();
    proxy.close();
    front.close();
    await upstream.close();
  });
  beforeEach(() => {
    upstream.reset();
    proxy.asked.length = 0;
    proxy.status = 200;
  });

  const call = (protocol: ProtocolEndpoint, overrides: JsonObject, signal?: AbortSignal): Promise<Response> =>
    fetch(`${service.address}${PATHS[protocol]}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}` },
      body: JSON.stringify(aRequest(protocol, overrides)),
      ...(signal && { signal }),
    });
  const withoutTunnel = (): void => expect(proxy.asked).toEqual([]);

  it.each(PROTOCOLS)('are asked through it, by TLS up to themselves, whole and streamed: %s', async (protocol) => {
    for (const stream of [false, true]) {
      const response = await call(protocol, { model: 'proxied', stream });
      expect([response.status, await response.text()]).toEqual([200, expect.stringMatching(/"Hel/)]);
      expect((await upstream.nextRequest()).headers.host).toBe(`${NAME}:8443`);
    }
  });

  it('are reached through it over WebSockets', async () => {
    const sockets = new ScriptedSockets(upstream.server);
    const client = await SocketClient.open(service.address, key);
    await client.respond({ model: 'proxied', input: 'Hello' });
    await client.close();
    expect(sockets.connections.map(({ headers }) => headers.host)).toEqual([`${NAME}:8443`]);
    expect(proxy.asked.map(({ authority }) => authority)).toEqual([`${NAME}:8443`]);
    expect(upstream.requests).toEqual([]);
    sockets.reset();
  });

  it('are named to it with their port, beside the proxy’s own user and password, which go no further', async () => {
    expect((await call('messages', { model: 'usual' })).status).toBe(200);
    const authorization = `Basic ${Buffer.from('user:p@ss').toString('base64')}`;
    expect(proxy.asked).toEqual([{ authority: `api.${NAME}:443`, authorization }]);
    const { rawHeaders } = await upstream.nextRequest();
    expect(rawHeaders.join('\n')).not.toMatch(/proxy-|Basic/i);
  });

  it('share its tunnels from one call to the next', async () => {
    for (let index = 0; index < 3; index++) await (await call('responses', { model: 'usual' })).text();
    expect(proxy.asked.length).toBeLessThan(2);
  });

  it.each([true, false])('hear through it at once when the client leaves, streamed: %s', async (stream) => {
    const [first] = eventsIn('messages', { text: 'Hello' }).map(encodeEvent);
    upstream.script([streamHead(), bytes(first!), hang()]);
    const client = new AbortController();
    call('messages', { model: 'proxied', stream }, client.signal).catch(() => undefined);
    const request = await upstream.nextRequest();
    const leftAt = performance.now();
    client.abort();
    expect(await request.closed).toBe('left');
    expect((request.closedAt ?? Infinity) - leftAt).toBeLessThan(ABORT_MS);
  });

  it('are not believed to be whom they do not show a certificate of', async () => {
    const response = await call('chat-completions', { model: 'untrusted' });
    expect([response.status, await response.text()]).toEqual([502, expect.not.stringMatching(/another|certificate/i)]);
    expect(upstream.requests).toEqual([]);
    expect(proxy.asked).not.toEqual([]);
  });

  it.each([407, 403, 502])('fail where it answers %s, in words that say nothing of it', async (status) => {
    proxy.status = status;
    // Tunnels that are open still serve: another name has none.
    const response = await call('responses', { model: 'untrusted' });
    expect([response.status, await response.text()]).toEqual([502, expect.not.stringMatching(/proxy|127\.0|p@ss/i)]);
  });

  it('are given up in time when it says nothing', async () => {
    proxy.status = undefined;
    const response = await call('responses', { model: 'untrusted' });
    expect([response.status, await response.text()]).toEqual([504, expect.stringContaining('timed out')]);
  });

  it('are reached without it when they are on this machine, speak plain HTTP, or stand in NO_PROXY', async () => {
    expect((await call('messages', { model: 'local' })).status).toBe(200);
    // No name that the proxy is not asked for leads anywhere here, and `localhost` is not in the certificate.
    for (const model of ['excluded', 'mine']) expect((await call('messages', { model })).status).toBe(500);
    withoutTunnel();
  });

  it('leave nothing of the password in what the service says', async () => {
    await eventually(() => expect(service.output).toContain('"request_id"'));
    expect(service.output).not.toMatch(/p@ss|p%40ss/);
  });
});
