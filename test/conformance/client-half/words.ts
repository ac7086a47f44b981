/** Text is found where the protocol declares it, for counting unreported usage. */

import { countRequest } from '../../../src/protocols/tokens/count-tokens.js';
import type { CountedTokens } from '../../../src/protocols/tokens/index.js';
import type { NeutralRequest, NeutralTool } from '../../support/neutral-request.js';
import type { ResponseOptions } from '../../support/scripted-content.js';
import type { Abilities, Check, Lacks } from '../abilities.js';
import { ANSWERED_CALL, CALLED, HELLO, SCHEMA, WITH_TOOLS } from '../examples.js';
import type { ClientAbility } from './ability.js';
import type { ClientHalf } from './half.js';
import { responseSaying, bodyOf, DELIVERIES } from './client-calls.js';

export const words = (half: ClientHalf): Abilities<Extract<ClientAbility, 'words that are counted'>> => ({
  'words that are counted': { checks: [...prompts(half), ...ids(half), ...responses(half)] },
});

/** Each of these is one token after any text. */
const MANY = 40;
const MORE = ' snow'.repeat(MANY);

/** A text of a request, the abilities it needs, and a request with additional text after it. */
type Place = readonly [text: string, needs: ClientAbility, asked: (more: string) => NeutralRequest];

const PROMPT: readonly Place[] = [
  ['what the user says', 'text', (more) => ({ ...HELLO, turns: [{ by: 'user', text: `Hello${more}` }] })],
  ['what the system says', 'system text', (more) => ({ ...HELLO, system: `Be brief${more}` })],
  [
    'what the model has said',
    'text',
    (more) => ({
      ...HELLO,
      turns: [...HELLO.turns, { by: 'assistant', text: `Hi${more}` }, { by: 'user', text: 'So?' }],
    }),
  ],
  ['the description of a tool', 'tools', (more) => ({ ...HELLO, tools: [toolThat(`Looks out${more}`)] })],
  ['what a tool was called with', 'results of tools', (more) => answered({ arguments: `{"city":"Oslo${more}"}` })],
  ['what a tool has found', 'results of tools', (more) => answered({ found: `Snow${more}` })],
];

const toolThat = (description: string): NeutralTool => ({ name: 'get_weather', description, schema: SCHEMA });

/** A call and its result. */
function answered({ arguments: json = '{"city":"Oslo"}', found = 'Snow', id = 'call_9' }): NeutralRequest {
  const calls = [{ ...CALLED[0], id, arguments: json }];
  return {
    ...ANSWERED_CALL,
    turns: [...HELLO.turns, { by: 'assistant', calls }, { by: 'tool', id, text: found }],
  };
}

const prompts = (half: ClientHalf): Check[] =>
  PROMPT.filter(([, needs]) => has(half, needs)).map(([text, , requested]) => ({
    name: `counts ${text} in a request once`,
    run() {
      expect(countOf(half, requested(MORE)).prompt - countOf(half, requested('')).prompt).toBe(MANY);
    },
  }));

const ids = (half: ClientHalf): Check[] =>
  has(half, 'results of tools')
    ? [
        {
          name: 'does not count call IDs in a request',
          run() {
            const [long, short] = [{ id: `call_9${'_snow'.repeat(8)}` }, {}].map(answered);
            expect(countOf(half, long!).prompt).toBe(countOf(half, short!).prompt);
          },
        },
      ]
    : [];

/** The same for responses. */
const RESPONSE: readonly (readonly [text: string, needs: ClientAbility, answer: (more: string) => ResponseOptions])[] =
  [
    ['what the model says', 'text', (more) => ({ text: `Hello${more}` })],
    ['what the model calls a tool with', 'tools', (more) => calling({ arguments: `{"city":"Oslo${more}"}` })],
    ['which tool the model calls', 'tools', (more) => calling({ name: `get_weather${more}` })],
  ];

const calling = ({ name = 'get_weather', arguments: json = '{"city":"Oslo"}' }): ResponseOptions => ({
  toolCalls: [{ id: 'call_9', name, arguments: json }],
});

const responses = (half: ClientHalf): Check[] =>
  RESPONSE.filter(([, needs]) => has(half, needs)).map(([text, , response]) => ({
    name: `counts ${text} in an unstreamed response once`,
    run() {
      const requested = has(half, 'tools') ? WITH_TOOLS : HELLO;
      const outputOf = (options: ResponseOptions): number => countOf(half, requested, options).output;
      expect(outputOf(response(MORE)) - outputOf(response(''))).toBe(MANY);
    },
  }));

const has = ({ client }: ClientHalf, ability: ClientAbility): boolean =>
  ((client.lacks ?? {}) as Lacks<string>)[ability] === undefined;

/** Counts like the relay, without a thread. */
function countOf(half: ClientHalf, requested: NeutralRequest, options: ResponseOptions = {}): CountedTokens {
  const request = bodyOf(half, requested);
  const [prompt, response] = [request, DELIVERIES.whole.write(half, responseSaying(options), request)].map((text) =>
    Buffer.from(text),
  );
  const counted = countRequest({ prompt: prompt!, response: response!, places: half.protocol.textPlaces });
  if ('error' in counted) throw new Error(`The words cannot be counted: ${counted.error}.`);
  return counted;
}
