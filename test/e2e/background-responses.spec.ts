import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import OpenAI from 'openai';
import pg from 'pg';
import { ApiKeyService } from '../../src/keys/index.js';
import { VENDORS } from '../conformance/protocols/index.js';
import { expectError, NOT_FOUND } from '../support/api-errors.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { eventually } from '../support/eventually.js';
import { pairsCatalog } from '../support/pairs.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import {
  destroy,
  endlessStream,
  errorResponse,
  eventsAround,
  eventsIn,
  type Gate,
  gate,
  type JsonObject,
  type ProtocolEndpoint,
  type Script,
  ScriptedUpstream,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { Service } from '../support/service.js';

const EMAIL = 'team@example.com';
const USAGE = { prompt: 1000, completion: 200 };
/** 1000 × $1 + 200 × $10 per million. */
const NANOS = 3_000_000;

/** A response that stops after its first word until the gate is open. */
const halted = (upstream: string, until: Gate): Script => {
  const events = eventsIn(upstream, { text: ['Hel', 'lo'], usage: USAGE });
  const around = eventsAround(events, 'Hel');
  return [streamHead(), sse(around.until), waitFor(until), sse(around.behind)];
};

const world = usePairsRelay();
const openai = (key = world.caller.key): OpenAI => new OpenAI({ apiKey: key, baseURL: world.url, maxRetries: 0 });
const row = (): Promise<JsonObject> => world.relay.onlyCall(world.caller);
const isSettled = async (): Promise<void> => {
  expect(await world.relay.wallet(world.caller)).toMatchObject({ held: '0', holds: 0 });
  expect(await world.relay.ledger()).toMatchObject({ exact: true });
};
const ask = (method: string, path: string, key = world.caller.key): Promise<Response> =>
  fetch(`${world.url}/responses/${path}`, { method, headers: { authorization: `Bearer ${key}` } });
const untilEnded = (id: string): Promise<OpenAI.Responses.Response> =>
  eventually(async () => {
    const response = await openai().responses.retrieve(id);
    expect(response.status).not.toBe('in_progress');
    return response;
  });

