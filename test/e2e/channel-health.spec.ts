import { setTimeout as sleep } from 'node:timers/promises';
import { DataSource } from 'typeorm';
import { CatalogService } from '../../src/catalog/index.js';
import { type Channel, ChannelDirectory } from '../../src/catalog/channels/index.js';
import { ChannelHealth } from '../../src/relay/routing/health/channel-health.js';
import { expectError, OVERLOADED, RATE_LIMITED, UPSTREAM_AUTH } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import type { RecordedRequest } from '../support/scripted-request.js';
import {
  responseIn,
  errorResponse,
  gate,
  hang,
  type Script,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';

const PROTOCOL = 'responses';
const BROKEN = errorResponse(PROTOCOL, 500);
const GOOD = responseIn(PROTOCOL);

const channel = (name: string, model: string, more = ''): string =>
  `  - { name: ${name}, protocol: ${PROTOCOL}, base_url: "URL/${name}", credentials: [secret-of-${name}], models: { ${model}: ${model} }, ${more} }`;

/** One model for each test, so that none feels what another did. */
const MODELS = ['bad-key', 'limited', 'breaks', 'sticks', 'kept', 'full', 'slow', 'strange', 'refused', 'half'];
const CATALOG = `
models:
${MODELS.map((name) => `  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }`).join('\n')}
channels:
  - { name: bad-key, protocol: ${PROTOCOL}, base_url: "URL/bad-key", credentials: [bad-1, good-1], models: { bad-key: m } }
${channel('limited', 'limited')}
${channel('breaks', 'breaks')}
  - { name: sticks-1, protocol: ${PROTOCOL}, base_url: "URL/sticks-1", credentials: [s1, s2], models: { sticks: m } }
  - { name: sticks-2, protocol: ${PROTOCOL}, base_url: "URL/sticks-2", credentials: [s3, s4], models: { sticks: m } }
  - { name: kept, protocol: ${PROTOCOL}, base_url: "URL/kept", credentials: [k1, k2, k3], models: { kept: m } }
${channel('full', 'full', 'max_concurrency: 2')}
${channel('full-too', 'full', 'max_concurrency: 1, tier: 2')}
${channel('slow-1', 'slow', 'tier: 1, timeouts: { first_event_ms: 2000, total_ms: 3000 }')}
${channel('slow-2', 'slow', 'tier: 2, timeouts: { first_event_ms: 2000, total_ms: 3000 }')}
${channel('slow-3', 'slow', 'tier: 3, timeouts: { first_event_ms: 2000, total_ms: 3000 }')}
${channel('strange', 'strange')}
${channel('refused', 'refused')}
${channel('half-1', 'half', 'tier: 1')}
${channel('half-2', 'half', 'tier: 2')}
`;

/** Short pauses, so that tests need not wait; the shortest that a slow machine does not overtake. */
const HEALTH = { pauseMs: 1500, maxPauseMs: 3000 };

const secretIn = ({ headers }: RecordedRequest): string => String(headers.authorization).replace('Bearer ', '');
const byPath =
  (scripts: Readonly<Record<string, Script>>) =>
  ({ path }: RecordedRequest): Script =>
    Object.entries(scripts).find(([name]) => path.startsWith(`/v1/${name}/`))?.[1] ?? GOOD;

let relay: RelayApp;
/** Another process on the same database. Open until the end: requests of both are let in by whichever began last. */
let second: RelayApp;
let caller: TestCaller;

beforeAll(async () => {
  relay = await RelayApp.start({}, {}, undefined, HEALTH);
  second = await RelayApp.start({}, { DATABASE_URL: relay.databaseUrl }, undefined, HEALTH);
  await relay.applyCatalog(CATALOG.replaceAll('URL', relay.upstream.url));
  caller = await relay.caller();
});
afterAll(async () => {
  await second.close();
  await relay.close();
});
afterEach(() => relay.upstream.reset());

const post = (model: string, body: object = {}, headers: Record<string, string> = {}, to = relay): Promise<Response> =>
  to.post(PATHS[PROTOCOL], caller.key, aRequest(PROTOCOL, { model, store: false, ...body }), headers);

