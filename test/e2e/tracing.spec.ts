import { Logger } from '@nestjs/common';
import { Tracing } from '../../src/relay/tracing/tracing.js';
import { Collector, type CollectedSpan } from '../support/collector.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { eventually } from '../support/eventually.js';
import { metricsOf } from '../support/metrics.js';
import { RawClient } from '../support/raw-client.js';
import { RelayApp, type TestCaller } from '../support/relay-app.js';
import { responseIn, errorResponse, eventsIn, hang, sse, streamHead } from '../support/scripted-upstream.js';

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = '00f067aa0ba902b7';
const SAMPLED = { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'vendor=value' };
const UNSAMPLED = { traceparent: `00-${TRACE}-${PARENT}-00` };
const MARKER = 'the-wombat-flies-at-midnight';

/** `two` has two channels, one behind the other; `set` one with a traceparent of its own. */
const channels = (url: string): string => `
models:
${['two', 'set']
  .map(
    (name) => `
  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }`,
  )
  .join('')}
channels:
  - { name: first, protocol: chat-completions, base_url: "${url}", credentials: [first-secret], tier: 1, models: { two: first-two } }
  - { name: second, protocol: messages, base_url: "${url}", credentials: [second-secret], tier: 2, models: { two: second-two } }
  - { name: third, protocol: messages, base_url: "${url}", credentials: [third-secret], models: { set: set },
      headers: { traceparent: its-own } }
`;

let relay: RelayApp;
let caller: TestCaller;

function use(environment: () => Promise<Record<string, string>>): void {
  beforeAll(async () => {
    relay = await RelayApp.start({}, await environment());
    await relay.applyCatalog(channels(relay.upstream.url));
    caller = await relay.caller();
  });
  afterAll(() => relay.close());
  afterEach(() => {
    RawClient.closeAll();
    relay.upstream.reset();
  });
}

const chat = (headers: Record<string, string>, overrides: object = {}): Promise<Response> =>
  relay.post('/v1/chat/completions', caller.key, aRequest('chat-completions', { ...overrides }), headers);

/** The trace, parent and flags that the upstream's requests came with, in order. */
const parents = (): string[][] =>
  relay.upstream.requests.map(({ headers }) => String(headers['traceparent']).split('-').slice(1));

describe('a call that comes with a traceparent', () => {
  use(() => Promise.resolve({}));

  it.each(PROTOCOLS)('of %s goes on with its trace, from a parent of its own', async (protocol) => {
    await relay.post(PATHS[protocol], caller.key, aRequest(protocol), SAMPLED).then((response) => response.text());
    expect(parents()).toEqual([[TRACE, expect.stringMatching(/^[0-9a-f]{16}$/), '01']]);
    expect(parents()[0]?.[1]).not.toBe(PARENT);
    expect(relay.upstream.requests[0]?.headers['tracestate']).toBe('vendor=value');
  });

  it('has another parent for each attempt', async () => {
    relay.upstream.scriptNext(errorResponse('chat-completions', 500), responseIn('messages'));
    expect((await chat(UNSAMPLED, { model: 'two' })).status).toBe(200);
    const [first, second] = parents();
    expect([first?.[0], first?.[2], second?.[0], second?.[2]]).toEqual([TRACE, '00', TRACE, '00']);
    expect(first?.[1]).not.toBe(second?.[1]);
  });

  it.each([
    ['none', {}],
    ['one that is wrong', { traceparent: `00-${TRACE}-01`, tracestate: 'vendor=value' }],
    ['a tracestate alone', { tracestate: 'vendor=value' }],
  ])('with %s sends none', async (_, headers) => {
    expect((await chat(headers)).status).toBe(200);
    expect(Object.keys(relay.upstream.requests[0]?.headers ?? {}).filter((name) => name.startsWith('trace'))).toEqual(
      [],
    );
  });

  it('leaves a channel its own', async () => {
    expect((await chat(SAMPLED, { model: 'set' })).status).toBe(200);
    expect(relay.upstream.requests[0]?.headers).toMatchObject({ traceparent: 'its-own' });
    expect(relay.upstream.requests[0]?.headers).not.toHaveProperty('tracestate');
  });

  it('has its trace in its line of the log, refused or not', async () => {
    const lines: object[] = [];
    const note = (line: unknown): void => void (typeof line === 'object' && line !== null && lines.push(line));
    Logger.overrideLogger({ log: note, warn: note, error: note });
    try {
      await chat(SAMPLED);
      await chat(SAMPLED, { model: 'no-such-model' });
      await chat({}, { model: 'no-such-model' });
      const traces = () => lines.filter((line) => 'key_id' in line).map((line) => 'trace_id' in line && line.trace_id);
      await eventually(() => expect(traces()).toEqual([TRACE, TRACE, false]));
    } finally {
      Logger.overrideLogger(false);
    }
  });
});

