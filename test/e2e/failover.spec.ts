import { expectError, INVALID_REQUEST, OVERLOADED, TRUNCATED, UPSTREAM_ERROR } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { deadUrl } from '../support/ports.js';
import { RelayApp, type StoredCall, type TestCaller } from '../support/relay-app.js';
import {
  responseIn,
  bytes,
  destroy,
  type ProtocolEndpoint,
  encodeEvents,
  end,
  errorResponse,
  errorEvents,
  eventsAround,
  eventsIn,
  gate,
  hang,
  head,
  jsonAnswer,
  type Script,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { readText, withoutKeepAlives } from '../support/stream-text.js';

/** So long that no machine is slow enough for a head before its time. */
const PATIENT = { preludeMs: 20_000 };
/** So short that a client gets something before the first channel has answered. */
const HASTY = { preludeMs: 100, keepAliveMs: 150 };

/** `two` has two channels, one behind the other; `half-dead` as well, the first where nobody listens; `five` has five. */
const tiers = (baseUrl: string, nobodysUrl: string): string => `
models:
${['two', 'half-dead', 'five']
  .map(
    (name) => `
  - { name: ${name}, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }`,
  )
  .join('')}
channels:
${PROTOCOLS.flatMap((protocol) => [
  channel(protocol, 'first', 1, baseUrl, 'two: first-name, five: a'),
  channel(protocol, 'second', 2, baseUrl, 'two: second-name, half-dead: second-name, five: b'),
  channel(protocol, 'third', 3, baseUrl, 'five: c'),
  channel(protocol, 'fourth', 4, baseUrl, 'five: d'),
  channel(protocol, 'fifth', 5, baseUrl, 'five: e'),
  channel(protocol, 'dead', 1, nobodysUrl, 'half-dead: first-name'),
]).join('\n')}
`;

const channel = (protocol: ProtocolEndpoint, name: string, tier: number, url: string, models: string): string =>
  `  - { name: ${name}-${protocol}, protocol: ${protocol}, base_url: "${url}", credentials: [${name}-secret], tier: ${tier}, flags: { nativeOnly: true }, models: { ${models} } }`;

let relay: RelayApp;

function use(timings: typeof PATIENT | typeof HASTY): void {
  beforeAll(async () => {
    relay = await RelayApp.start(timings);
    await relay.applyCatalog(tiers(relay.upstream.url, await deadUrl()));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());
}

/**
 * Calls while the upstream plays these scripts one after the other, and gives the response and the row it left.
 * `begun` opens when `until` has come, keep-alives apart; where that is nothing, with the first keep-alive.
 */
async function call(
  protocol: ProtocolEndpoint,
  scripts: readonly Script[],
  { model = 'two', stream = true, begun = gate(), until = '' } = {},
): Promise<{ response: Response; text: string; row: StoredCall; caller: TestCaller }> {
  const caller = await relay.caller();
  relay.upstream.reset();
  relay.upstream.scriptNext(...scripts);
  // So that no byte of a stream is the relay's business.
  const options = protocol === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {};
  const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream, ...options }));
  const text = await readText(response.clone(), (soFar) => {
    if (withoutKeepAlives(soFar).startsWith(until)) begun.open();
  });
  const row = await relay.onlyCall(caller);
  expect(row.id).toBe(response.headers.get('x-request-id'));
  expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
  return { response, text, row, caller };
}

const outcomes = async ({ id }: StoredCall): Promise<unknown[]> =>
  (await relay.attempts(id)).map((attempt) => [attempt['channel'], attempt['upstream_status'], attempt['outcome']]);

/** What the streams of a protocol are made of here. */
function scriptsOf(protocol: ProtocolEndpoint) {
  const events = eventsIn(protocol, { text: ['Hello ', 'there'] });
  return {
    begun: eventsAround(events, 'Hello ').until,
    prelude: events.slice(0, protocol === 'responses' ? 2 : 1),
    first: `first-${protocol}`,
    second: `second-${protocol}`,
    good: responseIn(protocol, { text: ['Hello ', 'there'] }),
  };
}

