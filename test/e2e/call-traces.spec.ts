import { jest } from '@jest/globals';
import pg from 'pg';
import { setTimeout as sleep } from 'node:timers/promises';
import type { WaitRecords } from '../../src/protocols/contract/index.js';
import { InterruptedCalls } from '../../src/relay/billing/index.js';
import { Random } from '../../src/relay/routing/selection/channel-status.js';
import { DatabaseOutage } from '../support/database-outage.js';
import { eventually } from '../support/eventually.js';
import { aRequest } from '../support/protocols.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  delay,
  endlessStream,
  errorResponse,
  eventsIn,
  gate,
  hang,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { signedIn } from '../support/signed-in.js';

/** The two channels of `two` stand one behind the other. */
const twoChannels = (url: string): string => `
models:
  - { name: two, context_window: 200000, max_output_tokens: 64000, prices: free }
channels:
  - { name: first, protocol: messages, base_url: "${url}", credentials: [x], tier: 1, models: [two] }
  - { name: second, protocol: messages, base_url: "${url}", credentials: [x], tier: 2, models: [two] }
`;
const BACK_OFF_MS = 400;
/** How long whatever a test waits for takes, and what of it is on record at least. */
const [TOOK_MS, LEAST_MS] = [500, 350];

interface Times {
  readonly id: string;
  readonly duration_ms: number;
  readonly hold_begun_ms: number | null;
  readonly hold_ms: number | null;
  readonly settle_wait_ms: number | null;
  readonly waits: WaitRecords | null;
}

