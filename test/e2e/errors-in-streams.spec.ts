import { OVERLOADED, RATE_LIMITED, type Situation, TIMEOUT, TRUNCATED, UPSTREAM_ERROR } from '../support/api-errors.js';
import { aRequest, PROTOCOLS, PATHS } from '../support/protocols.js';
import { expectFailedEnding } from '../support/failed-streams.js';
import { RelayApp, type StoredCall } from '../support/relay-app.js';
import {
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
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
  waitFor,
} from '../support/scripted-upstream.js';
import { type ReadEvent, readEvents, readText, withoutKeepAlives } from '../support/stream-text.js';

const PRELUDE_MS = 100;
const KEEP_ALIVE_MS = 150;
const IDLE_MS = 300;

/** Serves `impatient` from an upstream that may not be silent for long. */
const impatient = (baseUrl: string): string => `
models:
  - { name: impatient, context_window: 200000, max_output_tokens: 64000, groups: [default],
      prices: [{ from_prompt_tokens: 0, input: 1, output: 10 }] }
channels:
${PROTOCOLS.map((protocol) => `  - { name: impatient-${protocol}, protocol: ${protocol}, base_url: "${baseUrl}", credentials: [x], models: { impatient: x }, timeouts: { idle_ms: ${IDLE_MS} } }`).join('\n')}
`;

/** The response up to its first piece of text. */
const untilContent = (protocol: ProtocolEndpoint): readonly ScriptedEvent[] =>
  eventsAround(eventsIn(protocol, { text: ['Hello ', 'there'], usage: { prompt: 100 } }), 'Hello ').until;

