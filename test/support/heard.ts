/** What a client makes of an answer, in no dialect. A stream that breaks the grammar of its dialect is not heard at all. */

import { expectChatStream } from './chat-grammar.js';
import { expectMessagesStream } from './messages-grammar.js';
import { expectResponse, expectResponsesStream } from './responses-grammar.js';
import type { Dialect, JsonObject, ScriptedStop, ScriptedUsage } from './scripted-upstream.js';
import { readEvents, withoutKeepAlives } from './stream-text.js';

export interface Heard {
  readonly text: string;
  readonly reasoning: string;
  readonly refusal: string;
  /** Id, name and arguments. */
  readonly calls: readonly string[];
  readonly stop: ScriptedStop | 'refusal';
  readonly usage: Omit<ScriptedUsage, 'cacheWrite'>;
}

/** Of a whole answer. */
export function heardIn(dialect: Dialect, body: JsonObject): Heard {
  switch (dialect) {
    case 'responses':
      expectResponse(body);
      return heardResponse(body);
    case 'chat-completions':
      return heardCompletion(body);
    case 'messages':
      return heardMessage(body);
  }
}

/** Of a stream that came to its end. For Chat Completions, one whose client has asked for usage. */
export function heardStreamed(dialect: Dialect, stream: string): Heard {
  const events = readEvents(withoutKeepAlives(stream));
  if (dialect === 'responses') expectResponsesStream(events);
  else if (dialect === 'messages') expectMessagesStream(events);
  else expectChatStream(events, true);
  return heardIn(dialect, foldedStream(dialect, stream));
}

/** The whole answer that a stream is made of. */
export function foldedStream(dialect: Dialect, stream: string): JsonObject {
  const events = readEvents(withoutKeepAlives(stream)).filter(({ data }) => data !== '[DONE]');
  const data = events.map((event) => JSON.parse(event.data) as JsonObject);
  if (dialect === 'responses') return data.at(-1)!['response'] as JsonObject;
  return dialect === 'messages' ? messageOf(data) : completionOf(data);
}

const joined = (texts: readonly unknown[]): string => texts.filter((text) => typeof text === 'string').join('');

function heardResponse(response: JsonObject): Heard {
  const items = response['output'] as JsonObject[];
  const contents = items.flatMap((item) => (item['content'] as JsonObject[] | undefined) ?? []);
  const calls = items.filter(({ type }) => type === 'function_call');
  const refusal = joined(contents.map((part) => part['refusal']));
  const reason = (response['incomplete_details'] as { reason: string } | null)?.reason;
  const usage = response['usage'] as Record<string, number> & Record<string, Record<string, number>>;
  return {
    text: joined(contents.map(({ text }) => text)),
    reasoning: joined(
      items.flatMap((item) => (item['summary'] as JsonObject[] | undefined) ?? []).map(({ text }) => text),
    ),
    refusal,
    calls: calls.map((item) => `${item['call_id']} ${item['name']} ${item['arguments']}`),
    stop: reason
      ? reason === 'content_filter'
        ? 'filter'
        : 'length'
      : calls.length
        ? 'tools'
        : refusal
          ? 'refusal'
          : 'end',
    usage: {
      prompt: usage['input_tokens']!,
      cacheRead: usage['input_tokens_details']!['cached_tokens']!,
      completion: usage['output_tokens']!,
      reasoning: usage['output_tokens_details']!['reasoning_tokens']!,
    },
  };
}

const FINISHES: Readonly<Record<string, ScriptedStop>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'tools',
  content_filter: 'filter',
};

interface ChatCall {
  id: string;
  function: { name: string; arguments: string };
}

