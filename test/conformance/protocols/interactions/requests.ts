/** Requests of the Interactions API, read from the steps of their input. */

import type { JsonObject } from '../../../support/scripted-steps.js';

export interface Content {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
  readonly mime_type?: string;
  readonly uri?: string;
}

export interface Step {
  readonly type: string;
  readonly content?: readonly Content[];
  readonly summary?: readonly Content[];
  readonly signature?: string;
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: JsonObject;
  readonly result?: string | readonly Content[];
  readonly is_error?: boolean;
}

export type ToolChoice =
  string | { readonly allowed_tools: { readonly mode: string; readonly tools: readonly string[] } };

export interface Request {
  readonly system_instruction?: string;
  readonly input: readonly Step[];
  readonly tools?: readonly JsonObject[];
  readonly response_format?: { readonly type: string; readonly mime_type: string; readonly schema?: JsonObject };
  readonly generation_config?: { readonly max_output_tokens?: number; readonly tool_choice?: ToolChoice };
}

const CHOICES: Readonly<Record<string, string>> = { auto: 'auto', any: 'required', none: 'none' };

export function readInteractionsRequest(body: JsonObject): object {
  const { system_instruction: system, input, tools, response_format: format, generation_config = {} } = requestIn(body);
  const { max_output_tokens: outputLimit, tool_choice: choice = 'auto' } = generation_config;
  return {
    system,
    turns: turnsOf(input),
    tools: tools?.map(({ name, description, parameters }) => ({ name, description, schema: parameters })),
    toolChoice: tools && (typeof choice === 'string' ? CHOICES[choice] : { name: choice.allowed_tools.tools[0] }),
    schema: format?.schema,
    outputLimit,
  };
}

export const requestIn = (body: JsonObject): Request => body as unknown as Request;

interface AssistantTurn {
  readonly by: 'assistant';
  text?: string | undefined;
  calls?: object[];
}

/** Steps of the model without a user's in between are one turn. Thoughts are not part of it. */
function turnsOf(steps: readonly Step[]): object[] {
  const turns: object[] = [];
  let open: AssistantTurn | undefined;
  for (const step of steps) {
    if (step.type === 'thought') continue;
    if (step.type === 'user_input' || step.type === 'function_result') {
      open = undefined;
      turns.push(step.type === 'user_input' ? userTurn(step) : resultTurn(step));
      continue;
    }
    if (open === undefined) turns.push((open = { by: 'assistant' }));
    if (step.type === 'model_output') open.text = (open.text ?? '') + textIn(step.content);
    else (open.calls ??= []).push({ id: step.id, name: step.name, arguments: JSON.stringify(step.arguments) });
  }
  return turns;
}

const userTurn = ({ content }: Step): object => ({
  by: 'user',
  text: textIn(content) || undefined,
  image: imageIn(content),
});

const resultTurn = ({ call_id, result }: Step): object =>
  typeof result === 'string'
    ? { by: 'tool', id: call_id, text: result }
    : { by: 'tool', id: call_id, text: textIn(result), image: imageIn(result) };

const textIn = (content: readonly Content[] = []): string => content.map(({ text = '' }) => text).join('');

const imageIn = (content: readonly Content[] = []): string | undefined =>
  content.find(({ type }) => type === 'image')?.data;
