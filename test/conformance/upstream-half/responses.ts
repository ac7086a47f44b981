/** Responses of the upstream, streamed and unstreamed. */

import { RawJson } from '../../../src/protocols/contract/index.js';
import type { NeutralResponse } from '../../support/neutral-response.js';
import { eventsAround } from '../../support/scripted-responses.js';
import { type ResponseOptions, TIME_CALL, WEATHER_CALL } from '../../support/scripted-content.js';
import { encodeEvents } from '../../support/scripted-steps.js';
import type { Abilities, Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import {
  ANSWERED_CALLS,
  CALLING_TWICE,
  COUNTED,
  FILTERED,
  HELLO,
  LIMITED,
  SAID,
  TIME,
  USAGE,
  WEATHER,
  WITH_TOOLS,
} from '../examples.js';
import type { ResponseAbility } from '../shared-abilities.js';
import { calling } from './calling.js';
import type { UpstreamHalf } from './half.js';
import { neutralResponseOf, StreamReader, streamOf, DELIVERIES } from './stream-reader.js';
import { expectsWarning } from './warnings.js';
import { expectArrival, buildUpstreamRequest } from './upstream-request.js';

/** In an order that parsers do not preserve. */
const ORDERED = new RawJson('{"type":"object","properties":{"10":{"type":"string"},"2":{"type":"string"}}}');

export const responseAbilities = (half: UpstreamHalf): Abilities<ResponseAbility> => ({
  text: { checks: [...addressed(half), ...texts(half)] },
  'streaming piece by piece': { checks: [pieces(half)] },
  tools: { checks: [...tools(half), ...calling(half)], otherwise: expectsWarning(half, 'a tool', WITH_TOOLS) },
  'several calls in one turn': {
    checks: [
      ...decoding(half, 'decodes several calls, one without arguments (cases 46 and 48)', CALLING_TWICE, {
        calls: [WEATHER, TIME],
        stop: 'tools',
      }),
      {
        name: 'sends several calls of a turn back unchanged',
        run: () => expectArrival(half, ANSWERED_CALLS),
      },
    ],
  },
  usage: {
    checks: decoding(half, 'decodes usage', COUNTED.response, COUNTED.received),
  },
  'usage of cached tokens': { checks: usage(half, 'cached tokens', { cacheRead: 400 }) },
  'usage of reasoning tokens': { checks: usage(half, 'reasoning tokens', { reasoning: 90 }) },
  stops: {
    checks: [
      ...decoding(half, 'reports a response that met its limit (case 33)', LIMITED, LIMITED),
      ...decoding(half, 'reports a filtered response (case 41)', FILTERED, FILTERED),
    ],
  },
  'empty answer': { checks: decoding(half, 'accepts an empty response (case 32)', { text: '' }, {}) },
});

export function decoding(
  half: UpstreamHalf,
  name: string,
  response: ResponseOptions,
  received: Partial<NeutralResponse>,
  content = callContentOf(HELLO),
): Check[] {
  return Object.entries(DELIVERIES).map(([way, hear]) => ({
    name: `${name}: ${way}`,
    run() {
      expect(neutralResponseOf(hear(half, response, content))).toEqual({ ...SAID, ...received });
    },
  }));
}

const addressed = (half: UpstreamHalf): Check[] =>
  [true, false].map((stream) => ({
    name: `builds a call for its model, ${stream ? 'streamed' : 'unstreamed'}`,
    run() {
      expect(half.upstream.id).toBe(half.vendor.id);
      const sent = buildUpstreamRequest(half, callContentOf(HELLO), { stream });
      expect(sent.headers).toMatchObject({ 'content-type': 'application/json' });
      expect(half.vendor.isCall(sent)).toBe(true);
      expect([half.vendor.wantsStream(sent), half.vendor.modelOf(sent)]).toEqual([stream, 'vendor-model']);
    },
  }));

const texts = (half: UpstreamHalf): Check[] => [
  { name: 'sends user text', run: () => expectArrival(half, HELLO) },
  {
    name: 'sends a conversation turn by turn',
    run() {
      const turns = [...HELLO.turns, { by: 'assistant', text: 'Hi.' }, { by: 'user', text: 'Well?' }] as const;
      expectArrival(half, { ...HELLO, turns });
    },
  },
  ...decoding(
    half,
    'decodes text unchanged',
    { text: ['Hé ', '😀 "quoted"', ' \u2028 \\n ☃'] },
    {
      text: 'Hé 😀 "quoted" \u2028 \\n ☃',
    },
  ),
];

const pieces = (half: UpstreamHalf): Check => ({
  name: 'emits every piece of a text immediately',
  run() {
    const said = ['one ', 'two ', 'three'];
    const content = callContentOf(HELLO);
    const events = streamOf(half, { text: said }, content);
    const reader = new StreamReader(half, content);
    let fed = 0;
    for (const piece of said) {
      const { until } = eventsAround(events, piece);
      reader.next(encodeEvents(until.slice(fed)));
      fed = until.length;
      const received = reader.events.flatMap((event) => (event.type === 'part-delta' ? [event.text] : [])).join('');
      expect(received).toBe(said.slice(0, said.indexOf(piece) + 1).join(''));
    }
  },
});

const tools = (half: UpstreamHalf): Check[] => [
  { name: 'sends tools with their descriptions and schemas', run: () => expectArrival(half, WITH_TOOLS) },
  {
    name: 'keeps the order of schema members',
    run() {
      const tool = { name: 'get_weather', schema: ORDERED, path: 'tools[0]' };
      const text = buildUpstreamRequest(half, callContentOf(HELLO, { tools: [tool] })).body.toString();
      expect(text).toContain('"10"');
      expect(text.indexOf('"10"')).toBeLessThan(text.indexOf('"2"'));
    },
  },
  ...decoding(
    half,
    'decodes a call after text (case 45)',
    { text: ['Let me ', 'see.'], toolCalls: [WEATHER_CALL] },
    { text: 'Let me see.', calls: [WEATHER], stop: 'tools' },
    callContentOf(WITH_TOOLS),
  ),
  ...decoding(
    half,
    'adds an empty object to a call without arguments (case 48)',
    { toolCalls: [TIME_CALL] },
    { calls: [TIME], stop: 'tools' },
    callContentOf(WITH_TOOLS),
  ),
];

const usage = (half: UpstreamHalf, what: string, counts: Partial<NeutralResponse['usage']>): Check[] =>
  decoding(
    half,
    `includes ${what} in the total`,
    { usage: { ...USAGE, ...counts } },
    {
      text: 'Hello',
      usage: { ...USAGE, ...counts },
    },
  );
