/** Tools without a name or form in the upstream's protocol, and their calls. */

import type { CallResult, Tool } from '../../../src/protocols/contract/index.js';
import { neutralRequestOf } from '../../support/neutral-request.js';
import { encodeEvents } from '../../support/scripted-steps.js';
import { resultOf } from '../../support/translations.js';
import type { Check } from '../abilities.js';
import { callContentOf } from '../call-content.js';
import { HELLO, TOOLS } from '../examples.js';
import type { UpstreamHalf } from './half.js';
import { neutralResponseOf, readChunks, streamOf, DELIVERIES } from './stream-reader.js';
import { buildUpstreamRequest, targetOf } from './upstream-request.js';

/** No vendor accepts the name unchanged. */
const ODD: Tool = { name: 'a.name with spaces', schema: undefined, path: 'tools[0]' };
const FREEFORM: Tool = { name: 'exec', schema: undefined, freeform: {}, path: 'tools[0]' };
const CODE = 'print("☃")\n';

export const calling = (half: UpstreamHalf): Check[] => [
  ...Object.entries(DELIVERIES).map(([way, hear]) => ({
    name: `restores the name of a tool that the vendor does not accept: ${way}`,
    run() {
      const content = callContentOf(HELLO, { tools: [ODD] });
      const { json } = buildUpstreamRequest(half, content);
      half.vendor.expectRequest(json);
      const name = neutralRequestOf(half.vendor, json).tools![0]!.name;
      const { calls } = neutralResponseOf(
        hear(half, { toolCalls: [{ id: 'call_9', name, arguments: '{"n":1}' }] }, content),
      );
      expect(calls).toEqual(['call_9 a.name with spaces {"n":1}']);
    },
  })),
  freeform(half),
  ...largeNumbers(half),
];

/** Vendors without such tools get the text wrapped in JSON. */
const freeform = (half: UpstreamHalf): Check => ({
  name: 'decodes a freeform call as its text',
  run() {
    const said = { kind: 'tool-call', id: 'call_9', name: 'exec', arguments: CODE, isFreeform: true } as const;
    const result = { kind: 'tool-result', id: 'call_9', isFreeform: true, isError: false, parts: [] } as const;
    const { turns } = callContentOf(HELLO);
    const content = callContentOf(HELLO, {
      tools: [FREEFORM],
      turns: [...turns, { role: 'assistant', parts: [said] }, { role: 'user', parts: [result] }],
    });
    const { json, body } = buildUpstreamRequest(half, content);
    const [call] = neutralRequestOf(half.vendor, json).turns.flatMap((turn) =>
      turn.by === 'assistant' ? (turn.calls ?? []) : [],
    );
    // Calls of the vendor's own freeform tools stay unchanged; the double makes none.
    if (call === undefined || call.arguments === CODE) {
      expect(body.toString()).toContain(JSON.stringify(CODE));
      return;
    }
    for (const hear of Object.values(DELIVERIES)) {
      const { parts } = hear(half, { toolCalls: [call] }, content);
      expect(parts.filter(({ kind }) => kind === 'tool-call')).toEqual([expect.objectContaining(said)]);
    }
  },
});

/** Written by the double, which parses numbers. */
const SMALL = '424242';
/** Not representable as a double. */
const LARGE = '9007199254740993';

const largeNumbers = (half: UpstreamHalf): Check[] => {
  const content = callContentOf(HELLO, { tools: callContentOf({ ...HELLO, tools: TOOLS }).tools });
  const response = { toolCalls: [{ id: 'call_9', name: 'get_weather', arguments: `{"n":${SMALL}}` }] };
  const enlarged = (text: string): string => text.replace(SMALL, LARGE);
  const received: Readonly<Record<string, () => CallResult>> = {
    streamed: () => {
      const stream = encodeEvents(streamOf(half, response, content)).toString();
      return resultOf(readChunks(half, [Buffer.from(enlarged(stream))], content));
    },
    whole: () => {
      const body = enlarged(JSON.stringify(half.vendor.body(response)));
      return half.upstream.decodeResponse(body, content, targetOf(half, { stream: false }));
    },
  };
  return Object.entries(received).map(([way, hear]) => ({
    name: `decodes numbers in arguments that are not representable as doubles: ${way}`,
    run() {
      expect(neutralResponseOf(hear()).calls).toEqual([`call_9 get_weather {"n":${LARGE}}`]);
    },
  }));
};