describe.each(VENDORS.map(({ id }) => id))('background responses over an upstream of %s', (upstream) => {
  const model = `over-${upstream}`;

  it('run without their client, are polled, and are charged as any other', async () => {
    const opened = gate();
    world.relay.upstream.scriptNext(halted(upstream, opened));
    const { data: created, response } = await openai()
      .responses.create({ model, input: 'Hello', background: true })
      .withResponse();
    expect(response.status).toBe(200);
    expect(created).toMatchObject({ status: 'in_progress', background: true });
    expect(await openai().responses.retrieve(created.id)).toMatchObject({ id: created.id, status: 'in_progress' });
    expect(await world.relay.calls(world.caller)).toEqual([]);
    opened.open();
    const ended = await untilEnded(created.id);
    expect(ended).toMatchObject({ id: created.id, status: 'completed', output_text: 'Hello', background: true });
    expect(await row()).toMatchObject({ status: 'succeeded' });
    // Chat Completions reports usage in a chunk of its own.
    if (upstream !== 'chat-completions') expect(Number((await row())['cost'])).toBe(NANOS);
    await isSettled();
  });

  it('are streamed again from any event, while they run and afterwards', async () => {
    const opened = gate();
    world.relay.upstream.scriptNext(halted(upstream, opened));
    const first = await openai().responses.create({ model, input: 'Hello', background: true, stream: true });
    let id = '';
    let seen = -1;
    for await (const event of first) {
      if (event.type === 'response.created') id = event.response.id;
      seen = event.sequence_number;
      if (event.type === 'response.output_text.delta') break;
    }
    await eventually(async () => expect((await ask('GET', id)).status).toBe(200));
    const again = await openai().responses.retrieve(id, { stream: true, starting_after: seen });
    opened.open();
    const numbers: number[] = [];
    let text = '';
    for await (const event of again) {
      numbers.push(event.sequence_number);
      if (event.type === 'response.output_text.delta') text += event.delta;
    }
    expect(text).toBe('lo');
    expect(numbers).toEqual(numbers.map((_, index) => seen + 1 + index));
    const resumed = await ask('GET', `${id}?stream=true`);
    expect(resumed.headers.get('x-request-id')).toMatch(/^req_/);
    const whole = await resumed.text();
    expect(whole).toMatch(/^event: response.created\n[^]*response.completed[^]*data: \[DONE\]\n\n$/);
    await isSettled();
  });

  it('are cancelled, and charged for what they had', async () => {
    world.relay.upstream.scriptNext(halted(upstream, gate()));
    const { id } = await openai().responses.create({ model, input: 'Hello', background: true });
    const request = world.relay.upstream.requests.at(-1)!;
    expect(await openai().responses.cancel(id)).toMatchObject({ id, status: 'cancelled' });
    expect(await request.closed).toBe('left');
    expect(await row()).toMatchObject({ status: 'cancelled', billing_basis: 'partial' });
    expect(await openai().responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    await isSettled();
  });

  it('fail where their upstream does, without its stream and in it', async () => {
    world.relay.upstream.scriptNext(errorResponse(upstream as ProtocolEndpoint, 400));
    await expect(openai().responses.create({ model, input: 'Hello', background: true })).rejects.toMatchObject({
      status: 400,
    });
    expect(await row()).toMatchObject({ status: 'failed', billing_basis: 'free' });
    const opened = gate();
    const { until } = eventsAround(eventsIn(upstream as ProtocolEndpoint, { text: ['Hel', 'lo'] }), 'Hel');
    world.relay.upstream.script([streamHead(), sse(until), waitFor(opened), destroy()]);
    const { id } = await openai().responses.create({ model, input: 'Hello', background: true });
    opened.open();
    expect(await untilEnded(id)).toMatchObject({ status: 'failed', error: { code: expect.any(String) as string } });
    expect(await (await ask('GET', `${id}?stream=true`)).text()).toContain('event: response.failed');
    await isSettled();
  });
});

describe('background responses', () => {
  const model = 'over-chat-completions';
  const request = { model, input: 'Hello', background: true };

  it('belong to their key alone', async () => {
    world.relay.upstream.scriptNext(halted('chat-completions', gate()));
    const { id } = await openai().responses.create(request);
    const other = await world.relay.caller();
    for (const [method, path] of [
      ['GET', id],
      ['GET', `${id}?stream=true`],
      ['POST', `${id}/cancel`],
      ['DELETE', id],
    ] as const)
      await expectError('responses', await ask(method, path, other.key), NOT_FOUND);
    expect(await openai().responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
    await openai().responses.delete(id);
    await expect(openai().responses.retrieve(id)).rejects.toMatchObject({ status: 404 });
    expect(await row()).toMatchObject({ status: 'cancelled' });
  });

  it('end with their key', async () => {
    world.relay.upstream.script(endlessStream('chat-completions'));
    await openai().responses.create(request);
    await world.relay.get(ApiKeyService).delete(world.caller.keyId);
    expect((await row())['status']).not.toBe('succeeded');
    await isSettled();
  });

  it('are cancelled when the client leaves before it knows their ID', async () => {
    const opened = gate();
    world.relay.upstream.scriptNext([waitFor(opened)]);
    const aborting = new AbortController();
    const left = openai()
      .responses.create(request, { signal: aborting.signal })
      .catch(() => undefined);
    await world.relay.upstream.nextRequest();
    aborting.abort();
    await left;
    expect(await row()).toMatchObject({ status: 'cancelled' });
    opened.open();
    await isSettled();
  });

  it.each([
    ['store: false', { store: false }, {}],
    ['an Idempotency-Key', {}, { 'idempotency-key': 'one' }],
  ])('are refused with %s', async (_, change, headers) => {
    const response = await world.relay.post('/v1/responses', world.caller.key, { ...request, ...change }, headers);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'background' } }]);
    expect(await row()).toMatchObject({ status: 'refused' });
  });

  it('are refused for keys that never store', async () => {
    const { accountId } = world.caller;
    const { secret } = await world.relay.get(ApiKeyService).create({ accountId, name: 'silent', neverStores: true });
    const response = await world.relay.post('/v1/responses', secret.reveal(), request);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { param: 'store' } }]);
  });
});