async function expectExactLedger(): Promise<void> {
  expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
}

describe('R1: failover to another channel', () => {
  use(PATIENT);

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    const { begun, prelude, first, second, good } = scriptsOf(protocol);
    const reported = sse(errorEvents(protocol, 'Boom.'));

    it.each<[string, Script, number | null, string]>([
      ['500', errorResponse(protocol, 500), 500, 'upstream_error'],
      ['503', errorResponse(protocol, 503), 503, 'server_is_overloaded'],
      ['429', errorResponse(protocol, 429), 429, 'rate_limit_exceeded'],
      ['401', errorResponse(protocol, 401), 401, 'upstream_auth'],
      ['402', errorResponse(protocol, 402), 402, 'server_is_overloaded'],
      ['408', errorResponse(protocol, 408), 408, 'timeout'],
      ['409', errorResponse(protocol, 409), 409, 'upstream_error'],
      ['a model unknown there', jsonAnswer(404, { error: { code: 'model_not_found' } }), 404, 'upstream_error'],
      ['a reset connection', destroy(), null, 'upstream_error'],
      ['a page', [head(200, { 'content-type': 'text/html' }), bytes('<html>'), end()], 200, 'upstream_error'],
      ['an error in a 200 (case 22)', jsonAnswer(200, { error: { type: 'server_error' } }), 200, 'upstream_error'],
    ])('%s on the first channel is mended by the second (case 101)', async (_, script, status, outcome) => {
      for (const stream of [false, true]) {
        const { response, text, row } = await call(protocol, [script, good], { stream });
        expect(response.status).toBe(200);
        expect(text).toBe(relay.upstream.lastSent.toString());
        expect(row).toMatchObject({ status: 'succeeded', billing_basis: 'reported', attempts: 2, channel: second });
        expect(await outcomes(row)).toEqual([
          [first, status, outcome],
          [second, 200, 'succeeded'],
        ]);
        expect(relay.upstream.requests.map(({ json }) => json['model'])).toEqual(['first-name', 'second-name']);
      }
    });

    it.each<[string, Script, string]>([
      ['begins with an error', reported, 'upstream_error'],
      ['has an error behind its prelude', [sse(prelude), reported], 'upstream_error'],
      ['breaks behind its prelude', [sse(prelude), destroy('close')], 'upstream_error'],
      ['ends behind its prelude', sse(prelude), 'upstream_truncated'],
    ])('a stream that %s is mended by the second channel (case 101)', async (_, script, outcome) => {
      const { text, row } = await call(protocol, [[streamHead(), script, end()], good]);
      // One prelude, the second channel's: nothing of the first response has been let go.
      expect(text).toBe(relay.upstream.lastSent.toString());
      expect(row).toMatchObject({ status: 'succeeded', attempts: 2, channel: second });
      expect(await outcomes(row)).toEqual([
        [first, 200, outcome],
        [second, 200, 'succeeded'],
      ]);
    });

    it('skips a channel whose address refuses connections', async () => {
      const { text, row } = await call(protocol, [good], { model: 'half-dead' });
      expect(text).toBe(relay.upstream.lastSent.toString());
      expect(await outcomes(row)).toEqual([
        [`dead-${protocol}`, null, 'upstream_error'],
        [second, 200, 'succeeded'],
      ]);
    });

    it.each([400, 413, 422])('no other channel is tried when the request is at fault: %i', async (status) => {
      for (const stream of [false, true]) {
        const { response, row } = await call(protocol, [errorResponse(protocol, status), good], { stream });
        expect(response.status).toBe(status === 413 ? 413 : 400);
        expect(row).toMatchObject({ status: 'failed', attempts: 1, channel: first });
        expect(relay.upstream.requests).toHaveLength(1);
      }
    });

    it('tells the last failure when all channels fail, and asks none of them twice', async () => {
      const { response, row } = await call(protocol, [
        errorResponse(protocol, 500),
        errorResponse(protocol, 503),
        good,
      ]);
      await expectError(protocol, response, OVERLOADED);
      expect(row).toMatchObject({ status: 'failed', attempts: 2, billing_basis: 'free', cost: '0' });
      expect(await outcomes(row)).toEqual([
        [first, 500, 'upstream_error'],
        [second, 503, 'server_is_overloaded'],
      ]);
    });

    it('stops at a channel that says that the request is at fault', async () => {
      const { response, row } = await call(protocol, [
        errorResponse(protocol, 500),
        errorResponse(protocol, 400),
        good,
      ]);
      await expectError(protocol, response, INVALID_REQUEST);
      expect(row).toMatchObject({ status: 'failed', error_reason: 'invalid_request', attempts: 2 });
    });

    it('tries few channels, because clients try again themselves', async () => {
      const failing = Array.from({ length: 5 }, () => errorResponse(protocol, 500));
      const { response, row } = await call(protocol, failing, { model: 'five' });
      await expectError(protocol, response, UPSTREAM_ERROR);
      expect(row['attempts']).toBe(4);
      expect(relay.upstream.requests).toHaveLength(Number(row['attempts']));
    });

    it('a client that leaves during the second attempt cancels that one', async () => {
      const caller = await relay.caller();
      relay.upstream.scriptNext(errorResponse(protocol, 500), [streamHead(), sse(begun), hang()]);
      const client = new AbortController();
      const response = await fetch(`${relay.url}${PATHS[protocol]}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${caller.key}` },
        body: JSON.stringify(aRequest(protocol, { model: 'two', stream: true })),
        signal: client.signal,
      });
      await response.body?.getReader().read();
      await relay.upstream.nextRequest();
      const request = await relay.upstream.nextRequest();
      client.abort();
      expect(await request.closed).toBe('left');
      const row = await relay.onlyCall(caller);
      expect(row).toMatchObject({ status: 'cancelled', attempts: 2, channel: second, billing_basis: 'partial' });
      expect(await outcomes(row)).toEqual([
        [first, 500, 'upstream_error'],
        [second, 200, 'cancelled'],
      ]);
      expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    });
  });

  it('a stream without a clean end on the last channel is truncated', async () => {
    const broken = [streamHead(), end()];
    const { response, row } = await call('chat-completions', [broken, broken]);
    await expectError('chat-completions', response, TRUNCATED);
    expect(row).toMatchObject({ attempts: 2, error_reason: 'upstream_truncated' });
  });

  it('leaves the ledger exact', expectExactLedger);
});

