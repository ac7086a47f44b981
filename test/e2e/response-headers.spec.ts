import { once } from 'node:events';
import { connect } from 'node:net';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { signedIn } from '../support/signed-in.js';

describe('Every response sends browsers', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start();
    caller = await relay.caller({ credit: '1000' });
  });
  afterAll(() => relay.close());

  const authorized = (): Record<string, string> => ({
    authorization: `Bearer ${caller.key}`,
    'content-type': 'application/json',
  });
  const requested = (path: string, init: RequestInit = {}): Promise<Response> =>
    fetch(`${relay.url}${path}`, { redirect: 'manual', ...init });
  /** One of every kind that there is. */
  const everything = async (): Promise<readonly (readonly [string, Response])[]> => {
    const page = await (await requested('/sign-in')).text();
    const assets = [...page.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map((match) => match[1] ?? '');
    expect(assets.length).toBeGreaterThan(2);
    const gets = [
      '/',
      '/sign-in',
      '/keys',
      '/nothing',
      '/healthz',
      '/readyz',
      '/metrics',
      '/docs',
      '/docs/openapi.json',
    ];
    const calls = PROTOCOLS.flatMap((protocol) =>
      [true, false].map((stream) => [PATHS[protocol], JSON.stringify(aRequest(protocol, { stream }))] as const),
    );
    const responses: (readonly [string, Promise<Response>])[] = [
      ...[...gets, ...assets].map((path) => [path, requested(path)] as const),
      ['/v1/models', requested('/v1/models', { headers: authorized() })],
      ['/v1/models without a key', requested('/v1/models')],
      ['/v1/nothing', requested('/v1/nothing', { headers: authorized() })],
      ['OPTIONS', requested('/v1/models', { method: 'OPTIONS' })],
      ['a form from elsewhere', requested('/sign-in', { method: 'POST', body: new URLSearchParams({ email: 'a' }) })],
      ...calls.map(([path, body]) => [path, requested(path, { method: 'POST', headers: authorized(), body })] as const),
    ];
    return Promise.all(responses.map(async ([name, response]) => [name, await response] as const));
  };

  it('nosniff', async () => {
    for (const [name, response] of await everything()) {
      expect([name, response.headers.get('x-content-type-options')]).toEqual([name, 'nosniff']);
      await response.body?.cancel();
    }
  });

  it('content type and character set', async () => {
    const faults: string[] = [];
    for (const [name, response] of await everything()) {
      const type = response.headers.get('content-type') ?? '';
      const isEmpty = (await response.arrayBuffer()).byteLength === 0;
      const isText = /^text\/|json/.test(type);
      if (!isEmpty && (type === '' || (isText && !/; ?charset=utf-8/.test(type)))) faults.push(`${name}: ${type}`);
    }
    expect(faults).toEqual([]);
  });

  it('the same for requests that are not HTTP', async () => {
    const { port, hostname } = new URL(relay.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.write('NO HTTP\r\n\r\n');
    await once(socket, 'close');
    expect(text).toContain('HTTP/1.1 400');
    expect(text).toContain('x-content-type-options: nosniff');
  });

  it('content security policy, framing, and no caching of personal pages', async () => {
    const browser = await signedIn(relay, caller.accountId);
    for (const path of ['/', '/keys', '/wallet', '/account', '/usage-logs/common', '/nothing']) {
      const { headers } = await browser.get(path);
      const policy = headers.get('content-security-policy') ?? '';
      for (const rule of ["default-src 'none'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"])
        expect(policy.split('; ')).toContain(rule);
      expect(policy).not.toContain('unsafe');
      expect(headers.get('referrer-policy')).toBe('same-origin');
      expect([path, headers.get('cache-control')]).toEqual([path, 'no-store']);
    }
  });

  it.each(['TRACE', 'PUT', 'DELETE', 'PATCH'])('nothing of a refused %s request', async (method) => {
    const { port, hostname } = new URL(relay.url);
    const socket = connect(Number(port), hostname);
    let text = '';
    socket.on('data', (data) => (text += data.toString('latin1')));
    socket.write(`${method} /sign-in HTTP/1.1\r\nhost: x\r\nx-secret: of-the-request\r\nconnection: close\r\n\r\n`);
    await once(socket, 'close');
    expect(text).toMatch(/^HTTP\/1\.1 4\d\d/);
    expect(text).not.toContain('of-the-request');
  });
});
