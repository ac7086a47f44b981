import { AssetStore } from '../../src/console/web/rendering/asset-store.js';
import { RelayApp } from '../support/relay-app.js';

describe('assets of pages', () => {
  let relay: RelayApp;
  const address = new AssetStore().addressOf('switchboard.css');
  const get = (path: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(relay.url + path, { headers });

  beforeAll(async () => {
    relay = await RelayApp.start();
  });
  afterAll(() => relay.close());

  it('may be kept for good, because their name changes with them', async () => {
    const response = await get(address);
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    expect(response.headers.get('content-type')).toBe('text/css; charset=utf-8');
    expect(response.headers.get('x-content-type-options')).toBe('nosniff');
    expect(response.headers.get('set-cookie')).toBeNull();
  });

  it.each([
    ['br, gzip', 'br'],
    ['gzip', 'gzip'],
    ['br;q=0, gzip', 'gzip'],
    ['identity', null],
  ])('are packed for who accepts %s as %s, and are the same', async (accepted, encoding) => {
    const response = await get(address, { 'accept-encoding': accepted });
    expect(response.headers.get('content-encoding')).toBe(encoding);
    expect(response.headers.get('vary')).toContain('accept-encoding');
    expect(await response.text()).toContain('@layer reset');
  });

  it('are not sent again to who has them', async () => {
    const etag = (await get(address)).headers.get('etag') ?? '';
    const response = await get(address, { 'if-none-match': etag });
    expect(response.status).toBe(304);
    expect(await response.text()).toBe('');
  });

  it.each(['/assets/switchboard.css', '/assets/nothing.css', '/assets/..%2Fpackage.json', '/assets/constructor'])(
    '%s is nothing that is there',
    async (path) => {
      expect((await get(path)).status).toBe(404);
    },
  );
});