describe('R6: errors of an upstream when a stream has begun (case 98, §5.4)', () => {
  let relay: RelayApp;
  beforeAll(async () => {
    relay = await RelayApp.start({ preludeMs: PRELUDE_MS, keepAliveMs: KEEP_ALIVE_MS });
    await relay.applyCatalog(impatient(relay.upstream.url));
  });
  afterAll(() => relay.close());
  afterEach(() => relay.upstream.reset());

  interface FailedCall {
    readonly id: string;
    readonly row: StoredCall;
    readonly text: string;
    /** What the client got before the error: the upstream's bytes, untouched but for pings. */
    readonly before: string;
    readonly ending: readonly ReadEvent[];
  }

  /**
   * Streams the script to a client; it must come as a stream, begin with these bytes (pings apart) and leave one failed
   * row. `begun` opens when they have come, or, where there are none, a keep-alive.
   */
  async function stream(
    protocol: ProtocolEndpoint,
    script: Script,
    sent: string,
    { model = 'm', begun = gate() } = {},
  ): Promise<FailedCall> {
    const caller = await relay.caller();
    const before = withoutKeepAlives(sent);
    relay.upstream.script(script);
    const response = await relay.post(PATHS[protocol], caller.key, aRequest(protocol, { model, stream: true }));
    const text = await readText(response, (soFar) => {
      if (withoutKeepAlives(soFar).startsWith(before)) begun.open();
    });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toMatch(/^text\/event-stream/);
    const received = withoutKeepAlives(text);
    expect(received.slice(0, before.length)).toBe(before);
    const row = await relay.onlyCall(caller);
    expect(row.id).toBe(response.headers.get('x-request-id'));
    expect(row).toMatchObject({ status: 'failed', stream: true, attempts: 1, first_token_ms: null });
    expect(await relay.wallet(caller)).toMatchObject({ held: '0', holds: 0 });
    return { id: row.id, row, text, before, ending: readEvents(received.slice(before.length)) };
  }

  const expectEnding = (protocol: ProtocolEndpoint, { before, ...failed }: FailedCall, situation: Situation): string =>
    expectFailedEnding(protocol, { ...failed, sent: readEvents(before) }, situation);

  describe.each(PROTOCOLS)('of %s', (protocol) => {
    const events = untilContent(protocol);
    const content = encodeEvents(events).toString();

    const faults: [string, Script, Situation][] = [
      ['ends', end(), TRUNCATED],
      ['breaks', destroy('close'), UPSTREAM_ERROR],
      ['is reset', destroy(), UPSTREAM_ERROR],
      ['reports an error', sse(errorEvents(protocol, 'Boom.', events.length)), UPSTREAM_ERROR],
      ['breaks off in the middle of an event', [bytes('event: x\ndata: {"type":"x'), end()], TRUNCATED],
    ];
    it.each(faults)(
      'an upstream that %s after first content ends the stream as failed, and never as complete',
      async (...fault) => {
        const [, script, situation] = fault;
        const begun = gate();
        const failed = await stream(protocol, [streamHead(), sse(events), waitFor(begun), script], content, { begun });
        const message = expectEnding(protocol, failed, situation);
        expect(message).not.toMatch(/127\.0\.0\.1|ECONN|socket/);
        expect(failed.row).toMatchObject({
          error_reason: situation.reason,
          // What an upstream says may quote the request, so that it is not stored.
          error_message: message.includes('Boom.')
            ? expect.stringMatching(/^The upstream failed: status 500[^]*\.$/)
            : message,
          billing_basis: 'partial',
        });
        expect(Number(failed.row['completion_tokens'])).toBeGreaterThan(0);
        expect(BigInt(failed.row['cost'] as string)).toBeGreaterThan(0n);
        expect(await relay.attempts(failed.id)).toMatchObject([{ upstream_status: 200, outcome: situation.reason }]);
      },
    );

    it('an upstream that falls silent after first content is an error once its time is over', async () => {
      const failed = await stream(protocol, [streamHead(), sse(events), hang()], content, { model: 'impatient' });
      expectEnding(protocol, failed, TIMEOUT);
      expect(failed.row).toMatchObject({ error_reason: 'timeout', billing_basis: 'partial' });
    });

    it('sends the error in the stream when the client has only received keep-alives (case 30)', async () => {
      const refusals: [Script, Situation][] = [
        [errorResponse(protocol, 500), UPSTREAM_ERROR],
        [errorResponse(protocol, 503), OVERLOADED],
        [errorResponse(protocol, 429, undefined, { 'retry-after': 3600 }), RATE_LIMITED],
      ];
      for (const [response, situation] of refusals) {
        const begun = gate();
        const failed = await stream(protocol, [waitFor(begun), response], '', { begun });
        expect(failed.text).toMatch(/^: keepalive\n\n/);
        expectEnding(protocol, failed, situation);
        expect(failed.row).toMatchObject({ error_reason: situation.reason, billing_basis: 'free', cost: '0' });
      }
    });

    it('sends the error in the stream when the client has received the prelude', async () => {
      const prelude = events.slice(0, 1);
      const begun = gate();
      const script = [streamHead(), sse(prelude), waitFor(begun), end()];
      const failed = await stream(protocol, script, encodeEvents(prelude).toString(), { begun });
      expectEnding(protocol, failed, TRUNCATED);
      // Nothing of a response was seen, so nothing is charged.
      expect(failed.row).toMatchObject({ error_reason: 'upstream_truncated', billing_basis: 'free', cost: '0' });
    });

    it('events that came in one piece with the error are still delivered', async () => {
      const piece = Buffer.concat([encodeEvents(events), encodeEvents(errorEvents(protocol, 'Boom.', events.length))]);
      const failed = await stream(protocol, [streamHead(), bytes(piece), end()], content);
      expectEnding(protocol, failed, UPSTREAM_ERROR);
      expect(failed.row).toMatchObject({ billing_basis: 'partial' });
    });
  });

  it('an error that Messages reports in a stream keeps its kind', async () => {
    const events = untilContent('messages');
    const error = { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } };
    const script = [streamHead(), sse([...events, { event: 'error', data: error }]), end()];
    expectEnding('messages', await stream('messages', script, encodeEvents(events).toString()), OVERLOADED);
  });

  it('charges what the upstream had reported when it failed', async () => {
    const events = untilContent('messages');
    const { row } = await stream('messages', [streamHead(), sse(events), end()], encodeEvents(events).toString());
    // 100 × $1/M, and output at $10/M for each token that was seen.
    expect(row).toMatchObject({ prompt_tokens: '100' });
    expect(Number(row['cost'])).toBe(100_000 + Number(row['completion_tokens']) * 10_000);
  });

  it('leaves the ledger exact', async () => {
    expect(await relay.ledger()).toEqual({ exact: true, differences: [] });
  });
});