describe('background responses of two processes', () => {
  let database: TestDatabase;
  let upstream: ScriptedUpstream;
  let services: Service[] = [];
  const start = (environment: Record<string, string> = {}): Promise<Service> =>
    Service.start(undefined, {
      DATABASE_URL: database.url,
      SECRET_KEY: 'two processes share this secret.',
      DEMO: 'off',
      LOG_LEVEL: 'error',
      ...environment,
    });
  let sql: pg.Client;
  let key = '';
  const run = async (...args: string[]): Promise<string> => {
    const { code, stdout, stderr } = await services[0]!.command(...args);
    expect([code, stderr]).toEqual([0, '']);
    return stdout.trim();
  };

  beforeAll(async () => {
    [database, upstream] = await Promise.all([freshDatabase(), ScriptedUpstream.start()]);
    services = [await start()];
    services.push(await start({ SHUTDOWN_GRACE_MS: '500' }), await start());
    const catalog = join(services[0]!.dataDir, 'catalog.yaml');
    writeFileSync(catalog, pairsCatalog(upstream.url));
    await run('catalog', 'apply', catalog);
    await run('account', 'create', '--email', EMAIL, '--credit', '10');
    key = await run('key', 'create', '--email', EMAIL, '--name', 'test');
    sql = new pg.Client({ connectionString: database.url });
    await sql.connect();
  }, 180_000);
  afterAll(async () => {
    await sql.end();
    for (const service of services) await service.remove();
    await Promise.all([database.drop(), upstream.close()]);
  }, 60_000);

  const at = (index: number): OpenAI =>
    new OpenAI({ apiKey: key, baseURL: `${services[index]!.address}/v1`, maxRetries: 0 });
  const rowOf = (status: string): Promise<unknown> =>
    eventually(async () => {
      const { rows } = await sql.query<JsonObject>(
        'SELECT status, billing_basis FROM calls ORDER BY created_at DESC LIMIT 1',
      );
      const [call] = rows;
      expect(call).toMatchObject({ status });
      return call;
    }, 60_000);
  const request = { model: 'over-messages', input: 'Hello', background: true };

  it('are polled, streamed and cancelled at another process', async () => {
    upstream.scriptNext(halted('messages', gate()));
    const { id } = await at(0).responses.create(request);
    expect(await at(1).responses.retrieve(id)).toMatchObject({ status: 'in_progress' });
    const stream = await at(1).responses.retrieve(id, { stream: true });
    const types: string[] = [];
    for await (const { type } of stream) {
      types.push(type);
      if (type === 'response.output_text.delta')
        expect(await at(2).responses.cancel(id)).toMatchObject({ status: 'cancelled' });
    }
    expect(types).toEqual(expect.arrayContaining(['response.created', 'response.output_text.delta']));
    await rowOf('cancelled');
  }, 60_000);

  it('fail when their process stops before they end', async () => {
    upstream.scriptNext(halted('messages', gate()));
    const { id } = await at(1).responses.create(request);
    await services[1]!.stop();
    expect(await at(0).responses.retrieve(id)).toMatchObject({ status: 'failed' });
    await rowOf('failed');
  }, 60_000);

  it('have failed, free of charge, when their process was killed', async () => {
    upstream.scriptNext(halted('messages', gate()));
    const { id } = await at(2).responses.create(request);
    process.kill(services[2]!.serverPid, 'SIGKILL');
    expect(await rowOf('interrupted')).toMatchObject({ billing_basis: 'free' });
    const lost = await at(0).responses.retrieve(id);
    expect(lost).toMatchObject({
      status: 'failed',
      error: { message: expect.stringContaining('not charged') as string },
    });
    const types: string[] = [];
    for await (const { type } of await at(0).responses.retrieve(id, { stream: true })) types.push(type);
    expect(types.at(-1)).toBe('response.failed');
    expect(await run('ledger', 'check')).toBe('ledger exact');
  }, 120_000);
});