describe('with a collector', () => {
  let collector: Collector;
  use(async () => {
    collector = await Collector.start();
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${collector.url}/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-team=relay,authorization=Bearer%20collector-secret',
    };
  });
  afterAll(() => collector.close());
  afterEach(() => collector.reset());

  /** The spans of calls that have ended, once there are so many: the call's own first, then its attempts in order. */
  async function spans(count: number): Promise<CollectedSpan[]> {
    return eventually(async () => {
      await relay.get(Tracing).flush();
      expect(collector.spans).toHaveLength(count);
      return collector.spans.toSorted(
        (one, other) => other.kind.localeCompare(one.kind) || one.startedAt - other.startedAt,
      );
    });
  }

  it('has a span of each streamed call and of its request to an upstream', async () => {
    relay.upstream.script(responseIn('chat-completions', { usage: { prompt: 100, cacheRead: 40, completion: 20 } }));
    const before = Date.now();
    const response = await chat(SAMPLED, { stream: true, stream_options: { include_usage: true } });
    await response.text();
    const [call, attempt] = await spans(2);
    expect(call).toMatchObject({
      traceId: TRACE,
      parentSpanId: PARENT,
      traceState: 'vendor=value',
      name: 'POST /v1/chat/completions',
      kind: 'server',
      isError: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/v1/chat/completions',
        'http.response.status_code': 200,
        'gen_ai.operation.name': 'chat',
        'gen_ai.request.model': 'm',
        'gen_ai.request.stream': true,
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.cache_read.input_tokens': 40,
        'gen_ai.usage.output_tokens': 20,
        'gen_ai.response.time_to_first_chunk': expect.any(Number),
        'switchboard.request_id': response.headers.get('x-request-id'),
        'switchboard.group': 'default',
        'switchboard.status': 'succeeded',
        'switchboard.hold.duration': expect.any(Number),
        'switchboard.settlement.duration': expect.any(Number),
      },
    });
    expect(call?.attributes).not.toHaveProperty(['switchboard.client_pauses.duration']);
    const { hostname, port } = new URL(relay.upstream.url);
    expect(attempt).toMatchObject({
      traceId: TRACE,
      parentSpanId: call?.spanId,
      name: 'chat vendor-m-2026',
      kind: 'client',
      isError: false,
      attributes: {
        'gen_ai.operation.name': 'chat',
        'gen_ai.provider.name': 'openai',
        'gen_ai.request.model': 'vendor-m-2026',
        'gen_ai.usage.input_tokens': 100,
        'gen_ai.usage.output_tokens': 20,
        'http.response.status_code': 200,
        'server.address': hostname,
        'server.port': Number(port),
        'switchboard.channel': 'chat-completions-main',
      },
    });
    expect(parents()).toEqual([[TRACE, attempt?.spanId, '01']]);
    for (const { startedAt, endedAt } of [call, attempt].filter((span) => span !== undefined)) {
      expect(startedAt).toBeGreaterThanOrEqual(before);
      expect(endedAt).toBeGreaterThanOrEqual(startedAt);
      expect(endedAt).toBeLessThanOrEqual(Date.now() + 1);
    }
    expect(collector.resource).toMatchObject({ 'service.name': 'switchboard' });
    expect(collector.headers[0]).toMatchObject({ 'x-team': 'relay', authorization: 'Bearer collector-secret' });
  });

  it('begins a trace where a call comes without one, and goes on with it upstream', async () => {
    await relay.post('/v1/messages', caller.key, aRequest('messages')).then((response) => response.text());
    const [call, attempt] = await spans(2);
    expect(call?.parentSpanId ?? '').toBe('');
    expect(parents()).toEqual([[call?.traceId, attempt?.spanId, '01']]);
    expect(attempt?.attributes).toMatchObject({ 'gen_ai.provider.name': 'anthropic', 'gen_ai.request.stream': false });
  });

  it('gets no spans of calls that their client does not sample', async () => {
    await chat(UNSAMPLED);
    await chat(SAMPLED);
    expect((await spans(2)).map(({ traceId }) => traceId)).toEqual([TRACE, TRACE]);
    expect(parents().map(([, , flags]) => flags)).toEqual(['00', '01']);
  });

  it('has a span of each attempt, and says which failed and how', async () => {
    relay.upstream.scriptNext(errorResponse('chat-completions', 500), responseIn('messages'));
    await chat({}, { model: 'two' });
    const [call, first, second] = await spans(3);
    expect(call).toMatchObject({ isError: false, attributes: { 'switchboard.attempts': 2 } });
    expect(first).toMatchObject({
      parentSpanId: call?.spanId,
      isError: true,
      attributes: { 'error.type': 'upstream_error', 'http.response.status_code': 500, 'switchboard.channel': 'first' },
    });
    expect(first?.attributes).not.toHaveProperty(['gen_ai.usage.input_tokens']);
    expect(second).toMatchObject({
      parentSpanId: call?.spanId,
      isError: false,
      attributes: { 'switchboard.channel': 'second' },
    });
  });

  it('gets the reason of a refused call, without its client’s content', async () => {
    await chat({}, { model: 'no-such-model' });
    const [call] = await spans(1);
    expect(call).toMatchObject({
      // It was the client's error.
      isError: false,
      attributes: {
        'error.type': 'model_not_found',
        'http.response.status_code': 404,
        'switchboard.status': 'refused',
      },
    });
    expect(collector.bodies.join()).not.toContain('no-such-model');
  });

  it('gets a span of a stream that breaks off', async () => {
    relay.upstream.script([streamHead(), sse(eventsIn('messages').slice(0, -1))]);
    await relay
      .post('/v1/messages', caller.key, aRequest('messages', { stream: true }))
      .then((response) => response.text());
    expect(await spans(2)).toMatchObject([
      { isError: true, attributes: { 'error.type': 'upstream_truncated', 'http.response.status_code': 200 } },
      { isError: true, attributes: { 'error.type': 'upstream_truncated' } },
    ]);
  });

  it('gets a span of a call whose client disconnected', async () => {
    relay.upstream.script(hang());
    const client = await RawClient.post({
      url: relay.url,
      path: '/v1/messages',
      key: caller.key,
      body: aRequest('messages'),
    });
    await relay.upstream.nextRequest();
    client.close();
    const [call, attempt] = await spans(2);
    expect(call).toMatchObject({
      isError: false,
      attributes: { 'error.type': 'context_canceled', 'switchboard.status': 'cancelled' },
    });
    expect(call?.attributes).not.toHaveProperty(['http.response.status_code']);
    expect(attempt).toMatchObject({ isError: false });
  });

  it('never sees a word of what is asked and answered, nor a key, nor who calls', async () => {
    const spoken = { system: MARKER, messages: [{ role: 'user', content: MARKER }], metadata: { user_id: MARKER } };
    for (const stream of [false, true]) {
      relay.upstream.scriptNext(
        responseIn('messages', { text: MARKER, reasoning: MARKER }),
        errorResponse('messages', 400, { error: { type: 'invalid_request_error', message: MARKER } }),
        [streamHead(), sse(eventsIn('messages', { text: [MARKER, MARKER] }).slice(0, -2))],
      );
      for (let call = 0; call < 3; call += 1)
        await relay
          .post(`/v1/messages?secret=${MARKER}`, caller.key, aRequest('messages', { ...spoken, stream }), {
            'user-agent': MARKER,
          })
          .then((response) => response.text())
          .catch(() => '');
    }
    expect(await spans(12)).toHaveLength(12);
    const reported = collector.bodies.join('\n');
    for (const secret of [MARKER, caller.key, caller.email, caller.keyId, caller.accountId, 'upstream-secret'])
      expect(reported).not.toContain(secret);
  });

  it('does not affect calls when it fails, which is logged once', async () => {
    const warnings: unknown[] = [];
    Logger.overrideLogger({ log: () => undefined, warn: (line) => warnings.push(line), error: () => undefined });
    try {
      // Not one that is worth trying again.
      collector.status = 400;
      for (let call = 0; call < 2; call += 1) {
        expect((await chat({})).status).toBe(200);
        await eventually(async () => {
          await relay.get(Tracing).flush();
          expect((await metricsOf(relay)).get('switchboard_trace_spans_total{outcome="lost"}')).toBe(2 * (call + 1));
        });
      }
      const ofTraces = warnings.filter((line) => String(line).includes('rejects traces'));
      expect(ofTraces).toHaveLength(1);
    } finally {
      Logger.overrideLogger(false);
    }
    collector.status = 200;
    await chat({});
    expect(await spans(2)).toHaveLength(2);
  });
});

describe('a service that stops', () => {
  it('sends its collector what it has not sent yet', async () => {
    const collector = await Collector.start();
    const stopping = await RelayApp.start({}, { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url });
    const { key } = await stopping.caller();
    await stopping.post('/v1/messages', key, aRequest('messages')).then((response) => response.text());
    await stopping.close();
    expect(collector.spans).toHaveLength(2);
    await collector.close();
  });
});
