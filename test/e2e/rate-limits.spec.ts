import { setTimeout as sleep } from 'node:timers/promises';
import { AccountService } from '../../src/auth/index.js';
import type { LimitsChange } from '../../src/platform/limits/index.js';
import { expectError, INSUFFICIENT_QUOTA, MODEL_NOT_FOUND, RATE_LIMITED } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { limitedCaller, metric } from '../support/limited.js';
import { RawClient } from '../support/raw-client.js';
import { catalogFor, RelayApp, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  delay,
  destroy,
  type ProtocolEndpoint,
  endlessStream,
  errorResponse,
  gate,
  hang,
  head,
  jsonAnswer,
  messagesBody,
  type Script,
  waitFor,
} from '../support/scripted-upstream.js';

/** 1 token for 4 bytes of the prompt's body. */
const USAGE = { usage: { prompt: 1000, completion: 200 } };
const TOLD = {
  'chat-completions': { requests: 'x-ratelimit-remaining-requests', tokens: 'x-ratelimit-remaining-tokens' },
  responses: { requests: 'x-ratelimit-remaining-requests', tokens: 'x-ratelimit-remaining-tokens' },
  messages: { requests: 'anthropic-ratelimit-requests-remaining', tokens: 'anthropic-ratelimit-tokens-remaining' },
} as const;

