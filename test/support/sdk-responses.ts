/** What the official SDKs make of a response, in one form. */

import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

/** What a client made of a response, whichever client it was. */
export interface SdkResponse {
  readonly text: string;
  /** `name {"arguments":1}` */
  readonly calls: readonly string[];
  /** Of the prompt and of the response. */
  readonly tokens: readonly number[];
}

export function readChatCompletion({ choices, usage }: OpenAI.ChatCompletion): SdkResponse {
  const { message } = choices[0]!;
  const calls = (message.tool_calls ?? []).map((call) =>
    call.type === 'function' ? `${call.function.name} ${call.function.arguments}` : call.type,
  );
  return { text: message.content ?? '', calls, tokens: [usage!.prompt_tokens, usage!.completion_tokens] };
}

export function readResponseObject({ output, output_text, usage }: OpenAI.Responses.Response): SdkResponse {
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [`${item.name} ${item.arguments}`] : []));
  return { text: output_text, calls, tokens: [usage!.input_tokens, usage!.output_tokens] };
}

export function readMessage({ content, usage }: Anthropic.Message): SdkResponse {
  return {
    text: content.flatMap((block) => (block.type === 'text' ? [block.text] : [])).join(''),
    calls: content.flatMap((block) =>
      block.type === 'tool_use' ? [`${block.name} ${JSON.stringify(block.input)}`] : [],
    ),
    tokens: [promptOf(usage), usage.output_tokens],
  };
}

/** Prompt tokens, those that went through a cache included. */
export const promptOf = (usage: Anthropic.Usage): number =>
  usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0);