describe('R1: failover when something has been written to the client', () => {
  use(HASTY);

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    const { begun: answer, prelude, first, second, good } = scriptsOf(protocol);

    it('keep-alives do not count: another channel may still answer behind them (case 102)', async () => {
      const begun = gate();
      const { text, row } = await call(protocol, [[waitFor(begun), errorResponse(protocol, 500)], good], { begun });
      expect(text).toMatch(/^: keepalive\n\n/);
      expect(withoutKeepAlives(text)).toBe(withoutKeepAlives(relay.upstream.lastSent.toString()));
      expect(row).toMatchObject({ status: 'succeeded', attempts: 2, channel: second });
    });

    it.each([
      ['first content', answer],
      ['a prelude that was written', prelude],
    ])('no other channel is tried behind %s (case 102)', async (_, before) => {
      for (const fault of [end(), destroy('close'), sse(errorEvents(protocol, 'Boom.', before.length))]) {
        const begun = gate();
        const until = withoutKeepAlives(encodeEvents(before).toString());
        const script = [streamHead(), sse(before), waitFor(begun), fault];
        const { response, text, row } = await call(protocol, [script, good], { begun, until });
        expect(response.status).toBe(200);
        expect(withoutKeepAlives(text).slice(0, until.length)).toBe(until);
        expect(text).toContain('error');
        expect(row).toMatchObject({ status: 'failed', attempts: 1, channel: first });
        expect(relay.upstream.requests).toHaveLength(1);
      }
    });
  });

  it('leaves the ledger exact', expectExactLedger);
});
