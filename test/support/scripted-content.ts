/** What a ready-made response says, in no protocol. The vendors of `test/conformance/protocols` write it down. */

import { bytes, end, head, type Headers, type JsonObject, type Script } from './scripted-steps.js';

export interface ScriptedToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON text, or the fragments in which it is streamed. */
  readonly arguments: string | readonly string[];
}

export interface ScriptedUsage {
  /** All input, cached and cache-writing included. */
  readonly prompt: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  /** All output, reasoning included. */
  readonly completion: number;
  readonly reasoning: number;
}

export type ScriptedStop = 'end' | 'length' | 'tools' | 'filter';

export interface ResponseOptions {
  /** Left out: as the request asks. */
  readonly stream?: boolean;
  /** Left out: the name in the request, or `m`. */
  readonly model?: string;
  readonly id?: string;
  /** Epoch seconds; 1 unless given. */
  readonly created?: number;
  /** A text or the pieces in which it is streamed. `['Hel', 'lo']` unless given; nothing if there are tool calls. */
  readonly text?: string | readonly string[];
  readonly reasoning?: string | readonly string[];
  readonly toolCalls?: readonly ScriptedToolCall[];
  /** 9 prompt and 2 completion tokens unless given. */
  readonly usage?: Partial<ScriptedUsage>;
  /** `tools` if there are tool calls, else `end`, unless given. */
  readonly stop?: ScriptedStop;
  readonly headers?: Headers;
}

/** The options with everything filled in. Empty lists mean that the part does not occur. */
export interface ScriptedContent {
  readonly id: string | undefined;
  readonly model: string;
  readonly created: number;
  readonly text: readonly string[];
  readonly reasoning: readonly string[];
  readonly toolCalls: readonly { readonly id: string; readonly name: string; readonly arguments: readonly string[] }[];
  readonly usage: ScriptedUsage;
  readonly stop: ScriptedStop;
}

export const WEATHER_CALL: ScriptedToolCall = {
  id: 'call_9',
  name: 'get_weather',
  arguments: ['{"city":', '"Oslo"}'],
};

/** A call without arguments. */
export const TIME_CALL: ScriptedToolCall = { id: 'call_10', name: 'get_time', arguments: '{}' };

/** What the model thinks where a test asks for its reasoning back. */
export const THOUGHT = 'Oslo it is.';

export function fillContent(options: ResponseOptions): ScriptedContent {
  const toolCalls = options.toolCalls ?? [];
  return {
    id: options.id,
    model: options.model ?? 'm',
    created: options.created ?? 1,
    text: pieces(options.text ?? (toolCalls.length > 0 ? [] : ['Hel', 'lo'])),
    reasoning: pieces(options.reasoning ?? []),
    toolCalls: toolCalls.map((call) => ({ ...call, arguments: pieces(call.arguments) })),
    usage: { prompt: 9, cacheRead: 0, cacheWrite: 0, completion: 2, reasoning: 0, ...options.usage },
    stop: options.stop ?? (toolCalls.length > 0 ? 'tools' : 'end'),
  };
}

/** A whole JSON response. */
export function jsonResponse(status: number, body: JsonObject, headers: Headers = {}): Script {
  const content = Buffer.from(JSON.stringify(body));
  return [
    head(status, { 'content-type': 'application/json', 'content-length': content.length, ...headers }),
    bytes(content),
    end(),
  ];
}

function pieces(value: string | readonly string[]): readonly string[] {
  if (typeof value !== 'string') return value;
  return value === '' ? [] : [value];
}