/** A call, and what its row and its attempts say. */
async function call(model: string, body: object = {}): Promise<{ response: Response; row: StoredCall }> {
  const response = await post(model, body);
  await response.clone().text();
  const id = response.headers.get('x-request-id');
  const row = await eventually(async () => {
    const found = (await relay.calls(caller)).find((one) => one.id === id);
    if (found === undefined) throw new Error('The call has no row yet.');
    return found;
  });
  return { response, row };
}

/** The relay's own check calls ask for a word of response to "Hi". */
const isCheckCall = ({ body }: RecordedRequest): boolean => body.toString().includes('"Hi"');
const clientRequests = (): RecordedRequest[] => relay.upstream.requests.filter((request) => !isCheckCall(request));
const channelOf = (name: string): Channel => {
  const channels = relay.get(ChannelDirectory).all();
  return channels.find((one) => one.name === name)!;
};
/** Resolves when calls no longer use the channel, or this credential of it: a check call had to confirm that first. */
const untilCooling = (name: string, credential?: number): Promise<void> =>
  eventually(() => {
    const health = relay.get(ChannelHealth);
    const at = channelOf(name);
    if (credential === undefined) expect(health.isUp(at)).toBe(false);
    else expect(health.credentialCooldownOf(at, at.credentials[credential])).toBeDefined();
  });
const usedSecrets = (): string[] => clientRequests().map(secretIn);

describe('a channel with several credentials', () => {
  it('answers with another one when one is refused, and leaves that one alone', async () => {
    relay.upstream.script((request) => (secretIn(request) === 'bad-1' ? errorResponse(PROTOCOL, 401) : GOOD));
    const rows: StoredCall[] = [];
    for (let count = 0; count < 12; count += 1) {
      const { response, row } = await call('bad-key');
      expect(response.status).toBe(200);
      rows.push(row);
      if (row['attempts'] === 2) await untilCooling('bad-key', 0);
    }
    // Drawn by chance, so that the bad one came up at some time, once.
    expect(usedSecrets().filter((secret) => secret === 'bad-1')).toEqual(['bad-1']);
    const failed = rows.find(({ attempts }) => attempts === 2);
    const attempts = await relay.attempts(failed!.id);
    expect(attempts.map(({ channel: name, credential, outcome }) => [name, credential, outcome])).toEqual([
      ['bad-key', 1, 'upstream_auth'],
      ['bad-key', 2, 'succeeded'],
    ]);
  });
});

