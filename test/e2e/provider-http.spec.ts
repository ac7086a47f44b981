import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { ProviderHttp } from '../../src/auth/providers/provider-http.js';
import { Config } from '../../src/platform/config/index.js';
import { ConnectProxy } from '../support/connect-proxy.js';

const MIB = 1024 * 1024;
const INIT = { method: 'GET', headers: {}, body: undefined, redirect: 'manual' } as const;

describe('requests to providers', () => {
  let server: Server;
  let origin: string;
  let proxy: ConnectProxy;
  let http: ProviderHttp;

  beforeAll(async () => {
    server = createServer(({ url }, response) => {
      if (url === '/moved') response.writeHead(302, { location: '/small' }).end();
      else response.setHeader('content-type', 'application/json').end('x'.repeat(url === '/large' ? MIB + 1 : MIB));
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    origin = `http://127.0.0.1:${port}`;
    proxy = await ConnectProxy.start(port);
    const secrets = { DATABASE_URL: 'postgres://nowhere', SECRET_KEY: 'a test has no secrets'.padEnd(32, '.') };
    http = new ProviderHttp(Config.fromEnvironment({ ...secrets, HTTPS_PROXY: proxy.url }));
  });
  afterAll(async () => {
    await http.onApplicationShutdown();
    proxy.close();
    server.closeAllConnections();
    server.close();
  });

  it('use the proxy, except to this host', async () => {
    proxy.status = 403;
    await expect(http.fetch('https://login.acme.example/jwks', INIT)).rejects.toThrow('fetch failed');
    expect(proxy.asked.map(({ authority }) => authority)).toEqual(['login.acme.example:443']);
    expect((await http.fetch(`${origin}/small`, INIT)).status).toBe(200);
    expect(proxy.asked).toHaveLength(1);
  });

  it('reject link-local addresses and metadata services', async () => {
    for (const host of ['169.254.169.254', '[fe80::1]', '[::ffff:169.254.169.254]'])
      await expect(http.fetch(`http://${host}/`, INIT)).rejects.toThrow('The upstream address is not allowed.');
  });

  it('accept at most 1 MiB', async () => {
    await expect((await http.fetch(`${origin}/small`, INIT)).text()).resolves.toHaveLength(MIB);
    await expect(http.fetch(`${origin}/large`, INIT)).rejects.toThrow('has more than');
  });

  it('follow no redirects', async () => {
    await expect(http.fetch(`${origin}/moved`, INIT)).resolves.toMatchObject({ status: 302 });
  });
});