function heardCompletion({ choices, usage }: JsonObject): Heard {
  const [choice] = choices as { message: JsonObject; finish_reason: string }[];
  const { message, finish_reason } = choice!;
  const counts = usage as Record<string, number> & Record<string, Record<string, number>>;
  const refusal = joined([message['refusal']]);
  const calls = (message['tool_calls'] as ChatCall[] | undefined) ?? [];
  return {
    text: joined([message['content']]),
    reasoning: joined([message['reasoning_content']]),
    refusal,
    calls: calls.map(({ id, function: called }) => `${id} ${called.name} ${called.arguments}`),
    stop: refusal === '' ? FINISHES[finish_reason]! : 'refusal',
    usage: {
      prompt: counts['prompt_tokens']!,
      cacheRead: counts['prompt_tokens_details']?.['cached_tokens'] ?? 0,
      completion: counts['completion_tokens']!,
      reasoning: counts['completion_tokens_details']?.['reasoning_tokens'] ?? 0,
    },
  };
}

/** The completion that the chunks of a stream are pieces of. */
function completionOf(chunks: readonly JsonObject[]): JsonObject {
  const choices = chunks.flatMap((chunk) => chunk['choices'] as { delta: JsonObject; finish_reason: string | null }[]);
  const sum = (member: string): string => joined(choices.map(({ delta }) => delta[member]));
  const calls: ChatCall[] = [];
  for (const { delta } of choices) {
    for (const { index, id, function: piece } of (delta['tool_calls'] ?? []) as (Partial<ChatCall> & {
      index: number;
    })[]) {
      const call = (calls[index] ??= { id: id!, function: { name: piece!.name, arguments: '' } });
      call.function.arguments += piece!.arguments;
    }
  }
  const message = {
    content: sum('content'),
    reasoning_content: sum('reasoning_content'),
    refusal: sum('refusal'),
    tool_calls: calls,
  };
  const finish_reason = choices.find((choice) => choice.finish_reason !== null)!.finish_reason;
  return { choices: [{ message, finish_reason }], usage: chunks.at(-1)!['usage'] };
}

const STOPS: Readonly<Record<string, Heard['stop']>> = {
  end_turn: 'end',
  max_tokens: 'length',
  tool_use: 'tools',
  refusal: 'filter',
};

function heardMessage(message: JsonObject): Heard {
  const blocks = message['content'] as JsonObject[];
  const usage = message['usage'] as Record<string, number> & Record<string, Record<string, number>>;
  const calls = blocks.filter(({ type }) => type === 'tool_use');
  return {
    text: joined(blocks.map(({ text }) => text)),
    reasoning: joined(blocks.map(({ thinking }) => thinking)),
    refusal: '',
    calls: calls.map(({ id, name, input }) => `${id} ${name} ${JSON.stringify(input)}`),
    stop: STOPS[message['stop_reason'] as string]!,
    usage: {
      prompt:
        usage['input_tokens']! + (usage['cache_read_input_tokens'] ?? 0) + (usage['cache_creation_input_tokens'] ?? 0),
      cacheRead: usage['cache_read_input_tokens'] ?? 0,
      completion: usage['output_tokens']!,
      reasoning: usage['output_tokens_details']?.['thinking_tokens'] ?? 0,
    },
  };
}

/** The message that the events of a stream make up. */
function messageOf(events: readonly JsonObject[]): JsonObject {
  const blocks: { readonly type: unknown; readonly start: JsonObject; readonly pieces: Record<string, string> }[] = [];
  for (const event of events) {
    const start = event['content_block'] as JsonObject | undefined;
    if (start) blocks.push({ type: start['type'], start, pieces: {} });
    if (event['type'] !== 'content_block_delta') continue;
    const { type: _, ...delta } = event['delta'] as Record<string, string>;
    const { pieces } = blocks.at(-1)!;
    for (const [name, piece] of Object.entries(delta)) pieces[name] = (pieces[name] ?? '') + piece;
  }
  const content = blocks.map(({ type, start, pieces: { partial_json = '{}', ...texts } }) =>
    type === 'tool_use' ? { ...start, input: JSON.parse(partial_json) as JsonObject } : { ...start, ...texts },
  );
  const { delta, usage } = events.at(-2) as { delta: JsonObject; usage: JsonObject };
  const begun = (events[0]!['message'] as JsonObject)['usage'] as JsonObject;
  return { ...delta, content, usage: { ...begun, ...usage } };
}
