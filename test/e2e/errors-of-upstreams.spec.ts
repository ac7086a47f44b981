import {
  expectError,
  expectFreeRow,
  INVALID_REQUEST,
  OVERLOADED,
  RATE_LIMITED,
  type Situation,
  TIMEOUT,
  TOO_LARGE,
  TOO_LONG,
  TRUNCATED,
  UPSTREAM_AUTH,
  UPSTREAM_ERROR,
} from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { deadUrl } from '../support/ports.js';
import { RelayApp } from '../support/relay-app.js';
import {
  bytes,
  destroy,
  type ProtocolEndpoint,
  end,
  errorResponse,
  errorEvents,
  eventsIn,
  hang,
  head,
  type JsonObject,
  raw,
  type Script,
  sse,
  streamHead,
} from '../support/scripted-upstream.js';

/** What an upstream says of the relay's account with it, and no client may see (case 96). */
const OURS = 'Incorrect key sk-up***9xyz of org-AbC123; see https://api.vendor.example/keys or 10.0.0.12:8443';
const PRIVATE = /sk-|org-AbC|vendor\.example|10\.0\.0|127\.0\.0\.1|localhost|upstream-secret|<html/i;

/** Serves `nobody-home` from a port where nobody listens, and `impatient` with little patience. */
const faultyChannels = (baseUrl: string, nobodysUrl: string): string => `
models:
  - { name: nobody-home, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
  - { name: impatient, context_window: 200000, max_output_tokens: 64000, groups: [default], prices: free }
channels:
${PROTOCOLS.map(
  (protocol) => `
  - { name: dead-${protocol}, protocol: ${protocol}, base_url: "${nobodysUrl}", credentials: [x], flags: { nativeOnly: true }, models: { nobody-home: x } }
  - { name: impatient-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], flags: { nativeOnly: true }, models: { impatient: x },
      timeouts: { first_event_ms: 200, idle_ms: 200 } }`,
).join('')}
`;

/** An error as the protocol's own vendor words it. */
function vendorError(protocol: ProtocolEndpoint, status: number, message: string, more: JsonObject = {}): Script {
  const error = { type: 'invalid_request_error', message, ...more };
  return errorResponse(protocol, status, protocol === 'messages' ? { type: 'error', error } : { error });
}

const answer = (status: number, type: string, content: string): Script => [
  head(status, { 'content-type': type }),
  bytes(content),
  end(),
];
const page = (status: number): Script => answer(status, 'text/html', '<!DOCTYPE html><html><h1>Gateway</h1></html>');

/** The events that come before the first content. */
const prelude = (protocol: ProtocolEndpoint): Script =>
  sse(eventsIn(protocol).slice(0, protocol === 'responses' ? 2 : 1));

interface ErrorExpectation {
  /** The whole message, without the request's id. */
  readonly message?: string;
  readonly param?: string;
  readonly retryAfter?: string;
}

