import request from 'supertest';
import { RelayApp } from '../support/relay-app.js';

describe('probes, which carry no key (case 108)', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterAll(() => relay.close());

  it.each(['/', '/healthz', '/readyz', '/health', '/api/hello'])('GET %s says that all is well', async (path) => {
    await request(relay.url).get(path).expect(200, { status: 'ok' }).expect('content-type', /json/);
  });

  it.each(['/', '/health', '/api/hello'])('HEAD %s is answered without a body', async (path) => {
    const { text } = await request(relay.url).head(path).expect(200);
    expect(text).toBeUndefined();
  });

  it.each(['/healthz', '/readyz'])('HEAD %s is answered as GET is, without the body', async (path) => {
    const [head, get] = await Promise.all([request(relay.url).head(path), request(relay.url).get(path)]);
    expect([head.status, head.text]).toEqual([200, undefined]);
    for (const name of ['content-type', 'content-length']) expect(head.headers[name]).toBe(get.headers[name]);
  });

  it('lets a browser ask what it may send', async () => {
    await request(relay.url)
      .options('/v1/messages')
      .set('origin', 'https://app.example.com')
      .set('access-control-request-method', 'POST')
      .expect(204)
      .expect('access-control-allow-origin', '*')
      .expect('access-control-expose-headers', /request-id/);
  });
});
