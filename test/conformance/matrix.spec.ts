import {
  expectError,
  INVALID_REQUEST,
  OVERLOADED,
  RATE_LIMITED,
  type Situation,
  TOO_LARGE,
  TRUNCATED,
  UPSTREAM_AUTH,
  UPSTREAM_ERROR,
} from '../support/api-errors.js';
import { type Asked, askedIn, requestIn } from '../support/asked.js';
import { PATHS } from '../support/dialects.js';
import { type Heard, heardIn, heardStreamed } from '../support/heard.js';
import { NAMED_PAIRS, type Pair } from '../support/pairs.js';
import { PIXEL, usePairsRelay } from '../support/pairs-relay.js';
import { continued } from '../support/replies.js';
import {
  answerIn,
  type AnswerOptions,
  ENCRYPTED_REASONING,
  end,
  errorAnswer,
  errorEvents,
  eventsAround,
  eventsIn,
  type JsonObject,
  type Script,
  sse,
  streamHead,
  THINKING_SIGNATURE,
  TIME_CALL,
  WEATHER_CALL,
} from '../support/scripted-upstream.js';
import { readEvents, withoutKeepAlives } from '../support/stream-text.js';
import { clientOf } from './dialects/index.js';

const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};
const TOOLS = [
  { name: 'get_weather', description: 'Looks out of the window.', schema: SCHEMA },
  { name: 'get_time', schema: { type: 'object', properties: {} } },
];
const HELLO: Asked = { turns: [{ by: 'user', text: 'Hello ☃ 😀' }], outputLimit: 500 };
const ASKED: Asked = { ...HELLO, system: 'Be brief.', tools: TOOLS };
const USAGE = { prompt: 1000, cacheRead: 400, completion: 200, reasoning: 0 };
/** 600 × $1/M + 400 × $0.1/M + 200 × $10/M. */
const COST = '2640000';
const SAID: Heard = { text: '', reasoning: '', refusal: '', calls: [], stop: 'end', usage: USAGE };

const WEATHER = 'call_9 get_weather {"city":"Oslo"}';
const TIME = 'call_10 get_time {}';

/** What makes a client want to see reasoning. */
const WITH_REASONING: Readonly<Record<Pair['client'], JsonObject>> = {
  responses: { reasoning: { effort: 'high', summary: 'auto' }, include: ['reasoning.encrypted_content'] },
  'chat-completions': { reasoning_effort: 'high' },
  messages: { thinking: { type: 'adaptive', display: 'summarized' } },
};

const world = usePairsRelay({ preludeMs: 20_000 });

const WAYS: [string, boolean][] = [
  ['whole', false],
  ['streamed', true],
];

