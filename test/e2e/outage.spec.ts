import pg from 'pg';
import { aRequest } from '../support/dialects.js';
import { eventually } from '../support/eventually.js';
import { RelayApp } from '../support/relay-app.js';
import { answerIn, eventsIn, gate, sse, streamHead, waitFor } from '../support/scripted-upstream.js';

describe('a database that goes and comes back', () => {
  let relay: RelayApp;
  let server: pg.Client;
  let name: string;

  beforeAll(async () => {
    relay = await RelayApp.start();
    const url = new URL(relay.databaseUrl);
    name = url.pathname.slice(1);
    url.pathname = '/postgres';
    server = new pg.Client({ connectionString: url.href });
    await server.connect();
  });
  afterAll(async () => {
    await relay.close();
    await server.end();
  });
  afterEach(async () => {
    await comeBack();
    relay.upstream.reset();
  });

  const goAway = async (): Promise<void> => {
    await server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
    await server.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
  };
  const comeBack = (): Promise<unknown> => server.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);

  it('refuses calls with 503 within 2 s while it is gone, and answers by itself when it is back', async () => {
    const caller = await relay.caller();
    relay.upstream.script(answerIn('messages'));
    expect((await relay.post('/v1/messages', caller.key, aRequest('messages'))).status).toBe(200);
    await goAway();
    const begun = performance.now();
    const refused = await relay.post('/v1/messages', caller.key, aRequest('messages'));
    expect(performance.now() - begun).toBeLessThan(10_000);
    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ type: 'error', error: { type: expect.any(String) } });
    expect((await fetch(`${relay.url}/readyz`)).status).toBe(503);
    expect((await fetch(`${relay.url}/healthz`)).status).toBe(200);
    await comeBack();
    await eventually(async () => {
      const answered = await relay.post('/v1/messages', caller.key, aRequest('messages'));
      expect(answered.status).toBe(200);
    }, 10_000);
    await eventually(async () => expect(await relay.ledger()).toEqual({ exact: true, differences: [] }));
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  });

  it('keeps back the end of a running stream until the call is settled', async () => {
    const caller = await relay.caller();
    const events = eventsIn('chat-completions', { text: ['Hello ', 'there'] });
    const gone = gate();
    relay.upstream.script([streamHead(), sse(events.slice(0, 2)), waitFor(gone), sse(events.slice(2))]);
    const response = await relay.post(
      '/v1/chat/completions',
      caller.key,
      aRequest('chat-completions', { stream: true }),
    );
    let text = '';
    const reading = (async () => {
      const decoder = new TextDecoder();
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk as Uint8Array);
    })();
    await eventually(() => expect(text).toContain('Hello '));
    await goAway();
    gone.open();
    await eventually(() => expect(text).toContain('there'));
    await new Promise((done) => setTimeout(done, 500));
    expect(text).not.toContain('[DONE]');
    await comeBack();
    await reading;
    expect(text).toMatch(/data: \[DONE\]\n\n$/);
    expect(await relay.calls(caller)).toMatchObject([{ status: 'succeeded' }]);
  });
});
