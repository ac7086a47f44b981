/** Requests of clients arrive at the upstream. */

import { type NeutralRequest, neutralRequestOf } from '../../support/neutral-request.js';
import type { Abilities, Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import {
  ANSWERED_CALL,
  ANSWERED_CALLS,
  CHOICES,
  HELLO,
  ONE_TOOL,
  PICTURED,
  PICTURED_RESULT,
  SCHEMA,
  WITH_TOOLS,
} from '../examples.js';
import type { RequestAbility } from '../shared-abilities.js';
import type { UpstreamHalf } from './half.js';
import { offeredAlone, expectsWarning } from './warnings.js';
import { receivedRequest, expectArrival, buildUpstreamRequest } from './upstream-request.js';

const SYSTEM: NeutralRequest = { ...HELLO, system: 'Be brief.' };
const SERIAL: NeutralRequest = { ...WITH_TOOLS, isSerial: true };
const FORMATTED: NeutralRequest = { ...HELLO, schema: SCHEMA };
const STOPS = Array.from({ length: 12 }, (_, index) => `<stop-${index}>`);
/** Not representable as a double. */
const LARGE = '9007199254740993';

export const requestAbilities = (half: UpstreamHalf): Abilities<RequestAbility> => ({
  'system text': {
    checks: [arrival(half, 'sends system text', SYSTEM), instructed(half)],
    otherwise: expectsWarning(half, 'a system text', SYSTEM),
  },
  'choice of tools': {
    checks: [
      ...CHOICES.map((toolChoice) =>
        arrival(half, `sends the choice of tools: ${toolChoice} (case 56)`, { ...WITH_TOOLS, toolChoice }),
      ),
      ...narrowed(half),
    ],
    otherwise: expectsWarning(half, 'a call that is demanded', { ...WITH_TOOLS, toolChoice: 'required' }),
  },
  'choice of one tool': {
    checks: [arrival(half, 'sends the forced tool (case 56)', ONE_TOOL)],
    otherwise: offeredAlone(half),
  },
  'one call at a time': {
    checks: [arrival(half, 'requests one call at a time (case 57)', SERIAL)],
    otherwise: expectsWarning(half, 'one call at a time', SERIAL),
  },
  'results of tools': { checks: results(half), otherwise: expectsWarning(half, 'a result', ANSWERED_CALL) },
  images: {
    checks: [arrival(half, 'sends an image after text', PICTURED)],
    otherwise: expectsWarning(half, 'an image', PICTURED),
  },
  'images in results': {
    checks: [arrival(half, 'sends an image in a tool result (case 70)', PICTURED_RESULT)],
    otherwise: expectsWarning(half, 'an image in a result', PICTURED_RESULT),
  },
  'JSON of a schema': {
    checks: [arrival(half, 'sends the output schema (case 118)', FORMATTED)],
    otherwise: expectsWarning(half, 'a schema of the answer', FORMATTED),
  },
  'stop texts': { checks: [stops(half)], otherwise: noStops(half) },
  'output limit': { checks: limits(half), otherwise: expectsWarning(half, 'an output limit', HELLO) },
});

const arrival = (half: UpstreamHalf, name: string, requested: NeutralRequest): Check => ({
  name,
  run: () => expectArrival(half, requested),
});

const instructed = (half: UpstreamHalf): Check => ({
  name: 'sends leading and later system text',
  run() {
    const lead = ['Be brief.', 'Be kind.'].map((text) => ({ kind: 'text', text }) as const);
    const within = { role: 'system', parts: [{ kind: 'text', text: 'Be quick.' }] } as const;
    const { turns } = callContentOf(HELLO);
    const answered = { role: 'assistant', parts: [{ kind: 'text', text: 'Hi.' }] } as const;
    const { body } = buildUpstreamRequest(
      half,
      callContentOf(HELLO, { lead, turns: [...turns, answered, within, ...turns] }),
    );
    for (const text of ['Be brief.', 'Be kind.', 'Be quick.']) expect(body.toString()).toContain(text);
  },
});

/** By omission or by name. */
const narrowed = (half: UpstreamHalf): Check[] =>
  (['auto', 'required'] as const).map((mode) => ({
    name: `distinguishes allowed tools from others: ${mode}`,
    run() {
      const [free, bound] = [undefined, ['get_time']].map((allowed) =>
        buildUpstreamRequest(half, callContentOf(WITH_TOOLS, { toolChoice: { mode, allowed } })),
      );
      half.vendor.expectRequest(bound!.json);
      expect([bound!.json, bound!.warnings]).not.toEqual([free!.json, free!.warnings]);
    },
  }));

const results = (half: UpstreamHalf): Check[] => [
  arrival(half, 'sends a result with its call ID, and following text (case 66)', ANSWERED_CALL),
  arrival(half, 'sends two results with their call IDs (case 67)', ANSWERED_CALLS),
  {
    name: 'keeps numbers in arguments that are not representable as doubles',
    run() {
      const content = callContentOf({
        ...ANSWERED_CALL,
        turns: ANSWERED_CALL.turns.map((turn) =>
          turn.by === 'assistant' ? { by: 'assistant', calls: [{ ...CALL, arguments: `{"n":${LARGE}}` }] } : turn,
        ),
      });
      expect(buildUpstreamRequest(half, content).body.toString()).toContain(LARGE);
    },
  },
  {
    name: 'sends a failed result',
    run() {
      const parts = [{ kind: 'text', text: 'No such city.' } as const];
      const content = callContentOf(ANSWERED_CALL);
      const failed = content.turns.map(({ role, parts: all }) => ({
        role,
        parts: all.map((part) => (part.kind === 'tool-result' ? { ...part, parts, isError: true } : part)),
      }));
      expect(buildUpstreamRequest(half, { ...content, turns: failed }).body.toString()).toContain('No such city.');
    },
  },
];

const CALL = { id: 'call_9', name: 'get_weather' };

const stops = (half: UpstreamHalf): Check => ({
  name: 'sends as many stop sequences as stated, from the first',
  run() {
    const one = buildUpstreamRequest(half, callContentOf(HELLO, { stop: STOPS.slice(0, 1) }));
    expect([one.stopsSent, one.body.toString().includes(STOPS[0]!)]).toEqual([1, true]);
    const many = buildUpstreamRequest(half, callContentOf(HELLO, { stop: STOPS }));
    const sent = STOPS.map((text) => many.body.toString().includes(text));
    expect(sent).toEqual(STOPS.map((_, index) => index < (many.stopsSent ?? 0)));
  },
});

/** The relay then enforces them. */
const noStops = (half: UpstreamHalf): Check => ({
  name: 'leaves stop sequences to the relay',
  run() {
    expect(buildUpstreamRequest(half, callContentOf(HELLO, { stop: STOPS })).stopsSent ?? 0).toBe(0);
  },
});

const limits = (half: UpstreamHalf): Check[] => [
  {
    name: "lowers a limit to the model's maximum with a warning",
    run() {
      const { json, warnings } = buildUpstreamRequest(half, callContentOf({ ...HELLO, outputLimit: 100_000 }));
      expect([neutralRequestOf(half.vendor, json).outputLimit, warnings]).toEqual([64_000, 'clamped:max_tokens']);
    },
  },
  arrival(half, "the client's limit arrives", { ...HELLO, outputLimit: 321 }),
  {
    name: 'lowers the limit to what is affordable',
    run() {
      expect(receivedRequest(half, HELLO, { outputLimit: 100 })).toMatchObject({ outputLimit: 100 });
    },
  },
  {
    name: 'uses the affordable limit if the client has none',
    run() {
      const { turns } = HELLO;
      expect(receivedRequest(half, { turns }, { outputLimit: 100 })).toMatchObject({ outputLimit: 100 });
    },
  },
];
