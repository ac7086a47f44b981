/** Responses of the model reach the client, streamed and unstreamed. */

import type { CallEvent } from '../../../src/protocols/contract/index.js';
import type { NeutralResponse } from '../../support/neutral-response.js';
import { type ResponseOptions, TIME_CALL, WEATHER_CALL } from '../../support/scripted-content.js';
import type { Abilities, Check } from '../abilities.js';
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
import { reading } from './requests.js';
import type { ClientHalf } from './half.js';
import { responseSaying, bodyOf, DELIVERIES, written } from './client-calls.js';

export const responseAbilities = (half: ClientHalf): Abilities<ResponseAbility | 'refusals of the model'> => ({
  text: { checks: texts(half) },
  'streaming piece by piece': { checks: [pieces(half)] },
  tools: { checks: tools(half) },
  'several calls in one turn': {
    checks: [
      ...rendering(half, 'renders several calls, one without arguments (cases 46 and 48)', CALLING_TWICE, {
        calls: [WEATHER, TIME],
        stop: 'tools',
      }),
      reading(half, 'parses several calls of a turn unchanged when sent back', ANSWERED_CALLS),
    ],
  },
  usage: {
    checks: rendering(half, 'renders usage', COUNTED.response, COUNTED.received),
  },
  'usage of cached tokens': { checks: usage(half, 'cached tokens', { cacheRead: 400 }) },
  'usage of reasoning tokens': { checks: usage(half, 'reasoning tokens', { reasoning: 90 }) },
  stops: {
    checks: [
      ...rendering(half, 'reports a response that met its limit (case 33)', LIMITED, LIMITED),
      ...rendering(half, 'reports a filtered response (case 41)', FILTERED, FILTERED),
    ],
  },
  'refusals of the model': { checks: refusals(half) },
  'empty answer': { checks: rendering(half, 'renders an empty response (case 32)', { text: '' }, {}) },
});

/** Expects the client to read this from a response, streamed and unstreamed. @param body of the request */
export function rendering(
  half: ClientHalf,
  name: string,
  response: ResponseOptions,
  received: Partial<NeutralResponse>,
  body = (stream: boolean): string => bodyOf(half, HELLO, stream),
): Check[] {
  return Object.entries(DELIVERIES).map(([way, { stream, write, hear }]) => ({
    name: `${name}: ${way}`,
    run() {
      const text = write(half, responseSaying(response), body(stream));
      expect(hear(half, text)).toEqual({ ...SAID, ...received });
    },
  }));
}

const texts = (half: ClientHalf): Check[] => [
  reading(half, 'parses user text', HELLO),
  reading(half, 'parses a conversation turn by turn', {
    ...HELLO,
    turns: [...HELLO.turns, { by: 'assistant', text: 'Hi.' }, { by: 'user', text: 'Well?' }],
  }),
  ...rendering(
    half,
    'renders text unchanged',
    { text: 'Hé 😀 "quoted" \u2028 \\n ☃' },
    {
      text: 'Hé 😀 "quoted" \u2028 \\n ☃',
    },
  ),
];

const pieces = (half: ClientHalf): Check => ({
  name: 'writes every piece of a text immediately',
  run() {
    const said = ['one ', 'two ', 'three'];
    const events: CallEvent[] = [
      { type: 'call-start' },
      { type: 'part-start', start: { kind: 'text' } },
      ...said.map((text): CallEvent => ({ type: 'part-delta', text })),
    ];
    const shares = written(half, events).slice(2);
    expect(shares.map((share, index) => share.includes(said[index]!))).toEqual([true, true, true]);
  },
});

/** Text, in protocols without refusals. */
const refusals = (half: ClientHalf): Check[] =>
  Object.entries(DELIVERIES).map(([way, { stream, write, hear }]) => ({
    name: `renders refusals with their text: ${way}`,
    run() {
      const parts = [{ kind: 'refusal', text: 'I will not.' }] as const;
      const response = { ...responseSaying({ text: '' }), parts, stop: 'refusal' } as const;
      const { text, refusal } = hear(half, write(half, response, bodyOf(half, HELLO, stream)));
      expect(text + refusal).toBe('I will not.');
    },
  }));

const tools = (half: ClientHalf): Check[] => {
  const body = (stream: boolean): string => bodyOf(half, WITH_TOOLS, stream);
  return [
    reading(half, 'parses tools with their descriptions and schemas', WITH_TOOLS),
    ...rendering(
      half,
      'renders a call after text (case 45)',
      { text: 'Let me see.', toolCalls: [WEATHER_CALL] },
      { text: 'Let me see.', calls: [WEATHER], stop: 'tools' },
      body,
    ),
    ...rendering(
      half,
      'renders an empty object for a call without arguments (case 48)',
      { toolCalls: [TIME_CALL] },
      { calls: [TIME], stop: 'tools' },
      body,
    ),
  ];
};

const usage = (half: ClientHalf, what: string, counts: Partial<NeutralResponse['usage']>): Check[] =>
  rendering(
    half,
    `includes ${what} in the total`,
    { usage: { ...USAGE, ...counts } },
    {
      text: 'Hello',
      usage: { ...USAGE, ...counts },
    },
  );