describe.each(NAMED_PAIRS)('%s', (_, { client, upstream, model }) => {
  const post = (request: JsonObject, stream: boolean): Promise<Response> => {
    const usage = client === 'chat-completions' && stream ? { stream_options: { include_usage: true } } : {};
    return world.relay.post(PATHS[client], world.caller.key, { model, stream, ...usage, ...request });
  };

  /** What the client makes of the answer. */
  async function hear(request: JsonObject, stream: boolean, answer: AnswerOptions): Promise<Heard> {
    world.relay.upstream.script(answerIn(upstream, { usage: USAGE, ...answer }));
    const response = await post(request, stream);
    const text = await response.text();
    expect([response.status, text]).toEqual([200, expect.anything()]);
    return stream ? heardStreamed(client, text) : heardIn(client, JSON.parse(text) as JsonObject);
  }

  /** The latest request to the upstream. */
  const sent = (): JsonObject => world.relay.upstream.requests.at(-1)!.json;

  describe.each(WAYS)('%s', (__, stream) => {
    it('a text is the same text, and is charged once (cases 31 and 93)', async () => {
      const heard = await hear(requestIn(client, HELLO), stream, {
        text: ['Hé', '😀 lo', '\u2028 "quoted" \\n', ' ☃'],
      });
      expect(heard).toEqual({ ...SAID, text: 'Hé😀 lo\u2028 "quoted" \\n ☃' });
      expect(askedIn(upstream, sent())).toEqual(HELLO);
      expect(sent()).toMatchObject({ model: `vendor-${upstream}` });
      expect(await world.relay.onlyCall(world.caller)).toMatchObject({
        status: 'succeeded',
        billing_basis: 'reported',
        cost: COST,
        prompt_tokens: '1000',
        cached_tokens: '400',
        completion_tokens: '200',
      });
    });

    it('an empty answer is an answer (case 32)', async () => {
      expect(await hear(requestIn(client, HELLO), stream, { text: '' })).toEqual(SAID);
    });

    it('one call of a tool, with a text before it (case 45)', async () => {
      const answer = { text: ['Let me ', 'see.'], toolCalls: [WEATHER_CALL] };
      const heard = await hear(requestIn(client, ASKED), stream, answer);
      expect(heard).toEqual({ ...SAID, text: 'Let me see.', calls: [WEATHER], stop: 'tools' });
      expect(askedIn(upstream, sent())).toEqual({ toolChoice: 'auto', ...ASKED });
    });

    it('several calls in one turn, one without arguments (cases 46 and 48)', async () => {
      const heard = await hear(requestIn(client, ASKED), stream, { toolCalls: [WEATHER_CALL, TIME_CALL] });
      expect(heard).toEqual({ ...SAID, calls: [WEATHER, TIME], stop: 'tools' });
    });

    it('an answer that met its limit (case 33)', async () => {
      expect(await hear(requestIn(client, HELLO), stream, { text: 'Once upon', stop: 'length' })).toEqual({
        ...SAID,
        text: 'Once upon',
        stop: 'length',
      });
    });

    it('an answer that a filter ended (case 41)', async () => {
      expect(await hear(requestIn(client, HELLO), stream, { text: 'I', stop: 'filter' })).toEqual({
        ...SAID,
        text: 'I',
        stop: 'filter',
      });
    });

    it('reasoning in front of a text (case 86)', async () => {
      const request = { ...requestIn(client, HELLO), ...WITH_REASONING[client] };
      const heard = await hear(request, stream, { reasoning: ['Compare ', 'both.'], text: '42' });
      expect(heard).toEqual({ ...SAID, reasoning: 'Compare both.', text: '42' });
    });

    it('an answer that needs a second turn: calls, and results with a text behind them (cases 66 and 67)', async () => {
      const turns: Asked['turns'] = [
        ...HELLO.turns,
        {
          by: 'assistant',
          text: 'Let me see.',
          calls: [
            { id: 'call_9', name: 'get_weather', arguments: '{"city":"Oslo"}' },
            { id: 'call_10', name: 'get_time', arguments: '{}' },
          ],
        },
        { by: 'tool', id: 'call_9', text: 'Snow.' },
        { by: 'tool', id: 'call_10', text: 'Noon.' },
        { by: 'user', text: 'Well?' },
      ];
      const asked = { ...ASKED, turns };
      expect(await hear(requestIn(client, asked), stream, {})).toEqual({ ...SAID, text: 'Hello' });
      expect(askedIn(upstream, sent())).toEqual({ toolChoice: 'auto', ...asked });
    });
  });

  it('an image in what the user says', async () => {
    const asked: Asked = { ...HELLO, turns: [{ by: 'user', text: 'What is this?', image: PIXEL }] };
    await hear(requestIn(client, asked), false, {});
    expect(askedIn(upstream, sent())).toEqual(asked);
  });

  // A client of Chat Completions has no place for it.
  const itWithImages = client === 'chat-completions' ? it.skip : it;
  itWithImages('an image in the result of a tool (case 70)', async () => {
    const turns: Asked['turns'] = [
      ...HELLO.turns,
      { by: 'assistant', calls: [{ id: 'call_9', name: 'get_weather', arguments: '{"city":"Oslo"}' }] },
      { by: 'tool', id: 'call_9', text: 'A picture:', image: PIXEL },
    ];
    const asked = { ...ASKED, turns };
    await hear(requestIn(client, asked), false, {});
    expect(askedIn(upstream, sent())).toEqual({ toolChoice: 'auto', ...asked });
  });

  it.each<NonNullable<Asked['toolChoice']>>(['auto', 'required', 'none', { name: 'get_time' }])(
    'a choice of tools: %j (case 56)',
    async (toolChoice) => {
      await hear(requestIn(client, { ...ASKED, toolChoice }), false, {});
      expect(askedIn(upstream, sent())).toEqual({ ...ASKED, toolChoice });
    },
  );

  it('one call at a time (case 57)', async () => {
    const asked = { ...ASKED, isSerial: true };
    await hear(requestIn(client, asked), false, {});
    expect(askedIn(upstream, sent())).toEqual({ toolChoice: 'auto', ...asked });
  });

  it('an answer of a schema (case 118)', async () => {
    const asked = { ...HELLO, schema: SCHEMA };
    const heard = await hear(requestIn(client, asked), false, { text: '{"city":"Oslo"}' });
    expect(heard).toEqual({ ...SAID, text: '{"city":"Oslo"}' });
    expect(askedIn(upstream, sent())).toEqual(asked);
  });

  it.each(WAYS)(
    'reasoning comes back to the upstream that gave it, as it was: %s (cases 79, 80 and 87)',
    async (__, stream) => {
      const request = { ...requestIn(client, ASKED), ...WITH_REASONING[client] };
      const answer = { reasoning: 'Oslo it is.', toolCalls: [WEATHER_CALL], usage: USAGE };
      world.relay.upstream.script(answerIn(upstream, answer));
      const first = await post(request, stream);
      await hear(continued(client, request, await first.text(), WEATHER_CALL.id), false, {});
      const again = JSON.stringify(sent());
      const carries = client !== 'chat-completions' || upstream === 'chat-completions';
      expect(again.includes(MARKS[upstream])).toBe(carries);
      if (upstream === 'messages' && carries) {
        const [, assistant] = sent()['messages'] as { content: JsonObject[] }[];
        expect(assistant!.content[0]).toEqual({
          type: 'thinking',
          thinking: 'Oslo it is.',
          signature: THINKING_SIGNATURE,
        });
      }
      expect(again).not.toContain('rly1.');
    },
  );

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
  it.each(refusals)('a refusal with %i, in the words of the client (case 95)', async (status, situation) => {
    for (const stream of [false, true]) {
      world.relay.upstream.script(errorAnswer(upstream, status));
      await expectError(client, await post(requestIn(client, HELLO), stream), situation);
    }
  });

  const { before } = eventsAround(eventsIn(upstream, { text: ['Hello ', 'there'] }), 'there');
  const faults: [string, Script][] = [
    ['ends early', end()],
    ['reports an error', sse(errorEvents(upstream, 'Boom.', before.length))],
  ];

  it.each(faults)('a stream whose upstream %s ends as failed (cases 40 and 98)', async (how, fault) => {
    world.relay.upstream.script([streamHead(), sse(before), fault, end()]);
    const response = await post(requestIn(client, HELLO), true);
    const events = readEvents(withoutKeepAlives(await response.text()));
    const { failureEvents = 1, ...played } = clientOf(client);

    played.expectFailure(events.slice(0, -failureEvents), events.slice(-failureEvents));
    expect(JSON.stringify(events)).toContain('Hello ');
    const error_reason = how === 'ends early' ? 'upstream_truncated' : 'upstream_error';
    expect(await world.relay.onlyCall(world.caller)).toMatchObject({
      status: 'failed',
      error_reason,
      billing_basis: 'partial',
    });
  });

  it.each(faults)('a client that wants it whole is told when the upstream %s', async (how, fault) => {
    world.relay.upstream.script([streamHead(), sse(before), fault, end()]);
    const situation = how === 'ends early' ? TRUNCATED : UPSTREAM_ERROR;
    await expectError(client, await post(requestIn(client, HELLO), false), situation);
  });
});

/** What proves that reasoning came back, in the words of each upstream. */
const MARKS: Readonly<Record<Pair['upstream'], string>> = {
  responses: ENCRYPTED_REASONING,
  'chat-completions': 'Oslo it is.',
  messages: THINKING_SIGNATURE,
};