describe('where the time of a call went', () => {
  let relay: RelayApp;
  let caller: TestCaller;
  beforeAll(async () => {
    relay = await RelayApp.start({ backOffMs: BACK_OFF_MS, maxBackOffMs: BACK_OFF_MS });
    await relay.applyCatalog(twoChannels(relay.upstream.url));
  });
  beforeEach(async () => (caller = await relay.caller()));
  afterAll(() => relay.close());
  afterEach(() => {
    jest.restoreAllMocks();
    RawClient.closeAll();
    relay.upstream.reset();
  });

  const times = async (of = caller): Promise<Times> => (await relay.onlyCall(of)) as unknown as Times;
  const ask = (overrides: object = {}, headers = {}): Promise<Response> =>
    relay.post('/v1/messages', caller.key, aRequest('messages', { stream: true, ...overrides }), headers);
  const pageOf = async (id: string, of = caller): Promise<string> =>
    (await (await signedIn(relay, of.accountId)).get(`/usage-logs/common/${id}`)).text;

  it('has the hold apart from what came before it and behind it', async () => {
    relay.upstream.script([delay(200), responseIn('messages')]);
    await (await ask()).text();
    const { id, hold_begun_ms: begun, hold_ms: held, settle_wait_ms: wait, waits } = await times();
    const [attempt] = (await relay.attempts(id)) as unknown as [{ begun_ms: number }];
    // Each is rounded for itself.
    expect(begun! + held!).toBeLessThanOrEqual(attempt.begun_ms + 1);
    expect(held).toBeLessThan(200);
    expect(wait).toBeGreaterThanOrEqual(0);
    expect(wait).toBeLessThan(200);
    expect(waits).toBeNull();
    expect(await pageOf(id)).toMatch(/Most of the time \(\d+%\) was spent waiting for the first token\./);
  });

  it('does not take a client that reads slowly for a slow upstream', async () => {
    relay.upstream.script(endlessStream('messages', { text: 'again '.repeat(4000), gapMs: 0 }));
    // Of a model that costs something the stream would wait for money as well.
    const body = aRequest('messages', { model: 'free', stream: true });
    const client = await RawClient.post({ url: relay.url, path: '/v1/messages', key: caller.key, body });
    await client.head;
    client.pause();
    const request = await relay.upstream.nextRequest();
    // As long as the buffers of the sockets take something, nobody waits.
    let sent = 0;
    while (sent === 0 || sent !== request.sentBytes) {
      sent = request.sentBytes;
      await sleep(300);
    }
    await sleep(TOOK_MS);
    client.resume();
    await eventually(() => expect(request.sentBytes).toBeGreaterThan(sent));
    client.close();
    const { id, waits, duration_ms: duration } = await times();
    const { count, ms, spans } = waits!.client!;
    expect(count).toBeGreaterThanOrEqual(spans.length);
    expect(ms).toBeGreaterThan(LEAST_MS);
    expect(Math.max(...spans.map(([, tookMs]) => tookMs))).toBeGreaterThan(LEAST_MS);
    expect(Math.max(...spans.map(([atMs, tookMs]) => atMs + tookMs))).toBeLessThanOrEqual(duration + 1);
    expect(await pageOf(id)).toContain('Paused by the client');
  });

  it('has what a settlement waited for a database that was away, behind the end of the call', async () => {
    const outage = await DatabaseOutage.of(relay.databaseUrl);
    try {
      const ready = gate();
      const events = eventsIn('messages', { text: ['Hello ', 'there'] });
      relay.upstream.script([streamHead(), sse(events.slice(0, 3)), waitFor(ready), sse(events.slice(3))]);
      const response = await ask();
      await outage.begin();
      const begun = performance.now();
      ready.open();
      await sleep(2 * TOOK_MS);
      await outage.end();
      await response.text();
      const tookMs = performance.now() - begun;
      const { id, settle_wait_ms: wait, duration_ms: duration } = await times();
      expect(wait).toBeGreaterThan(TOOK_MS);
      expect(wait).toBeLessThanOrEqual(tookMs);
      expect(duration).toBeLessThan(tookMs);
      const html = await pageOf(id);
      expect(html).toMatch(new RegExp(`Settled</th>.*?${wait!.toLocaleString('en-US')} ms</td>`, 's'));
      expect(html).toMatch(/Most of the time \(\d+%\) was spent waiting to be recorded\./);
    } finally {
      await outage.end();
      await outage.close();
    }
  });

  it('has the pause before a retry', async () => {
    jest.spyOn(relay.get(Random), 'next').mockReturnValue(0.99);
    relay.upstream.scriptNext(errorResponse('messages', 500), responseIn('messages'));
    await (await ask({ model: 'two' })).text();
    const { id, waits } = await times();
    const [first, second] = (await relay.attempts(id)) as unknown as { begun_ms: number; duration_ms: number }[];
    const [[atMs, tookMs]] = waits!.back_off!.spans as [[number, number]];
    expect(tookMs).toBeGreaterThanOrEqual(0.9 * BACK_OFF_MS);
    expect(atMs).toBeGreaterThanOrEqual(first!.begun_ms + first!.duration_ms - 1);
    expect(atMs + tookMs).toBeLessThanOrEqual(second!.begun_ms + 1);
    const html = await pageOf(id);
    expect(html).toContain('Pause before retry');
    expect(html).toMatch(/\d{3} ms lost on failed attempts/);
  });

  it('has when a stream waited for a larger hold', async () => {
    const ready = gate();
    const answer = responseIn('messages', { text: Array.from({ length: 30 }, () => 'four'.repeat(100)) });
    relay.upstream.script([waitFor(ready), answer]);
    const response = ask({ max_tokens: 64_000 });
    await relay.upstream.nextRequest();
    const other = new pg.Client({ connectionString: relay.databaseUrl });
    await other.connect();
    await other.query('BEGIN');
    await other.query('SELECT FROM wallets WHERE account_id = $1 FOR UPDATE', [caller.accountId]);
    ready.open();
    await sleep(TOOK_MS);
    await other.query('ROLLBACK');
    await other.end();
    await (await response).text();
    const { id, waits } = await times();
    expect(waits!.credit!.ms).toBeGreaterThan(LEAST_MS);
    expect(waits).not.toHaveProperty('client');
    expect(await pageOf(id)).toContain('Increase the hold');
  });

  it('of a call that runs is what it holds, and since when', async () => {
    relay.upstream.script([streamHead(), hang()]);
    const leaving = new AbortController();
    const body = JSON.stringify(aRequest('messages', { stream: true }));
    const headers = { authorization: `Bearer ${caller.key}`, 'content-type': 'application/json' };
    const requested = fetch(`${relay.url}/v1/messages`, { method: 'POST', headers, body, signal: leaving.signal });
    await relay.upstream.nextRequest();
    const [{ id }] = (await openCalls()) as [{ id: string }];
    const html = await pageOf(id);
    expect(html).toContain('In progress since <time');
    expect(html).toMatch(/\$0\.\d+ on hold/);
    leaving.abort();
    await expect(requested.then((response) => response.text())).rejects.toThrow('aborted');
  });

  it('of a call whose process has died is not known, and its page says so', async () => {
    relay.upstream.script([streamHead(), hang()]);
    void ask().catch(() => undefined);
    await relay.upstream.nextRequest();
    const [{ id }] = (await openCalls()) as [{ id: string }];
    await relay.get(InterruptedCalls).close(id);
    expect(await times()).toMatchObject({ status: 'interrupted', hold_ms: null, settle_wait_ms: null });
    expect(await pageOf(id)).toContain('exited before it could record');
  });

  it('of a refused call ends with who refused it', async () => {
    const poor = await relay.caller({ credit: '0' });
    await (await relay.post('/v1/messages', poor.key, aRequest('messages'))).text();
    const refused = await times(poor);
    expect(refused.hold_ms).toBeGreaterThanOrEqual(0);
    expect(await pageOf(refused.id, poor)).toContain('Hold declined');
    await (await relay.post('/v1/messages', caller.key, aRequest('messages', { model: 'nobodys' }))).text();
    const unread = await times();
    expect(await pageOf(unread.id)).not.toContain('Settled');
  });

  it('of a call that shared the response of another one names that', async () => {
    const ready = gate();
    relay.upstream.script([waitFor(ready), responseIn('messages')]);
    const named = { 'idempotency-key': 'one-of-two' };
    const both = [ask({}, named), ask({}, named)];
    await relay.upstream.nextRequest();
    ready.open();
    const [, guest] = await Promise.all(both.map(async (requested) => ((await requested).text(), requested)));
    const sharedWith = guest!.headers.get('x-relay-shared-with');
    const id = guest!.headers.get('x-request-id')!;
    await eventually(async () => expect(await pageOf(id)).toContain(`of ${sharedWith}`));
  });

  const openCalls = (): Promise<unknown[]> =>
    eventually(async () => {
      const client = new pg.Client({ connectionString: relay.databaseUrl });
      await client.connect();
      const { rows } = await client.query('SELECT id FROM open_calls WHERE account_id = $1', [caller.accountId]);
      await client.end();
      expect(rows).toHaveLength(1);
      return rows;
    });
});
