import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { ProcessMetrics } from '../../src/app/monitoring/index.js';
import { aRequest } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { changes, type MetricValues, metricsOf, namesIn, readMetrics } from '../support/metrics.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  endlessStream,
  errorResponse,
  eventsIn,
  hang,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

const TOKEN = 'a-token-of-sixteen-or-more';
/** Whom a proxy on this machine asks for. */
const ELSEWHERE = { 'x-forwarded-for': '203.0.113.9' };

/** `two` has two channels, one behind the other, of which the second speaks another protocol. */
const twoChannels = (url: string): string => `
models:
  - { name: two, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }
channels:
  - { name: first, protocol: chat-completions, base_url: "${url}", credentials: [a], tier: 1, models: { two: first-two } }
  - { name: second, protocol: messages, base_url: "${url}", credentials: [b], tier: 2, models: { two: second-two } }
`;

describe('/metrics', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({}, { METRICS_TOKEN: TOKEN, BODY_MEMORY_BYTES: '1000000' });
    relay.get(ProcessMetrics).watch();
    await relay.applyCatalog(twoChannels(relay.upstream.url));
    caller = await relay.caller();
  });
  afterAll(() => relay.close());
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });

  /** What the work changes, once what is expected of it has come about. */
  async function expectMoved(
    work: () => Promise<unknown>,
    expected: Record<string, unknown>,
  ): Promise<Record<string, number>> {
    const before = await metricsOf(relay);
    await work();
    return eventually(async () => {
      const now = changes(before, await metricsOf(relay));
      expect(now).toMatchObject(expected);
      return now;
    });
  }

  const value = async (name: string): Promise<number | undefined> => (await metricsOf(relay)).get(name);

  const chat = (overrides: object = {}): Promise<string> =>
    relay
      .post('/v1/chat/completions', caller.key, aRequest('chat-completions', { ...overrides }))
      .then((r) => r.text());

  describe('is read', () => {
    const ask = (headers: Record<string, string> = {}): Promise<Response> => fetch(`${relay.url}/metrics`, { headers });

    it('on this machine, as Prometheus wants it', async () => {
      const response = await ask();
      expect(response.status).toBe(200);
      expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
      expect(response.headers.get('cache-control')).toBe('no-store');
      expect(readMetrics(await response.text()).get('switchboard_processes')).toBe(1);
    });

    it('elsewhere with the token alone', async () => {
      const shown = await ask({ ...ELSEWHERE, authorization: `Bearer ${TOKEN}` });
      expect(shown.status).toBe(200);
      for (const wrong of [{}, { authorization: `Bearer ${TOKEN}x` }, { authorization: `Basic ${TOKEN}` }]) {
        const response = await ask({ ...ELSEWHERE, ...wrong, accept: 'text/html' });
        expect(response.status).toBe(401);
        expect(response.headers.get('www-authenticate')).toBe('Bearer');
        expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
        expect(await response.text()).not.toContain('switchboard_');
      }
    });
  });

  it('counts a streamed call, its tokens, its cost, its times and its statements', async () => {
    relay.upstream.script(responseIn('chat-completions', { usage: { prompt: 100, cacheRead: 40, completion: 20 } }));
    const now = await expectMoved(() => chat({ stream: true, stream_options: { include_usage: true } }), {
      'switchboard_calls_total{dialect="chat-completions",reason="",status="succeeded",upstream_dialect="chat-completions"}': 1,
      'switchboard_call_seconds_count{dialect="chat-completions",stream="true"}': 1,
      'switchboard_first_token_seconds_count{dialect="chat-completions"}': 1,
      switchboard_added_latency_seconds_count: 1,
      'switchboard_attempts_total{channel="chat-completions-main",outcome="succeeded"}': 1,
      'switchboard_attempt_seconds_count{channel="chat-completions-main"}': 1,
      'switchboard_attempt_first_token_seconds_count{channel="chat-completions-main"}': 1,
      'switchboard_tokens_total{model="m",type="prompt"}': 100,
      'switchboard_tokens_total{model="m",type="cached"}': 40,
      'switchboard_tokens_total{model="m",type="completion"}': 20,
      'switchboard_cost_usd_total{group="default",model="m"}': expect.closeTo(0.000_264, 12),
      'switchboard_batch_calls_count{statement="admit"}': 1,
      'switchboard_batch_calls_sum{statement="settle"}': 1,
      'switchboard_batch_seconds_count{statement="settle"}': 1,
    });
    expect(Object.keys(now).filter((name) => name.includes('reasoning'))).toEqual([]);
  });

  it('counts an unstreamed call, which has no first token', async () => {
    const now = await expectMoved(() => chat(), {
      'switchboard_call_seconds_count{dialect="chat-completions",stream="false"}': 1,
      switchboard_added_latency_seconds_count: 1,
    });
    expect(now).not.toHaveProperty(['switchboard_first_token_seconds_count{dialect="chat-completions"}']);
  });

  it('counts each attempt by its channel, and the call by the protocol that answered', async () => {
    relay.upstream.scriptNext(errorResponse('chat-completions', 500), responseIn('messages'));
    await expectMoved(() => chat({ model: 'two' }), {
      'switchboard_calls_total{dialect="chat-completions",reason="",status="succeeded",upstream_dialect="messages"}': 1,
      'switchboard_attempts_total{channel="first",outcome="upstream_error"}': 1,
      'switchboard_attempts_total{channel="second",outcome="succeeded"}': 1,
    });
  });

  it('counts refusals and errors by their kind, without a word that a client has written', async () => {
    const now = await expectMoved(() => chat({ model: 'no-such-model' }), {
      'switchboard_calls_total{dialect="chat-completions",reason="model_not_found",status="refused",upstream_dialect=""}': 1,
      'switchboard_errors_total{kind="model_not_found",to="program"}': 1,
    });
    expect(JSON.stringify(now)).not.toContain('no-such-model');
    await expectMoved(() => fetch(`${relay.url}/no-such-page`), {
      'switchboard_errors_total{kind="not_found",to="person"}': 1,
    });
  });

  it('counts a call that fails in the middle of its stream', async () => {
    const events = eventsIn('messages').slice(0, -1);
    relay.upstream.script([streamHead(), sse(events)]);
    await expectMoved(
      () => relay.post('/v1/messages', caller.key, aRequest('messages', { stream: true })).then((r) => r.text()),
      {
        'switchboard_calls_total{dialect="messages",reason="upstream_truncated",status="failed",upstream_dialect="messages"}': 1,
        'switchboard_attempts_total{channel="messages-main",outcome="upstream_truncated"}': 1,
      },
    );
  });

  it('counts requests with invalid keys', async () => {
    await expectMoved(() => relay.post('/v1/messages', 'sk-nobody', {}), {
      'switchboard_strangers_total{told="invalid_token"}': 1,
      'switchboard_errors_total{kind="invalid_token",to="program"}': 1,
    });
    expect(await value('switchboard_strangers_waiting')).toBe(0);
  });

  it('shows what runs: calls, their bodies and holds, more of which is asked for, and connections', async () => {
    relay.upstream.script(endlessStream('responses', { text: 'word '.repeat(200), gapMs: 1 }));
    const body = aRequest('responses', { stream: true });
    const client = await RawClient.post({ url: relay.url, path: '/v1/responses', key: caller.key, body });
    await eventually(async () => {
      const now = await metricsOf(relay);
      expect(now.get('switchboard_calls_in_flight')).toBe(1);
      // The question itself is being answered too.
      expect(now.get('switchboard_requests_in_flight')).toBe(2);
      expect(now.get('switchboard_open_holds')).toBe(1);
      expect(now.get('switchboard_open_holds_usd')).toBeGreaterThan(0.01);
      expect(now.get('switchboard_upstream_connections')).toBeGreaterThan(0);
      expect(now.get('switchboard_batch_calls_count{statement="extend"}')).toBeGreaterThan(0);
    });
    client.close();
    await eventually(async () => {
      const now = await metricsOf(relay);
      expect(now.get('switchboard_calls_in_flight')).toBe(0);
      expect(now.get('switchboard_open_holds')).toBe(0);
      expect(now.get('switchboard_open_holds_usd')).toBe(0);
    });
  });

  it('shows the memory of bodies', async () => {
    relay.upstream.script(hang());
    const body = aRequest('messages', { system: 'x'.repeat(10_000) });
    await RawClient.post({ url: relay.url, path: '/v1/messages', key: caller.key, body });
    await eventually(async () => expect(await value('switchboard_body_memory_bytes')).toBeGreaterThan(10_000));
    expect(await value('switchboard_body_memory_limit_bytes')).toBe(1_000_000);
  });

  it('shows the connections to the database', async () => {
    const now: MetricValues = await metricsOf(relay);
    for (const pool of ['admission', 'settlement', 'general']) {
      expect(now.get(`switchboard_database_connections{pool="${pool}",state="open"}`)).toBeGreaterThan(0);
      expect(now.has(`switchboard_database_connections{pool="${pool}",state="idle"}`)).toBe(true);
      expect(now.get(`switchboard_database_waiting{pool="${pool}"}`)).toBe(0);
    }
    expect(now.get('switchboard_database_listening')).toBe(1);
    expect(now.get('switchboard_unsettled_calls')).toBe(0);
    expect(now.get('switchboard_unsettled_oldest_seconds')).toBe(0);
  });

  it('has everything that docs/monitoring.md names, which names everything', async () => {
    const document = readFileSync(resolve(import.meta.dirname, '../../docs/monitoring.md'), 'utf8');
    const measured = namesIn(await (await fetch(`${relay.url}/metrics`)).text());
    const ours = measured.filter((name) => name.startsWith('switchboard_'));
    const inTables = [...document.matchAll(/^\| `(switchboard_\w+)`/gm)].map(([, name = '']) => name);
    expect(inTables.toSorted()).toEqual(ours.toSorted());
    const anywhere = [...document.matchAll(/\b(?:switchboard|process|nodejs)_\w+/g)].map(([name]) => name);
    for (const name of anywhere) expect(measured).toContain(name.replace(/_(?:bucket|sum|count)$/, ''));
  });

  it('has what is watched of every Node process, under the usual names', async () => {
    const names = namesIn(await (await fetch(`${relay.url}/metrics`)).text());
    for (const name of [
      'process_cpu_seconds_total',
      'process_resident_memory_bytes',
      'nodejs_eventloop_lag_p99_seconds',
    ])
      expect(names).toContain(name);
  });
});

describe('/metrics without a METRICS_TOKEN', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterAll(() => relay.close());

  it('is read on this machine', async () => {
    expect((await fetch(`${relay.url}/metrics`)).status).toBe(200);
  });

  it('is for others what any address is where there is nothing', async () => {
    for (const path of ['/metrics', '/nothing-here']) {
      const response = await fetch(`${relay.url}${path}`, { headers: { ...ELSEWHERE, authorization: 'Bearer ' } });
      expect(response.status).toBe(404);
      expect(await response.text()).toMatch(/^There is no page at this address\./);
    }
  });
});