describe('a channel that is left alone', () => {
  it('R2: is not called before the time that it told with its 429, and is called then', async () => {
    relay.upstream.scriptNext(errorResponse(PROTOCOL, 429, undefined, { 'retry-after': '2' }));
    expect((await post('limited')).status).toBe(429);
    const coolsUntil = performance.now() + 2000;
    const refused = await post('limited');
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(2);
    await expectError(PROTOCOL, refused, RATE_LIMITED);
    const row = await call('limited');
    expect(row.row).toMatchObject({ status: 'failed', attempts: 0, error_reason: 'rate_limit_exceeded' });
    expect(relay.upstream.requests).toHaveLength(1);
    await sleep(coolsUntil - performance.now());
    expect((await post('limited')).status).toBe(200);
  });

  it('R2: for a credential that was refused says so in every protocol, and what the operator mends is called at once', async () => {
    relay.upstream.script((request) =>
      secretIn(request) === 'secret-of-refused' ? errorResponse(PROTOCOL, 403) : GOOD,
    );
    await expectError(PROTOCOL, await post('refused'), UPSTREAM_AUTH);
    await untilCooling('refused');
    for (const protocol of PROTOCOLS)
      await expectError(
        protocol,
        await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model: 'refused' })),
        UPSTREAM_AUTH,
      );
    expect(clientRequests()).toHaveLength(1);
    await relay.applyCatalog(
      CATALOG.replaceAll('URL', relay.upstream.url).replace('secret-of-refused', 'another-secret'),
    );
    expect((await post('refused')).status).toBe(200);
  });

  it('R2: because it fails is not called, in another process neither, until one call of all of them has tried', async () => {
    relay.upstream.script(BROKEN);
    for (let count = 0; count < 5; count += 1) expect((await post('breaks')).status).toBe(502);
    await untilCooling('breaks');
    const pausedAt = performance.now();
    const refused = await post('breaks');
    expect(refused.headers.get('retry-after')).toMatch(/^[12]$/);
    await expectError(PROTOCOL, refused, OVERLOADED);
    await eventually(async () => expect((await post('breaks', {}, {}, second)).status).toBe(503));
    const sent = relay.upstream.requests.length;

    const mayAnswer = gate();
    relay.upstream.script([waitFor(mayAnswer), GOOD]);
    await sleep(Math.max(0, pausedAt + HEALTH.pauseMs + 100 - performance.now()));
    const tries = [relay, second].flatMap((one) => Array.from({ length: 10 }, () => post('breaks', {}, {}, one)));
    // All but the one that tries are refused while it does.
    const statuses: number[] = [];
    for (const one of tries) void one.then(({ status }) => statuses.push(status));
    await eventually(() => expect(statuses).toHaveLength(19));
    expect(new Set(statuses)).toEqual(new Set([503]));
    expect(relay.upstream.requests.length - sent).toBe(1);
    mayAnswer.open();
    await eventually(() => expect(statuses).toContain(200));
    await Promise.all(tries);
    for (const one of [relay, second])
      await eventually(async () => expect((await post('breaks', {}, {}, one)).status).toBe(200));
    const rests = await relay.get(DataSource).query(`SELECT 1 FROM channel_rests WHERE reason = 'failures'`);
    expect(rests).toEqual([]);
  });

  it('R2: costs calls nothing when another one is there: they go straight to that one', async () => {
    relay.upstream.script(byPath({ 'half-1': BROKEN }));
    for (let count = 0; count < 5; count += 1)
      expect((await call('half')).row).toMatchObject({ attempts: 2, channel: 'half-2' });
    expect((await call('half')).row).toMatchObject({ attempts: 1, channel: 'half-2', status: 'succeeded' });
  });
});

describe('a conversation', () => {
  const secretOf = async (body: object, headers?: Record<string, string>): Promise<string> => {
    relay.upstream.requests.length = 0;
    await (await post('sticks', body, headers)).text();
    return usedSecrets().at(-1)!;
  };

  it.each<[string, (name: string) => [object, Record<string, string>?]]>([
    ['prompt_cache_key', (name) => [{ prompt_cache_key: name }]],
    ['the header session-id', (name) => [{}, { 'session-id': name }]],
    ['the header x-claude-code-session-id', (name) => [{}, { 'x-claude-code-session-id': name }]],
  ])('stays with one account of one channel, told by %s', async (_, reported) => {
    const homes = new Set<string>();
    for (let conversation = 0; conversation < 12; conversation += 1) {
      const home = await secretOf(...reported(`conversation ${conversation}`));
      for (let turn = 0; turn < 3; turn += 1)
        expect(await secretOf(...reported(`conversation ${conversation}`))).toBe(home);
      homes.add(home);
    }
    expect(homes.size).toBeGreaterThan(1);
  });

  it('stays by metadata.user_id in Messages and prompt_cache_key in Chat Completions', async () => {
    for (const [protocol, body] of [
      ['messages', { metadata: { user_id: '{"session_id":"s"}' } }],
      ['chat-completions', { prompt_cache_key: 'c' }],
    ] as const) {
      relay.upstream.requests.length = 0;
      for (let turn = 0; turn < 12; turn += 1)
        await (await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model: 'sticks', ...body }))).text();
      expect(new Set(usedSecrets()).size).toBe(1);
    }
  });

  it('yields while its account rests, and returns', async () => {
    const body = { prompt_cache_key: 'one that yields' };
    const home = await secretOf(body);
    relay.upstream.scriptNext(errorResponse(PROTOCOL, 429, undefined, { 'retry-after': '2' }));
    const coolsUntil = performance.now() + 2500;
    const other = await secretOf(body);
    expect(other).not.toBe(home);
    expect(await secretOf(body)).toBe(other);
    await sleep(coolsUntil - performance.now());
    expect(await secretOf(body)).toBe(home);
  });

  it('uses the same credential for conversations whose responses its upstream stores', async () => {
    for (let count = 0; count < 6; count += 1) {
      relay.upstream.reset();
      const id = `resp_${'k'.repeat(20)}${count}`;
      relay.upstream.scriptNext(responseIn(PROTOCOL, { id }));
      await (await post('kept', { store: undefined })).text();
      const [keeper] = usedSecrets();
      for (let turn = 0; turn < 3; turn += 1)
        await (await post('kept', { store: undefined, previous_response_id: id })).text();
      expect(new Set(usedSecrets())).toEqual(new Set([keeper]));
    }
  });
});

