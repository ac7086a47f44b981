/** Scripted responses of a Messages upstream. */

import { type ResponseOptions, fillContent, type ScriptedContent } from '../../../support/scripted-content.js';
import type { JsonObject, ScriptedEvent } from '../../../support/scripted-steps.js';

const STOP_REASONS = { end: 'end_turn', length: 'max_tokens', tools: 'tool_use', filter: 'refusal' } as const;

/** Signature of every scripted thinking block. */
export const THINKING_SIGNATURE = 'c2lnbmVkIGJ5IHRoZSBzY3JpcHQ=';

/** A block at its start, its deltas, and unstreamed. */
interface Block {
  readonly opened: JsonObject;
  readonly deltas: readonly JsonObject[];
  readonly whole: JsonObject;
}

/** A stream. */
export function messagesEvents(options: ResponseOptions = {}): ScriptedEvent[] {
  const content = fillContent(options);
  return [
    { type: 'message_start', message: { ...message(content, []), usage: usage(content, 1) } },
    { type: 'ping' },
    ...blocks(content).flatMap(blockEvents),
    {
      type: 'message_delta',
      delta: { stop_reason: STOP_REASONS[content.stop], stop_sequence: null },
      usage: usage(content, content.usage.completion),
    },
    { type: 'message_stop' },
  ].map((data) => ({ event: data.type, data }));
}

export function messagesBody(options: ResponseOptions = {}): JsonObject {
  const content = fillContent(options);
  return {
    ...message(
      content,
      blocks(content).map((block) => block.whole),
    ),
    stop_reason: STOP_REASONS[content.stop],
    container: null,
    usage: usage(content, content.usage.completion),
  };
}

function blockEvents({ opened, deltas }: Block, index: number): (JsonObject & { readonly type: string })[] {
  return [
    { type: 'content_block_start', index, content_block: opened },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

function blocks(content: ScriptedContent): Block[] {
  return [
    ...(content.reasoning.length > 0 ? [thinkingBlock(content.reasoning)] : []),
    ...(content.text.length > 0 ? [textBlock(content.text)] : []),
    ...content.toolCalls.map(toolBlock),
  ];
}

function thinkingBlock(pieces: readonly string[]): Block {
  return {
    opened: { type: 'thinking', thinking: '', signature: '' },
    deltas: [
      ...pieces.map((thinking) => ({ type: 'thinking_delta', thinking })),
      { type: 'signature_delta', signature: THINKING_SIGNATURE },
    ],
    whole: { type: 'thinking', thinking: pieces.join(''), signature: THINKING_SIGNATURE },
  };
}

function textBlock(pieces: readonly string[]): Block {
  return {
    opened: { type: 'text', text: '' },
    deltas: pieces.map((text) => ({ type: 'text_delta', text })),
    whole: { type: 'text', text: pieces.join(''), citations: null },
  };
}

function toolBlock({ id, name, arguments: fragments }: ScriptedContent['toolCalls'][number]): Block {
  const json = fragments.join('');
  return {
    opened: { type: 'tool_use', id, name, input: {} },
    // A call without arguments has no deltas.
    deltas: json === '{}' ? [] : fragments.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
    // In streams, a limit may truncate the arguments.
    get whole() {
      return { type: 'tool_use', id, name, input: JSON.parse(json) as JsonObject };
    },
  };
}

function message(content: ScriptedContent, parts: readonly JsonObject[]): JsonObject {
  return {
    id: content.id ?? 'msg_1',
    type: 'message',
    role: 'assistant',
    model: content.model,
    content: parts,
    stop_reason: null,
    stop_sequence: null,
    stop_details: null,
  };
}

/** `input_tokens` excludes cached tokens. */
function usage({ usage: counts }: ScriptedContent, outputTokens: number): JsonObject {
  return {
    input_tokens: counts.prompt - counts.cacheRead - counts.cacheWrite,
    cache_creation_input_tokens: counts.cacheWrite,
    cache_read_input_tokens: counts.cacheRead,
    output_tokens: outputTokens,
    ...(counts.reasoning > 0 ? { output_tokens_details: { thinking_tokens: counts.reasoning } } : {}),
  };
}
