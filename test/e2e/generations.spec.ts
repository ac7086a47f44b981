import pg from 'pg';
import { expectError, expectIds, INVALID_TOKEN, NOT_FOUND } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  type ProtocolEndpoint,
  errorResponse,
  gate,
  type JsonObject,
  waitFor,
} from '../support/scripted-upstream.js';

/** How a request claims a protocol at an address that no protocol has for itself. */
const CLAIMS: readonly [string, Readonly<Record<string, string>>, ProtocolEndpoint][] = [
  ['nothing', {}, 'chat-completions'],
  ['anthropic-version', { 'anthropic-version': '2023-06-01' }, 'messages'],
];

/** Nobody made a call with it: a UUIDv7 of 2026. */
const NO_CALL = 'req_019a9d3c4d5e7abc89abcdef01234567';

describe('GET /v1/generations/ID', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  const ask = (id: string, { key }: Pick<TestCaller, 'key'>, headers: object = {}): Promise<Response> =>
    fetch(`${relay.url}/v1/generations/${id}`, { headers: { authorization: `Bearer ${key}`, ...headers } });
  const find = async (id: string, caller: TestCaller): Promise<JsonObject> => {
    const response = await ask(id, caller);
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^application\/json/);
    // The response has an id of its own; asking is no call.
    expect(expectIds(response)).not.toBe(id);
    return (await response.json()) as JsonObject;
  };
  const idOf = (response: Response): string => response.headers.get('x-request-id') ?? '';

  it.each(PROTOCOLS)('says what a call used and cost, and how that sum came about: %s', async (protocol) => {
    const caller = await relay.caller({ group: 'saver' });
    relay.upstream.script(
      responseIn(protocol, { usage: { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 50 } }),
    );
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { stream: true }));
    await response.text();
    const id = idOf(response);
    const generation = await find(id, caller);
    // (600 × $1/M + 400 × $0.1/M + 200 × $10/M) × 0.8 = $0.002112.
    expect(generation).toEqual({
      object: 'generation',
      id,
      created_at: expect.stringMatching(/^2\d{3}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) as string,
      model: 'm',
      group: 'saver',
      protocol,
      stream: true,
      transport: 'http',
      effort: null,
      service_tier: null,
      status: 'succeeded',
      error_reason: null,
      prompt_tokens: 1000,
      cached_tokens: 400,
      cache_write_tokens: 0,
      completion_tokens: 200,
      reasoning_tokens: 50,
      cost_usd: '0.002112',
      uncollected_usd: '0',
      held_usd: '0',
      billing_basis: 'reported',
      lines: [
        { item: 'input', quantity: 600, price_usd: '1', per: 'million_tokens' },
        { item: 'cache_read', quantity: 400, price_usd: '0.1', per: 'million_tokens' },
        { item: 'output', quantity: 150, price_usd: '10', per: 'million_tokens' },
        { item: 'reasoning', quantity: 50, price_usd: '10', per: 'million_tokens' },
      ],
      multipliers: { service_tier: '1', effort: '1', group: '0.8' },
      first_token_ms: expect.any(Number) as number,
      duration_ms: expect.any(Number) as number,
      attempts: 1,
      upstream_report: null,
    });
    // By which channel it went is the operator's business.
    expect(JSON.stringify(generation)).not.toContain('-main');
    expect(await relay.calls(caller)).toHaveLength(1);
  });

  it('says that a call is open, and what is on hold for it, until it is settled', async () => {
    const caller = await relay.caller();
    const held = gate();
    relay.upstream.script([waitFor(held), responseIn('responses')]);
    const running = relay.post('/v1/responses', caller.key, aRequest('responses', { model: 'fee' }));
    await relay.upstream.nextRequest();
    const [{ id } = { id: '' }] = await openCalls(caller);
    const open = await find(id, caller);
    expect(open).toMatchObject({
      id,
      status: 'open',
      model: 'fee',
      held_usd: '0.02',
      cost_usd: null,
      uncollected_usd: null,
      billing_basis: null,
      prompt_tokens: null,
      completion_tokens: null,
      lines: [],
      multipliers: { effort: '1', group: '1' },
      first_token_ms: null,
      duration_ms: null,
      attempts: null,
      upstream_report: null,
    });
    held.open();
    const response = await running;
    expect(idOf(response)).toBe(id);
    await response.text();
    const finished = await find(id, caller);
    expect(finished).toMatchObject({ status: 'succeeded', cost_usd: '0.02', held_usd: '0', attempts: 1 });
    expect(finished['lines']).toContainEqual({ item: 'request_fee', quantity: 1, price_usd: '0.02', per: 'use' });
    expect(Object.keys(finished)).toEqual(Object.keys(open));
    expect(finished['created_at']).toBe(open['created_at']);
  });

  it('knows calls that were refused and calls that failed, with the reason and at no cost', async () => {
    const poor = await relay.caller({ credit: '0' });
    const refused = idOf(await relay.post('/v1/messages', poor.key, aRequest('messages', { model: 'fee' })));
    await eventually(async () =>
      expect(await find(refused, poor)).toMatchObject({
        status: 'refused',
        error_reason: 'insufficient quota',
        cost_usd: '0',
        billing_basis: 'free',
        lines: [],
        attempts: 0,
        upstream_report: null,
      }),
    );
    const caller = await relay.caller();
    relay.upstream.script(errorResponse('messages', 400));
    const failed = idOf(await relay.post('/v1/messages', caller.key, aRequest('messages')));
    expect(await find(failed, caller)).toMatchObject({
      status: 'failed',
      error_reason: 'invalid_request',
      cost_usd: '0',
      first_token_ms: null,
      attempts: 1,
      upstream_report: null,
    });
  });

  it('answers every key of the account, and no other account', async () => {
    const [owner, otherUser] = [await relay.caller(), await relay.caller()];
    const response = await relay.post('/v1/responses', owner.key, aRequest('responses', { model: 'free' }));
    await response.text();
    const id = idOf(response);
    await find(id, owner);
    for (const [, headers, protocol] of CLAIMS) {
      const notMine = await expectError(protocol, await ask(id, otherUser, headers), NOT_FOUND);
      const notThere = await expectError(protocol, await ask(NO_CALL, otherUser, headers), NOT_FOUND);
      expect(notMine).toBe(notThere.replace(NO_CALL, id));
    }
  });

  it.each(CLAIMS)('says of what is no id of a call that there is none: with %s', async (_, headers, protocol) => {
    const caller = await relay.caller();
    const ids = [
      'x',
      'req_',
      // Of the year 10889.
      NO_CALL.replace('019a9d3c4d5e', 'f'.repeat(12)),
      NO_CALL.slice(0, -1),
      NO_CALL.replace('req', 'led'),
      'x'.repeat(300),
      '%zz',
      'a/b',
      '%00',
    ];
    for (const id of ids) {
      const message = await expectError(protocol, await ask(id, caller, headers), NOT_FOUND);
      expect(message).toContain('Your account has no call');
    }
    await expectError(protocol, await ask(NO_CALL, { key: 'sk-nobody' }, headers), INVALID_TOKEN);
    expect(await relay.calls(caller)).toEqual([]);
  });

  it('takes GET alone, as the list of models does', async () => {
    const caller = await relay.caller();
    const headers = { authorization: `Bearer ${caller.key}` };
    const status = async (method: string, path: string): Promise<number> =>
      (await fetch(`${relay.url}${path}`, { method, headers })).status;
    for (const method of ['HEAD', 'POST', 'PUT', 'DELETE'])
      for (const path of [`/v1/generations/${NO_CALL}`, '/v1/key'])
        expect([method, path, await status(method, path)]).toEqual([method, path, await status(method, '/v1/models')]);
  });

  it('looks into one month and waits for no other', async () => {
    const caller = await relay.caller();
    const response = await relay.post('/v1/responses', caller.key, aRequest('responses', { model: 'free' }));
    await response.text();
    const now = new Date().toISOString().slice(0, 7).replace('-', '_');
    const client = new pg.Client({ connectionString: relay.databaseUrl });
    await client.connect();
    try {
      const { rows } = await client.query<{ name: string }>(
        `SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = 'calls'::regclass`,
      );
      const others = rows.map(({ name }) => name).filter((name) => name !== `calls_${now}`);
      expect(others.length).toBeGreaterThanOrEqual(3);
      await client.query(`BEGIN; LOCK TABLE ${others.join(', ')} IN ACCESS EXCLUSIVE MODE`);
      expect(await find(idOf(response), caller)).toMatchObject({ status: 'succeeded' });
    } finally {
      await client.end();
    }
  });

  const openCalls = async ({ accountId }: TestCaller): Promise<{ id: string }[]> => {
    const client = new pg.Client({ connectionString: relay.databaseUrl });
    await client.connect();
    const { rows } = await client.query<{ id: string }>('SELECT id FROM open_calls WHERE account_id = $1', [accountId]);
    await client.end();
    return rows;
  };
});
