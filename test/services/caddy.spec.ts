import { Caddy } from '../support/caddy.js';
import { aRequest, PATHS } from '../support/protocols.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { bytes, encodeEvent, eventsIn, gate, hang, streamHead, waitFor } from '../support/scripted-upstream.js';

describe('behind Caddy, with deploy/Caddyfile', () => {
  let relay: RelayApp;
  let caddy: Caddy;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({}, { TRUSTED_PROXIES: '127.0.0.1' });
    caddy = await Caddy.start(relay.url);
    caller = await relay.caller({ credit: '1000' });
  });
  afterAll(async () => {
    await caddy.close();
    await relay.close();
  });
  afterEach(() => relay.upstream.reset());

  const call = (init: RequestInit = {}): Promise<Response> =>
    fetch(`${caddy.url}${PATHS.messages}`, {
      ...init,
      method: 'POST',
      headers: { ...init.headers, authorization: `Bearer ${caller.key}` },
      body: JSON.stringify(aRequest('messages', { stream: true })),
    });

  it('each event arrives before the next one is sent', async () => {
    const words = ['one', 'two', 'three'];
    const events = eventsIn('messages', { text: words }).map(encodeEvent);
    const gates = events.map(() => gate());
    relay.upstream.script([streamHead(), ...events.map((event, at) => [bytes(event), waitFor(gates[at]!)])]);
    const reader = (await call()).body!.getReader();
    let text = '';
    const untilReceived = async (word: string): Promise<void> => {
      while (!text.includes(word)) text += Buffer.from((await reader.read()).value!).toString();
    };
    for (const [at, event] of events.entries()) {
      const word = words.find((one) => event.includes(JSON.stringify(one)));
      // The upstream goes on only when this has been read.
      if (word !== undefined) await untilReceived(word);
      gates[at]!.open();
    }
    expect(text).toContain('three');
    await reader.cancel();
  });

  it('a client that leaves is gone for the upstream', async () => {
    relay.upstream.script([streamHead(), bytes(encodeEvent(eventsIn('messages')[0]!)), hang()]);
    const leaving = new AbortController();
    call({ signal: leaving.signal }).catch(() => undefined);
    const request = await relay.upstream.nextRequest();
    leaving.abort();
    expect(await request.closed).toBe('left');
  });

  it('a call has the address of who connected, whatever it says itself', async () => {
    caller = await relay.caller({ credit: '1000' });
    await (await call({ headers: { 'x-forwarded-for': '198.51.100.7' } })).text();
    expect(await relay.onlyCall(caller)).toMatchObject({ ip: '127.0.0.1' });
  });

  it('/metrics is not shown', async () => {
    expect((await fetch(`${caddy.url}/metrics`)).status).toBe(404);
    expect((await fetch(`${caddy.url}/readyz`)).status).toBe(200);
  });
});