describe('errors of an upstream, before anything of its response was sent (case 95)', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    // Long enough that none of these answers begins before it has failed.
    relay = await RelayApp.start({ preludeMs: 20_000 });
    await relay.applyCatalog(faultyChannels(relay.upstream.url, await deadUrl()));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  interface Fault {
    readonly script: Script;
    readonly situation: Situation;
    /** The status on the attempt's record; null when there was no response. */
    readonly status: number | null;
    readonly model?: string;
    readonly streams?: readonly boolean[];
  }

  async function expectFault(
    protocol: ProtocolEndpoint,
    { script, situation, status, model = 'm', streams = [false, true] }: Fault,
    { message, param, retryAfter }: ErrorExpectation = {},
  ): Promise<void> {
    for (const stream of streams) {
      const caller = await relay.caller();
      relay.upstream.script(script);
      const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream }));
      const said = await expectError(protocol, response, situation, param === undefined ? {} : { param });
      if (message !== undefined) expect(said).toBe(message);
      expect(said).not.toMatch(PRIVATE);
      if (retryAfter !== undefined) expect(response.headers.get('retry-after')).toBe(retryAfter);
      const row = await expectFreeRow(relay, caller, response, {
        status: 'failed',
        error_reason: situation.reason,
        model,
        protocol,
        upstream_protocol: protocol,
        stream,
        attempts: 1,
      });
      expect(row['error_message']).not.toMatch(PRIVATE);
      expect(await relay.attempts(row.id)).toMatchObject([
        {
          ordinal: 1,
          channel: row['channel'],
          upstream_status: status,
          outcome: situation.reason,
          first_token_ms: null,
        },
      ]);
    }
  }

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    it.each<[status: number, said: string, more: JsonObject, Situation, ErrorExpectation?]>([
      [400, 'Nope: too hot.', {}, INVALID_REQUEST, { message: 'Nope: too hot.' }],
      [400, 'temperature: no.', { param: 'temperature' }, INVALID_REQUEST, { param: 'temperature' }],
      [404, 'No tool output found.', {}, INVALID_REQUEST, { message: 'No tool output found.' }],
      [422, 'Field required.', {}, INVALID_REQUEST, { message: 'Field required.' }],
      [413, 'Too large.', {}, TOO_LARGE, { message: 'Too large.' }],
      [400, 'Nope. (request id: req_up)', {}, INVALID_REQUEST, { message: 'Nope.' }],
      [400, 'Nope \ud83d.', {}, INVALID_REQUEST],
      [400, `Nope. ${OURS}`, {}, INVALID_REQUEST],
      [400, 'prompt is too long: 9 > 8', { code: 'context_length_exceeded' }, TOO_LONG],
    ])(
      '%i %j is the fault of the request, and its words are kept',
      async (status, said, more, situation, ...[expected]) => {
        await expectFault(protocol, { script: vendorError(protocol, status, said, more), situation, status }, expected);
      },
    );

    it.each<[status: number, said: string, more: JsonObject, Situation]>([
      [401, OURS, { type: 'authentication_error', code: 'invalid_api_key' }, UPSTREAM_AUTH],
      [403, OURS, { type: 'permission_error' }, UPSTREAM_AUTH],
      [404, `The model vendor-m-2026 does not exist. ${OURS}`, { code: 'model_not_found' }, UPSTREAM_ERROR],
      [402, `Payment required. ${OURS}`, {}, OVERLOADED],
      [429, `You exceeded your current quota. ${OURS}`, { code: 'insufficient_quota' }, OVERLOADED],
      [400, `Your credit balance is too low. ${OURS}`, {}, OVERLOADED],
    ])(
      '%i %j is a matter of our account: neither shown nor passed on (case 96)',
      async (status, said, more, situation) => {
        await expectFault(protocol, { script: vendorError(protocol, status, said, more), situation, status });
      },
    );

    it.each<[status: number, JsonObject, Situation, retryAfter?: string]>([
      [429, { 'retry-after': '3600' }, RATE_LIMITED, '60'],
      [429, { 'retry-after': '7' }, RATE_LIMITED, '7'],
      [429, { 'retry-after-ms': '1500' }, RATE_LIMITED, '2'],
      [429, {}, RATE_LIMITED],
      [500, {}, UPSTREAM_ERROR],
      [502, {}, UPSTREAM_ERROR],
      [503, {}, OVERLOADED],
      [503, { 'retry-after': '86400' }, OVERLOADED, '60'],
      [504, {}, TIMEOUT],
      [529, {}, OVERLOADED],
    ])('%i %j may pass; a client is never told to wait longer than a minute (case 97)', async (status, ...row) => {
      const [headers, situation, retryAfter] = row;
      const script = errorResponse(protocol, status, undefined, headers as Record<string, string>);
      await expectFault(protocol, { script, situation, status }, retryAfter === undefined ? {} : { retryAfter });
    });

    it.each<[string, Script, Situation, status: number | null, model?: string]>([
      ['a connection that is refused', [], UPSTREAM_ERROR, null, 'nobody-home'],
      ['a connection that is reset', destroy(), UPSTREAM_ERROR, null],
      ['a connection that is closed', destroy('close'), UPSTREAM_ERROR, null],
      ['an answer that is no HTTP', [raw('SSH-2.0-OpenSSH_9.6\r\n'), destroy('close')], UPSTREAM_ERROR, null],
      ['silence', hang(), TIMEOUT, null, 'impatient'],
      ['a redirection', [head(302, { location: 'https://api.vendor.example/' }), end()], UPSTREAM_ERROR, 302],
      ['an error page', page(502), UPSTREAM_ERROR, 502],
      ['a page that refuses', page(400), INVALID_REQUEST, 400],
      ['a page', page(200), UPSTREAM_ERROR, 200],
      ['broken JSON', answer(200, 'application/json', '{"id":"x","usage":{'), UPSTREAM_ERROR, 200],
      ['an array', answer(200, 'application/json', '[]'), UPSTREAM_ERROR, 200],
      ['nothing', answer(200, 'application/json', ''), UPSTREAM_ERROR, 200],
    ])('%s is an error in words of ours', async (_, script, situation, status, model = 'm') => {
      await expectFault(protocol, { script, situation, status, model });
    });

    it.each<[string, JsonObject, Situation]>([
      ['server_error', {}, UPSTREAM_ERROR],
      ['overloaded_error', {}, OVERLOADED],
      ['rate_limit_error', {}, RATE_LIMITED],
      ['authentication_error', {}, UPSTREAM_AUTH],
      ['invalid_request_error', {}, INVALID_REQUEST],
      ['something', { code: 'insufficient_quota' }, OVERLOADED],
    ])('status 200 with an error in it, %s %j, is as its type says (case 22)', async (type, more, situation) => {
      const said = type === 'invalid_request_error' ? 'Nope.' : OURS;
      await expectFault(protocol, {
        script: vendorError(protocol, 200, said, { type, ...more }),
        situation,
        status: 200,
      });
    });

    it.each<[string, Script, Situation, model?: string]>([
      ['begins with an error', sse(errorEvents(protocol, `Boom. ${OURS}`)), UPSTREAM_ERROR],
      ['has an error before its first content', [prelude(protocol), sse(errorEvents(protocol, OURS))], UPSTREAM_ERROR],
      ['breaks before its first content', [prelude(protocol), destroy('close')], UPSTREAM_ERROR],
      ['ends before its first content', prelude(protocol), TRUNCATED],
      ['has no event', [], TRUNCATED],
      ['has nothing but comments', bytes(': hello\n\n: hello\n\n'), TRUNCATED],
      ['falls silent before its first content', [prelude(protocol), hang()], TIMEOUT, 'impatient'],
    ])('a stream that %s is still an error by HTTP', async (_, script, situation, model = 'm') => {
      const streams = [true];
      await expectFault(protocol, { script: [streamHead(), script, end()], situation, status: 200, model, streams });
    });

    it('an unstreamed response that breaks off is an error, and nothing of it is passed on', async () => {
      const headers = { 'content-type': 'application/json', 'content-length': 999 };
      const script = [head(200, headers), bytes('{"id":"x",'), destroy('close')];
      await expectFault(protocol, { script, situation: UPSTREAM_ERROR, status: 200, streams: [false] });
    });
  });

  it('leaves the ledger exact', async () => {
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