describe('rate limits', () => {
  let relay: RelayApp;
  beforeAll(async () => (relay = await RelayApp.start()));
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });
  afterAll(() => relay.close());

  const withLimits = (limits: LimitsChange): Promise<TestCaller> => limitedCaller(relay, limits);
  const call = (
    caller: TestCaller,
    protocol: ProtocolEndpoint = 'responses',
    overrides: object = {},
  ): Promise<Response> => relay.post(PATHS[protocol], caller.key, aRequest(protocol, { ...overrides }));
  const statusOf = async (response: Promise<Response>): Promise<number> => {
    const { status, body } = await response;
    await body?.cancel();
    return status;
  };
  const limitHeaders = ({ headers }: Response): string[] =>
    [...headers.keys()].filter((name) => name.includes('ratelimit'));
  /** Once nothing runs any more, exactly so many can run at once. */
  const expectPlaces = async (caller: TestCaller, places: number): Promise<void> => {
    await eventually(async () => expect(await metric(relay, 'calls_in_flight')).toBe(0));
    const opened = gate();
    relay.upstream.script(({ protocol = 'responses' }) => [waitFor(opened), responseIn(protocol)]);
    const calls = Array.from({ length: places + 1 }, () => statusOf(call(caller)));
    // The one that is too many does not wait for anything.
    expect(await Promise.race(calls)).toBe(429);
    opened.open();
    expect((await Promise.all(calls)).toSorted((one, other) => one - other)).toEqual([
      ...Array<number>(places).fill(200),
      429,
    ]);
  };

  describe.each(PROTOCOLS)('of a key, in %s', (protocol) => {
    it('admit N requests a minute; the next is refused with a row and a retry time', async () => {
      const caller = await withLimits({ requestsPerMinute: 2 });
      const first = await call(caller, protocol);
      expect([first.status, first.headers.get(TOLD[protocol].requests)]).toEqual([200, '1']);
      expect(limitHeaders(first)).toHaveLength(3);
      const second = await call(caller, protocol, { stream: true });
      expect([second.status, second.headers.get(TOLD[protocol].requests)]).toEqual([200, '0']);
      await second.text();
      const third = await call(caller, protocol);
      expect([third.headers.get(TOLD[protocol].requests), limitHeaders(third)]).toEqual(['0', limitHeaders(first)]);
      const seconds = third.headers.get('retry-after');
      const id = third.headers.get('x-request-id');
      expect(await expectError(protocol, third, RATE_LIMITED)).toBe(
        `Rate limit reached: the key “test key” is limited to 2 requests per minute. Please try again in ${seconds}s.`,
      );
      const rows = await relay.calls(caller);
      expect(rows.map(({ status }) => status)).toEqual(['succeeded', 'succeeded', 'refused']);
      expect(rows.at(-1)).toMatchObject({ id, error_reason: 'rate_limit_exceeded', model: 'm', cost: '0' });
      expect(relay.upstream.requests).toHaveLength(2);
    });

    it('count tokens as they are used, whatever the prompt was thought to have', async () => {
      const caller = await withLimits({ tokensPerMinute: 1000 });
      relay.upstream.script(responseIn(protocol, USAGE));
      const first = await call(caller, protocol);
      expect(Number(first.headers.get(TOLD[protocol].tokens))).toBeGreaterThan(900);
      await first.text();
      const second = await call(caller, protocol);
      expect(second.headers.get(TOLD[protocol].tokens)).toBe('0');
      expect(await expectError(protocol, second, RATE_LIMITED)).toMatch(
        /^Rate limit reached: the key “test key” is limited to 1000 tokens per minute; \d+ are used and this call needs about \d+\. Please try again in \d+s\.$/,
      );
    });

    it('admit N calls at the same time, streamed or not', async () => {
      const caller = await withLimits({ concurrency: 2 });
      const opened = gate();
      relay.upstream.script([waitFor(opened), responseIn(protocol)]);
      const running = [call(caller, protocol), call(caller, protocol, { stream: true })];
      await relay.upstream.nextRequest();
      await relay.upstream.nextRequest();
      const third = await call(caller, protocol);
      expect(await expectError(protocol, third, RATE_LIMITED)).toBe(
        'Rate limit reached: the key “test key” is limited to 2 concurrent calls. Please try again in 1s.',
      );
      expect(limitHeaders(third)).toEqual([]);
      opened.open();
      for (const response of running) expect(await statusOf(response)).toBe(200);
      await expectPlaces(caller, 2);
    });
  });

  it('are no header and no wait where there are none', async () => {
    const caller = await relay.caller();
    const response = await call(caller);
    expect([response.status, limitHeaders(response)]).toEqual([200, []]);
  });

  it('let nothing of the upstream’s own through', async () => {
    const upstreams = { 'anthropic-ratelimit-requests-limit': '7', 'x-ratelimit-limit-requests': '7' };
    relay.upstream.script(jsonAnswer(200, messagesBody({}), upstreams));
    expect(limitHeaders(await call(await relay.caller(), 'messages'))).toEqual([]);
    const limited = await call(await withLimits({ requestsPerMinute: 5 }), 'messages');
    expect(limited.headers.get('anthropic-ratelimit-requests-limit')).toBe('5');
    expect(limited.headers.get('x-ratelimit-limit-requests')).toBeNull();
  });

  it('can be read by pages of other sites', async () => {
    const caller = await withLimits({ requestsPerMinute: 5 });
    const body = aRequest('responses');
    const response = await relay.post(PATHS.responses, caller.key, body, { origin: 'https://elsewhere.example' });
    const exposed = response.headers.get('access-control-expose-headers')?.split(', ');
    expect(exposed).toEqual(expect.arrayContaining([...limitHeaders(response), 'anthropic-ratelimit-tokens-reset']));
  });

  it('do not count calls that cannot be made', async () => {
    const caller = await withLimits({ requestsPerMinute: 1 });
    await expectError('responses', await call(caller, 'responses', { model: 'nothing' }), MODEL_NOT_FOUND, {
      param: 'model',
    });
    expect(await statusOf(call(caller, 'responses', { input: 7 }))).toBe(400);
    expect(await statusOf(call(caller))).toBe(200);
  });

  it('refuse for good what alone is more than the limit', async () => {
    const caller = await withLimits({ tokensPerMinute: 100 });
    const response = await call(caller, 'responses', { input: 'word '.repeat(1000) });
    const message = await expectError('responses', response, RATE_LIMITED, { shouldRetry: 'false' });
    expect(message).toMatch(/This request alone is over the limit; make it smaller\.$/);
    expect(await statusOf(call(caller))).toBe(200);
  });

  it('have tokens and the place back when the money is refused, and not the request', async () => {
    const poor = await limitedCaller(relay, { requestsPerMinute: 3, tokensPerMinute: 600, concurrency: 1 }, '0');
    // Some 500 tokens: two of them are more than the limit.
    const dear = { input: 'word '.repeat(400) };
    for (let index = 0; index < 3; index += 1)
      await expectError('responses', await call(poor, 'responses', dear), INSUFFICIENT_QUOTA);
    const last = await call(poor, 'responses', dear);
    expect(await expectError('responses', last, RATE_LIMITED)).toMatch('is limited to 3 requests per minute');
  });

  it('hold for all keys of an account together', async () => {
    const caller = await relay.caller();
    await relay.get(AccountService).setLimits(caller.accountId, { requestsPerMinute: 2 });
    await eventually(async () => {
      const response = await call(caller);
      await response.text();
      expect(response.headers.get('x-ratelimit-limit-requests')).toBe('2');
    });
    await statusOf(call(caller));
    const refused = await call(caller);
    expect(await expectError('responses', refused, RATE_LIMITED)).toMatch(
      'your account is limited to 2 requests per minute',
    );
  });

  describe('of the catalog', () => {
    const catalog = (limits: string, ofGroup = ''): string =>
      `${limits}\n${catalogFor(relay.upstream.url).replace('multiplier: 0.8', `multiplier: 0.8${ofGroup}`)}`;
    afterEach(() => relay.applyCatalog(catalog('limits: { key: {}, account: {}, address: {} }')));

    it('hold one by one for who has none of their own', async () => {
      await relay.applyCatalog(catalog('limits: { key: { requests_per_minute: 1, concurrency: 9 } }'));
      const [usual, own] = [await relay.caller(), await withLimits({ requestsPerMinute: 4 })];
      for (const [caller, limit] of [
        [usual, '1'],
        [own, '4'],
      ] as const) {
        const response = await call(caller);
        await response.text();
        expect(response.headers.get('x-ratelimit-limit-requests')).toBe(limit);
      }
      expect(await statusOf(call(usual))).toBe(429);
      expect(await statusOf(call(own))).toBe(200);
    });

    it('hold for a group with all of its accounts', async () => {
      await relay.applyCatalog(catalog('', ', limits: { requests_per_minute: 2 }'));
      const [one, other] = [await relay.caller({ group: 'saver' }), await relay.caller({ group: 'saver' })];
      expect([await statusOf(call(one)), await statusOf(call(other))]).toEqual([200, 200]);
      expect(await expectError('responses', await call(one), RATE_LIMITED)).toMatch(
        'the group “saver” as a whole is limited to 2 requests per minute',
      );
      expect(await statusOf(call(await relay.caller()))).toBe(200);
    });

    it('hold for an address with any key, and report the tightest limit', async () => {
      await relay.applyCatalog(catalog('limits: { address: { requests_per_minute: 3 } }'));
      const limited = await withLimits({ requestsPerMinute: 100 });
      const first = await call(limited);
      await first.text();
      expect(first.headers.get('x-ratelimit-limit-requests')).toBe('3');
      await statusOf(call(await relay.caller()));
      await statusOf(call(await relay.caller()));
      const before = await metric(relay, 'rate_limit_refusals_total{subject="address",limit="requests"}');
      const refused = await call(limited);
      expect(await expectError('responses', refused, RATE_LIMITED)).toMatch(
        'your IP address is limited to 3 requests per minute',
      );
      expect(await metric(relay, 'rate_limit_refusals_total{subject="address",limit="requests"}')).toBe(before + 1);
    });
  });

  it.each(['/v1/messages/count_tokens', '/v1/responses/input_tokens'])(
    'count questions to %s as requests',
    async (path) => {
      const caller = await withLimits({ requestsPerMinute: 2, concurrency: 1, tokensPerMinute: 1 });
      const protocol = path.includes('messages') ? 'messages' : 'responses';
      relay.upstream.script(errorResponse(protocol, 404));
      const ask = (): Promise<Response> => relay.post(path, caller.key, aRequest(protocol));
      const first = await ask();
      expect([first.status, first.headers.get(TOLD[protocol].requests)]).toEqual([200, '1']);
      expect(await statusOf(ask())).toBe(200);
      const refused = await ask();
      expect(refused.headers.get(TOLD[protocol].requests)).toBe('0');
      await expectError(protocol, refused, RATE_LIMITED);
      expect(await relay.calls(caller)).toEqual([]);
    },
  );

  it('count repetitions of a running call as requests, and nothing else of them', async () => {
    const caller = await withLimits({ requestsPerMinute: 2, concurrency: 1 });
    const opened = gate();
    relay.upstream.script([waitFor(opened), responseIn('responses')]);
    const repeat = (): Promise<Response> =>
      relay.post(PATHS.responses, caller.key, aRequest('responses'), { 'idempotency-key': 'one' });
    const own = repeat();
    await relay.upstream.nextRequest();
    const repeated = [repeat(), repeat()].map(statusOf);
    // The one that is too many does not wait for the response.
    expect(await Promise.race(repeated)).toBe(429);
    opened.open();
    const statuses = await Promise.all([statusOf(own), ...repeated]);
    expect(statuses.toSorted((one, other) => one - other)).toEqual([200, 200, 429]);
    expect(relay.upstream.requests).toHaveLength(1);
    await eventually(async () => {
      const rows = await relay.calls(caller);
      expect(rows.map(({ status }) => status).toSorted()).toEqual(['refused', 'succeeded', 'succeeded']);
    });
  });

  it('never lose a place, however calls end', async () => {
    const caller = await withLimits({ concurrency: 3 });
    const left = async (protocol: ProtocolEndpoint, stream: boolean, waitMs: number): Promise<void> => {
      const body = aRequest(protocol, { stream });
      const client = await RawClient.post({ url: relay.url, path: PATHS[protocol], key: caller.key, body });
      await sleep(waitMs);
      client.close();
    };
    const endings: readonly (readonly [Script | undefined, number | undefined])[] = [
      [undefined, undefined],
      [({ protocol = 'responses' }) => errorResponse(protocol, 500), undefined],
      [({ protocol = 'responses' }) => errorResponse(protocol, 400), undefined],
      [destroy('reset'), undefined],
      [[head(200, { 'content-type': 'text/event-stream' }), destroy('close')], undefined],
      [hang(), 0],
      [hang(), 5],
      [[delay(30), ({ protocol = 'responses' }) => responseIn(protocol)], 20],
      [({ protocol = 'responses' }) => endlessStream(protocol, { gapMs: 1 }), 60],
    ];
    for (const [script, leaveMs] of endings)
      for (const protocol of PROTOCOLS)
        for (const stream of [false, true]) {
          if (script === undefined) relay.upstream.reset();
          else relay.upstream.script(script);
          if (leaveMs === undefined) await (await call(caller, protocol, { stream })).text().catch(() => undefined);
          else await left(protocol, stream, leaveMs);
        }
    const count = endings.length * PROTOCOLS.length * 2;
    await eventually(async () => expect(await relay.calls(caller)).toHaveLength(count), 20_000);
    await expectPlaces(caller, 3);
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  }, 60_000);
});
