/** Everything a client requests arrives or causes a warning. */

import { AppError, type JsonObject } from '../../../src/platform/shared/index.js';
import { type CallContent, type Part, RawJson } from '../../../src/protocols/contract/index.js';
import { type NeutralRequest, neutralRequestOf } from '../../support/neutral-request.js';
import type { Abilities, Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import { HELLO, ONE_TOOL, TOOLS } from '../examples.js';
import type { UpstreamAbility } from './ability.js';
import type { UpstreamHalf } from './half.js';
import { buildUpstreamRequest } from './upstream-request.js';

type WarningAbility = Extract<UpstreamAbility, 'settings' | 'files and sound'>;

/** By warning path: values that are nowhere else in a request. */
const SETTINGS: Readonly<Record<string, readonly [value: unknown, content: Partial<CallContent>]>> = {
  temperature: [0.37, { sampling: { temperature: 0.37 } }],
  top_p: [0.83, { sampling: { topP: 0.83 } }],
  top_k: [37, { sampling: { topK: 37 } }],
  presence_penalty: [0.41, { sampling: { presencePenalty: 0.41 } }],
  frequency_penalty: [0.43, { sampling: { frequencyPenalty: 0.43 } }],
  logit_bias: [-47, { sampling: { logitBias: new RawJson('{"5037":-47}') } }],
  logprobs: [3, { sampling: { topLogprobs: 3 } }],
  service_tier: ['priority', { serviceTier: 'priority' }],
  'tools[7]': ['code_interpreter', { hostedTools: [{ type: 'code_interpreter', path: 'tools[7]' }] }],
};

/** Settings that protocols express differently: two requests must differ. */
const DIFFERENCES: Readonly<Record<string, readonly [Partial<CallContent>, Partial<CallContent>]>> = {
  reasoning_effort: [{ reasoning: { effort: 'low', show: 'none' } }, { reasoning: { effort: 'high', show: 'none' } }],
  response_format: [{ format: { kind: 'json' } }, { format: { kind: 'text' } }],
};

/** Media of the user besides inline images, and what the request contains of them. */
const SHOWN: Readonly<Record<string, readonly [mark: string, part: Part]>> = {
  'an image at an address': [
    'https://pictures.example/1.png',
    { kind: 'image', source: { from: 'url', url: 'https://pictures.example/1.png' } },
  ],
  'a document': [
    'JVBERi0xLjQK',
    { kind: 'file', name: 'a.pdf', source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBERi0xLjQK' } },
  ],
  'a document of plain text': ['It snows.', { kind: 'file', source: { from: 'text', text: 'It snows.' } }],
  sound: ['UklGRiQAAABX', { kind: 'audio', format: 'wav', base64: 'UklGRiQAAABX' }],
};

/** Defaults and members without effect. */
const DEFAULT: Partial<CallContent> = {
  sampling: { temperature: 1, topP: 1, presencePenalty: 0, frequencyPenalty: 0, seed: 7 },
  verbosity: 'low',
  serviceTier: 'auto',
};

export const warningAbilities = (half: UpstreamHalf): Abilities<WarningAbility> => ({
  'files and sound': {
    checks: Object.entries(SHOWN).map(([what, [mark, part]]) => ({
      name: `sends ${what} or warns`,
      run() {
        const said: Part = { kind: 'text', text: 'What is this?' };
        const { lost, json } = outcome(half, callContentOf(HELLO, { turns: [{ role: 'user', parts: [said, part] }] }));
        if (lost === '') expect(JSON.stringify(json)).toContain(mark);
      },
    })),
  },
  settings: {
    checks: [
      ...Object.entries(SETTINGS).map(([name, [value, content]]) => ({
        name: `sends ${name} or warns (case 119)`,
        run() {
          const { lost, json } = outcome(half, callContentOf(HELLO, content));
          if (!lost.includes(name)) expect(valuesIn(json)).toContain(value);
        },
      })),
      ...Object.entries(DIFFERENCES).map(([name, [one, other]]) => ({
        name: `sends ${name} or warns`,
        run() {
          const { lost, json } = outcome(half, callContentOf(HELLO, one));
          if (!lost.includes(name)) expect(json).not.toEqual(outcome(half, callContentOf(HELLO, other)).json);
        },
      })),
      {
        name: 'does not warn without unusual settings',
        run() {
          expect(outcome(half, callContentOf(HELLO, DEFAULT)).lost).toBe('');
        },
      },
    ],
  },
});

/** An unsupported member causes a warning, or a rejection naming it. */
export function expectsWarning(
  half: UpstreamHalf,
  what: string,
  requested: NeutralRequest,
  more: Partial<CallContent> = {},
): Check {
  return {
    name: `does not drop ${what} silently`,
    run() {
      expect(outcome(half, callContentOf(requested, more)).lost).not.toBe('');
    },
  };
}

/** Forcing a call with a single tool is equivalent to forcing that tool. */
export const offeredAlone = (half: UpstreamHalf): Check => ({
  name: 'sends only the forced tool with a required call, or warns',
  run() {
    const { lost, json } = outcome(half, callContentOf(ONE_TOOL));
    const alone = { ...ONE_TOOL, tools: [TOOLS[1]], toolChoice: 'required' };
    if (lost === '') expect(neutralRequestOf(half.vendor, json)).toEqual(alone);
  },
});

/** Warnings or the rejected member, and the request if it was sent. */
function outcome(half: UpstreamHalf, content: CallContent): { readonly lost: string; readonly json: JsonObject } {
  try {
    const { warnings = '', json } = buildUpstreamRequest(half, content);
    return { lost: warnings, json };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect(error.kind).toBe('invalid_request');
    return { lost: error.details.param ?? '', json: {} };
  }
}

/** All scalars at any depth. */
const valuesIn = (json: unknown): unknown[] =>
  typeof json === 'object' && json !== null ? Object.values(json).flatMap(valuesIn) : [json];