describe('a full channel', () => {
  it('is passed over; where all are full, the call is refused, to come again in a second', async () => {
    const mayAnswer = gate();
    relay.upstream.script([waitFor(mayAnswer), GOOD]);
    const running = Array.from({ length: 3 }, () => post('full'));
    await eventually(() => expect(relay.upstream.requests).toHaveLength(3));
    expect(relay.upstream.requests.map(secretIn).toSorted()).toEqual([
      'secret-of-full',
      'secret-of-full',
      'secret-of-full-too',
    ]);
    const refused = await post('full');
    expect(refused.headers.get('retry-after')).toBe('1');
    await expectError(PROTOCOL, refused, OVERLOADED);
    mayAnswer.open();
    for (const one of running) expect((await one).status).toBe(200);
    expect((await post('full')).status).toBe(200);
  });

  it('has room again when a client has left', async () => {
    relay.upstream.script([streamHead(), hang()]);
    for (let round = 0; round < 3; round += 1) {
      const clients = Array.from({ length: 3 }, () => new AbortController());
      const before = relay.upstream.requests.length;
      for (const { signal } of clients)
        void fetch(`${relay.url}${PATHS[PROTOCOL]}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${caller.key}` },
          body: JSON.stringify(aRequest(PROTOCOL, { model: 'full', stream: true })),
          signal,
        }).catch(() => undefined);
      await eventually(() => expect(relay.upstream.requests.length - before).toBe(3));
      for (const client of clients) client.abort();
      for (const request of relay.upstream.requests.slice(before)) expect(await request.closed).toBe('left');
    }
    relay.upstream.script(GOOD);
    await eventually(async () => expect((await post('full')).status).toBe(200));
  });
});

it('R2: a call has one limit of time, however many channels it asks', async () => {
  relay.upstream.script([hang()]);
  const { response, row } = await call('slow', { stream: true });
  expect(response.status).toBe(504);
  const attempts = await relay.attempts(row.id);
  // The first is late with its first event, after 2 s; the second is cut short after one more.
  expect(attempts.map(({ channel: name, reason }) => [name, reason])).toEqual([
    ['slow-1', expect.stringContaining('did not start to respond in time')],
    ['slow-2', expect.stringContaining('timed out')],
  ]);
}, 20_000);

it('a stored channel with an unsupported protocol is unavailable, with its reason', async () => {
  await relay.get(DataSource).query(`UPDATE channels SET protocol = 'ancient' WHERE name = 'strange'`);
  await relay.get(CatalogService).reload();
  await expectError(PROTOCOL, await post('strange'), OVERLOADED);
  expect(channelOf('strange').unavailableReason).toBe('its protocol "ancient" is not supported');
});

it('cooldowns are visible in the metrics', async () => {
  const figures = await (await fetch(`${relay.url}/metrics`)).text();
  expect(figures).toMatch(/switchboard_channel_up\{[^}]*channel="bad-key"[^}]*\} 1/);
  expect(figures).toMatch(/switchboard_channel_up\{[^}]*channel="strange"[^}]*\} 0/);
  expect(figures).toMatch(/switchboard_channel_rests_total\{[^}]*channel="breaks",reason="failures"[^}]*\} 1/);
  expect(figures).toMatch(/switchboard_channel_rests_total\{[^}]*channel="bad-key",reason="refused"[^}]*\} 1/);
});
