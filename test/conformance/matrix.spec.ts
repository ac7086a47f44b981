import {
  expectErrorOf,
  INVALID_REQUEST,
  OVERLOADED,
  RATE_LIMITED,
  type Situation,
  TOO_LARGE,
  TRUNCATED,
  UPSTREAM_AUTH,
  UPSTREAM_ERROR,
} from '../support/api-errors.js';
import { type NeutralRequest, neutralRequestOf } from '../support/neutral-request.js';
import type { NeutralResponse } from '../support/neutral-response.js';
import { usePairsRelay } from '../support/pairs-relay.js';
import { EVERY_NAMED_PAIR } from '../support/pairs.js';
import {
  responseOf,
  type AnswerOptions,
  end,
  errorResponse,
  eventsAround,
  type JsonObject,
  type Script,
  sse,
  streamHead,
  THOUGHT,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';
import { itUnless, type Lacks } from './abilities.js';
import { clientOf, vendorOf } from './protocols/index.js';
import {
  CALLED,
  CHOICES,
  HELLO,
  ONE_TOOL,
  PICTURED,
  PICTURED_RESULT,
  SAID as SAID_UNCACHED,
  SCHEMA,
  TIME,
  TOOLS,
  USAGE as UNCACHED,
  WEATHER,
} from './examples.js';

const ASKED: NeutralRequest = { ...HELLO, system: 'Be brief.', tools: TOOLS };

const world = usePairsRelay({ preludeMs: 20_000 });

const WAYS: [string, boolean][] = [
  ['whole', false],
  ['streamed', true],
];

describe.each(EVERY_NAMED_PAIR)('%s', (_, pair) => {
  const { model } = pair;
  const client = clientOf(pair.client);
  const vendor = vendorOf(pair.upstream);
  const lacks: Lacks<string> = { ...client.lacks, ...vendor.lacks };

  const USAGE = { ...UNCACHED, cacheRead: lacks['usage of cached tokens'] === undefined ? 400 : 0 };
  const SAID: NeutralResponse = { ...SAID_UNCACHED, usage: USAGE };
  /** $1/M input, $0.1/M cached, $10/M output: in nanos. */
  const COST = String((USAGE.prompt - USAGE.cacheRead) * 1000 + USAGE.cacheRead * 100 + USAGE.completion * 10_000);

  const post = (request: JsonObject, stream: boolean): Promise<Response> => {
    const address = client.address?.(model, stream);
    const url = address === undefined ? client.path : `${address.path}?${address.query}`;
    return world.relay.post(url, world.caller.key, { ...(address === undefined && { model }), ...request });
  };

  /** The response as read by the client. */
  async function hear(request: JsonObject, stream: boolean, answer: AnswerOptions): Promise<NeutralResponse> {
    world.relay.upstream.script(responseOf(vendor, { usage: USAGE, ...answer }));
    const response = await post(request, stream);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return stream ? client.readStream(text) : client.readResponse(JSON.parse(text) as JsonObject);
  }

  /** The last upstream request, as read by the vendor. */
  const sent = () => world.relay.upstream.requests.at(-1)!;
  const arrived = (): NeutralRequest => neutralRequestOf(vendor, sent().json);

  async function expectArrival(requested: NeutralRequest): Promise<void> {
    await hear(client.request(requested, false), false, {});
    expect(arrived()).toEqual(requested.tools === undefined ? requested : { toolChoice: 'auto', ...requested });
  }

  describe.each(WAYS)('%s', (__, stream) => {
    it('keeps text and charges it once (cases 31 and 93)', async () => {
      const text = ['Hé', '😀 lo', '\u2028 "quoted" \\n', ' ☃'];
      expect(await hear(client.request(HELLO, stream), stream, { text })).toEqual({ ...SAID, text: text.join('') });
      expect(arrived()).toEqual(HELLO);
      expect(vendor.modelOf(sent())).toBe(`vendor-${vendor.id}`);
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        cost: COST,
        prompt_tokens: '1000',
        cached_tokens: String(USAGE.cacheRead),
        completion_tokens: '200',
      });
    });

    itUnless(lacks['empty answer'], 'keeps an empty response (case 32)', async () => {
      expect(await hear(client.request(HELLO, stream), stream, { text: '' })).toEqual(SAID);
    });

    itUnless(lacks['tools'], 'keeps a tool call after text (case 45)', async () => {
      const response = { text: ['Let me ', 'see.'], toolCalls: [WEATHER_CALL] };
      const received = await hear(client.request(ASKED, stream), stream, response);
      expect(received).toEqual({ ...SAID, text: 'Let me see.', calls: [WEATHER], stop: 'tools' });
      expect(arrived()).toEqual({ toolChoice: 'auto', ...ASKED });
    });

    itUnless(
      lacks['several calls in one turn'],
      'keeps several calls in a turn, one without arguments (cases 46 and 48)',
      async () => {
        const received = await hear(client.request(ASKED, stream), stream, { toolCalls: [WEATHER_CALL, TIME_CALL] });
        expect(received).toEqual({ ...SAID, calls: [WEATHER, TIME], stop: 'tools' });
      },
    );

    itUnless(lacks['stops'], 'reports a response that met its limit (case 33)', async () => {
      const response = { text: 'Once upon', stop: 'length' } as const;
      expect(await hear(client.request(HELLO, stream), stream, response)).toEqual({ ...SAID, ...response });
    });

    itUnless(lacks['stops'], 'reports a filtered response (case 41)', async () => {
      const response = { text: 'I', stop: 'filter' } as const;
      expect(await hear(client.request(HELLO, stream), stream, response)).toEqual({ ...SAID, ...response });
    });

    itUnless(lacks['reasoning shown'], 'keeps reasoning before text (case 86)', async () => {
      const request = { ...client.request(HELLO, stream), ...client.wantsReasoning };
      const received = await hear(request, stream, { reasoning: ['Compare ', 'both.'], text: '42' });
      expect(received).toEqual({ ...SAID, reasoning: 'Compare both.', text: '42' });
    });

    itUnless(
      lacks['results of tools'],
      'keeps a second turn: calls, and results with following text (cases 66 and 67)',
      async () => {
        const turns: NeutralRequest['turns'] = [
          ...HELLO.turns,
          { by: 'assistant', text: 'Let me see.', calls: CALLED },
          { by: 'tool', id: 'call_9', text: 'Snow.' },
          { by: 'tool', id: 'call_10', text: 'Noon.' },
          { by: 'user', text: 'Well?' },
        ];
        const requested = { ...ASKED, turns };
        expect(await hear(client.request(requested, stream), stream, {})).toEqual({ ...SAID, text: 'Hello' });
        expect(arrived()).toEqual({ toolChoice: 'auto', ...requested });
      },
    );
  });

  itUnless(lacks['images'], 'keeps an image of the user', () => expectArrival(PICTURED));

  itUnless(lacks['images in results'], 'keeps an image in a tool result (case 70)', () =>
    expectArrival({ ...PICTURED_RESULT, system: 'Be brief.' }),
  );

  for (const toolChoice of CHOICES) {
    itUnless(lacks['choice of tools'], `keeps the choice of tools: ${toolChoice} (case 56)`, () =>
      expectArrival({ ...ASKED, toolChoice }),
    );
  }

  itUnless(lacks['choice of one tool'], 'keeps the forced tool (case 56)', () =>
    expectArrival({ ...ONE_TOOL, system: 'Be brief.' }),
  );

  itUnless(lacks['one call at a time'], 'keeps one call at a time (case 57)', () =>
    expectArrival({ ...ASKED, isSerial: true }),
  );

  itUnless(lacks['JSON of a schema'], 'keeps the output schema (case 118)', async () => {
    const requested = { ...HELLO, schema: SCHEMA };
    const received = await hear(client.request(requested, false), false, { text: '{"city":"Oslo"}' });
    expect(received).toEqual({ ...SAID, text: '{"city":"Oslo"}' });
    expect(arrived()).toEqual(requested);
  });

  for (const [way, stream] of WAYS) {
    const name = `reasoning comes back to the upstream that gave it, as it was: ${way} (cases 79, 80 and 87)`;
    itUnless(vendor.lacks?.['reasoning given back'] ?? lacks['reasoning shown'], name, async () => {
      const request = { ...client.request(ASKED, stream), ...client.wantsReasoning };
      world.relay.upstream.script(responseOf(vendor, { reasoning: THOUGHT, toolCalls: [WEATHER_CALL], usage: USAGE }));
      const first = await post(request, stream);
      await hear(client.continued(request, await first.text(), WEATHER_CALL.id), stream, {});
      const again = sent();
      // Unsigned reasoning is text, which every client can send back.
      const carries = client.returnsSealedReasoning === true || vendor.reasoningMark === THOUGHT;
      expect(again.body.includes(vendor.reasoningMark!)).toBe(carries);
      if (carries) vendor.expectReasoning?.(again.json);
      expect(again.body.toString()).not.toContain('rly1.');
      // The same in base64.
      expect(again.body.toString()).not.toContain('cmx5MS');
    });
  }

  const refusals: [number, Situation][] = [
    [400, INVALID_REQUEST],
    [401, UPSTREAM_AUTH],
    [403, UPSTREAM_AUTH],
    [413, TOO_LARGE],
    [429, RATE_LIMITED],
    [500, UPSTREAM_ERROR],
    [503, OVERLOADED],
    [529, OVERLOADED],
  ];
  it.each(refusals)('renders an error with %i for the client (case 95)', async (status, situation) => {
    for (const stream of [false, true]) {
      world.relay.upstream.script(errorResponse(vendor.id, status));
      await expectErrorOf(client, await post(client.request(HELLO, stream), stream), situation);
    }
  });

  const { before } = eventsAround(vendor.events({ text: ['Hello ', 'there'] }), 'there');
  const faults: [string, Script][] = [
    ['ends early', end()],
    ['reports an error', sse(vendor.errorEvents('Upstream closed the stream.', before.length))],
  ];

  it.each(faults)('ends a stream as failed when the upstream %s (cases 40 and 98)', async (how, fault) => {
    world.relay.upstream.script([streamHead(), sse(before), fault, end()]);
    const response = await post(client.request(HELLO, true), true);
    const events = readEvents(withoutKeepAlives(await response.text(), client.keepAlive));
    const { failureEvents = 1 } = client;
    client.expectFailure(events.slice(0, -failureEvents), events.slice(-failureEvents));
    expect(JSON.stringify(events)).toContain('Hello ');
    const error_reason = how === 'ends early' ? 'upstream_truncated' : 'upstream_error';
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({
      status: 'failed',
      error_reason,
      billing_basis: 'partial',
    });
  });

  it.each(faults)('reports an error to an unstreamed client when the upstream %s', async (how, fault) => {
    world.relay.upstream.script([streamHead(), sse(before), fault, end()]);
    const situation = how === 'ends early' ? TRUNCATED : UPSTREAM_ERROR;
    await expectErrorOf(client, await post(client.request(HELLO, false), false), situation);
  });
});
