/** Good requests with something odd in any place of theirs, or damaged, as bytes. */

import fc from 'fast-check';
import { aRequest } from '../protocols.js';
import { PIXEL } from '../pairs-relay.js';
import type { ProtocolEndpoint, JsonObject } from '../scripted-upstream.js';
import { oddJson } from './odd-values.js';

const IMAGE = `data:image/png;base64,${PIXEL}`;
const SCHEMA = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

/** As much as possible of what a protocol interprets. */
const RICH: Readonly<Record<ProtocolEndpoint, JsonObject>> = {
  'chat-completions': {
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        name: 'ann',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image_url', image_url: { url: IMAGE, detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'weather', arguments: '{"city":"Oslo"}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      { role: 'user', content: 'And now?' },
    ],
    tools: [{ type: 'function', function: { name: 'weather', description: 'x', parameters: SCHEMA, strict: true } }],
    tool_choice: { type: 'function', function: { name: 'weather' } },
    parallel_tool_calls: false,
    response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA, strict: true } },
    max_completion_tokens: 100,
    n: 1,
    stop: ['END'],
    temperature: 0.5,
    top_p: 0.9,
    seed: 7,
    reasoning_effort: 'low',
    verbosity: 'low',
    service_tier: 'auto',
    user: 'ann',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    logprobs: false,
    store: false,
    modalities: ['text'],
    stream_options: { include_usage: true },
  },
  messages: {
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Hi' },
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'x' }, title: 't' },
        ],
      },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 't', signature: 's' },
          { type: 'tool_use', id: 'toolu_1', name: 'weather', input: { city: 'Oslo' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'text', text: 'Rain' }], is_error: false },
        ],
      },
    ],
    tools: [{ name: 'weather', description: 'x', input_schema: SCHEMA, strict: true }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    output_config: { effort: 'low', format: { type: 'json_schema', schema: SCHEMA } },
    thinking: { type: 'enabled', budget_tokens: 1024 },
    stop_sequences: ['END'],
    temperature: 1,
    top_k: 5,
    service_tier: 'auto',
    metadata: { user_id: 'ann' },
    max_tokens: 2000,
  },
  responses: {
    instructions: 'Be brief.',
    input: [
      {
        role: 'user',
        content: [
          { type: 'input_text', text: 'Hi' },
          { type: 'input_image', image_url: IMAGE, detail: 'low' },
        ],
      },
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 't' }], encrypted_content: 'x' },
      { type: 'function_call', call_id: 'call_1', name: 'weather', arguments: '{"city":"Oslo"}' },
      { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_text', text: 'Rain' }] },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Rain', annotations: [] }] },
      { role: 'user', content: 'And now?' },
    ],
    tools: [{ type: 'function', name: 'weather', description: 'x', parameters: SCHEMA, strict: true }],
    tool_choice: { type: 'function', name: 'weather' },
    parallel_tool_calls: false,
    text: { format: { type: 'json_schema', name: 'answer', schema: SCHEMA, strict: true }, verbosity: 'low' },
    max_output_tokens: 100,
    reasoning: { effort: 'low', summary: 'auto' },
    include: ['reasoning.encrypted_content'],
    temperature: 0.5,
    top_p: 0.9,
    service_tier: 'auto',
    user: 'ann',
    metadata: { a: 'b' },
    prompt_cache_key: 'k',
    safety_identifier: 's',
    store: false,
    truncation: 'disabled',
    background: false,
    previous_response_id: null,
    top_logprobs: 0,
  },
};

const namesIn = (value: unknown): string[] => {
  if (Array.isArray(value)) return value.flatMap(namesIn);
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [name, ...namesIn(member)]);
};

/** The name of every member that a protocol interprets, wherever it stands. */
export const MEMBERS: Readonly<Record<ProtocolEndpoint, readonly string[]>> = {
  'chat-completions': namesIn({ model: '', ...RICH['chat-completions'] }),
  messages: namesIn({ model: '', ...RICH.messages }),
  responses: namesIn({ model: '', ...RICH.responses }),
};

type Path = readonly (string | number)[];

/** Every place in a request. */
function placesIn(value: unknown, path: Path = []): Path[] {
  const inside = Array.isArray(value)
    ? value.flatMap((item, index) => placesIn(item, [...path, index]))
    : typeof value === 'object' && value !== null
      ? Object.entries(value).flatMap(([name, item]) => placesIn(item, [...path, name]))
      : [];
  return path.length === 0 ? inside : [path, ...inside];
}

const EDITS = ['replaced', 'doubled', 'removed', 'listed', 'renamed', 'added'] as const;
type Edit = (typeof EDITS)[number];

/** Writes JSON with an edit at one place. */
function write(value: unknown, path: Path, edit: Edit, odd: string): string {
  const [here, ...further] = path;
  if (here === undefined) return edit === 'listed' ? `[${JSON.stringify(value)}]` : odd;
  const isLast = further.length === 0;
  const inner = (member: unknown, name: string | number): string =>
    name === here ? write(member, further, edit, odd) : JSON.stringify(member);
  if (Array.isArray(value)) {
    const items = value.flatMap((item, index) => {
      if (!isLast || index !== here) return [inner(item, index)];
      if (edit === 'removed') return [];
      return edit === 'replaced' || edit === 'listed' ? [inner(item, index)] : [JSON.stringify(item), odd];
    });
    return `[${items.join()}]`;
  }
  const members = Object.entries(value as object).flatMap(([name, member]: [string, unknown]) => {
    const quoted = JSON.stringify(name);
    if (!isLast || name !== here) return [`${quoted}:${inner(member, name)}`];
    const good = `${quoted}:${JSON.stringify(member)}`;
    if (edit === 'removed') return [];
    if (edit === 'doubled') return [good, `${quoted}:${odd}`];
    if (edit === 'renamed') return [`${JSON.stringify(name.toUpperCase())}:${JSON.stringify(member)}`];
    return edit === 'added' ? [good, `"${name}_of_nobody":${odd}`] : [`${quoted}:${inner(member, name)}`];
  });
  return `{${members.join()}}`;
}

/** @param more what stands in every request of the target, its model foremost */
export function spoiledBodies(protocol: ProtocolEndpoint, more: JsonObject): fc.Arbitrary<Buffer> {
  const spoiled = fc.oneof(
    spoil({ ...aRequest(protocol), ...more, stream: false }),
    spoil({ ...RICH[protocol], ...more, stream: false }),
    spoil({ ...RICH[protocol], ...more, stream: true }),
  );
  const damaged = fc.tuple(spoiled, fc.nat(), fc.uint8Array({ maxLength: 4 })).map(([body, at, damage]) => {
    const place = at % Math.max(1, body.length);
    return Buffer.concat([body.subarray(0, place), damage, body.subarray(place + damage.length)]);
  });
  return fc.oneof(
    { weight: 8, arbitrary: spoiled },
    { weight: 2, arbitrary: damaged },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 200 }).map((raw) => Buffer.from(raw)) },
  );
}

function spoil(good: JsonObject): fc.Arbitrary<Buffer> {
  const places = placesIn(good);
  return fc
    .tuple(fc.constantFrom(...places), fc.constantFrom(...EDITS, 'replaced' as const, 'replaced' as const), oddJson)
    .map(([path, edit, odd]) => Buffer.from(write(good, path, edit, odd)));
}
