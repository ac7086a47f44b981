import { streamIn } from './scripted-bodies.js';
import {
  type ProtocolEndpoint,
  type JsonObject,
  jsonAnswer,
  messagesBody,
  messagesEvents,
  responsesBody,
  responsesEvents,
  type Script,
  type ScriptedEvent,
  sse,
  streamHead,
} from './scripted-upstream.js';

const IN_AN_HOUR = new Date(Date.now() + 3_600_000).toISOString();
export const CODE_EXECUTION = { tools: [{ type: 'code_execution_20250825', name: 'code_execution' }] };
export const CODE_INTERPRETER = { tools: [{ type: 'code_interpreter', container: { type: 'auto' } }] };
const SHELL = { tools: [{ type: 'shell', environment: { type: 'container_auto' } }] };

/** `bash_code_execution_tool_result` of @anthropic-ai/sdk 1.12.0. */
export const outputs = (fileId: string): JsonObject => ({
  type: 'bash_code_execution_tool_result',
  tool_use_id: 'srvtoolu_1',
  content: {
    type: 'bash_code_execution_result',
    stdout: '',
    stderr: '',
    return_code: 0,
    content: [{ type: 'bash_code_execution_output', file_id: fileId }],
  },
});

/** `container_file_citation` of openai 7.57.0. */
const citing = (containerId: string, fileId: string): JsonObject => ({
  type: 'message',
  id: 'msg_citing',
  role: 'assistant',
  status: 'completed',
  content: [
    {
      type: 'output_text',
      text: 'Done.',
      annotations: [
        {
          type: 'container_file_citation',
          container_id: containerId,
          file_id: fileId,
          filename: 'a.csv',
          start_index: 0,
          end_index: 4,
        },
      ],
    },
  ],
});

/** A message with a container and a block of its content, whole or streamed. */
export function messageWith(container: JsonObject | null, ...blocks: readonly JsonObject[]): Script {
  const whole = messagesBody();
  const events = messagesEvents() as unknown as { event: string; data: JsonObject }[];
  const streamed = events.flatMap(({ event, data }): ScriptedEvent[] => {
    if (event === 'message_start') {
      const started = { event, data };
      const shown = blocks.flatMap((block, index): ScriptedEvent[] => [
        {
          event: 'content_block_start',
          data: { type: 'content_block_start', index: 50 + index, content_block: block },
        },
        { event: 'content_block_stop', data: { type: 'content_block_stop', index: 50 + index } },
      ]);
      return [started, ...shown];
    }
    const { delta } = data as { delta?: JsonObject };
    return [event === 'message_delta' ? { event, data: { ...data, delta: { ...delta, container } } } : { event, data }];
  });
  return (request) =>
    streamIn(request)
      ? [streamHead(), sse(streamed)]
      : jsonAnswer(200, { ...whole, container, content: [...blocks, ...(whole['content'] as JsonObject[])] });
}

/** A response with these items before its own, whole or streamed. */
export function responseWith(items: readonly JsonObject[], more: JsonObject = {}): Script {
  const whole = responsesBody();
  const output = [...items, ...(whole['output'] as JsonObject[])];
  const events = responsesEvents() as unknown as { event: string; data: JsonObject }[];
  const streamed = events.flatMap(({ event, data }): ScriptedEvent[] => {
    if (event !== 'response.completed') return [{ event, data }];
    const done = items.map((item, index) => ({
      event: 'response.output_item.done',
      data: { type: 'response.output_item.done', output_index: 50 + index, item },
    }));
    const response = { ...(data['response'] as JsonObject), ...more };
    return [...done, { event, data: { ...data, response } }];
  });
  return (request) =>
    streamIn(request) ? [streamHead(), sse(streamed)] : jsonAnswer(200, { ...whole, ...more, output });
}

/** State that an upstream creates: the request, the response, and a request that names the state. */
export interface StateCase {
  readonly name: string;
  readonly protocol: ProtocolEndpoint;
  /** The request that has the state created, and its response. */
  readonly creating: JsonObject;
  readonly created: Script;
  /** A request that names it. */
  readonly naming: JsonObject;
  /** As the vendor's error names it. */
  readonly param?: string;
}

export const withContent = (content: readonly JsonObject[], role = 'user'): JsonObject => ({
  messages: [{ role, content }],
});

export const STATE_CASES: readonly StateCase[] = [
  {
    name: 'a container',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith({ id: 'container_1', expires_at: IN_AN_HOUR, skills: null }),
    naming: { container: 'container_1' },
  },
  {
    name: 'a file that code wrote',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith(null, outputs('file_1')),
    naming: withContent([{ type: 'container_upload', file_id: 'file_1' }]),
  },
  {
    name: 'a conversation with the result of code',
    protocol: 'messages',
    creating: CODE_EXECUTION,
    created: messageWith(null, outputs('file_2')),
    naming: withContent([outputs('file_2')], 'assistant'),
  },
  {
    name: 'a message of a thread',
    protocol: 'messages',
    creating: { thread: { type: 'create' } },
    created: messageWith(null),
    naming: { thread: { type: 'continue', previous_message_id: messagesBody()['id'] } },
  },
  {
    name: 'a container of the code interpreter',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([{ type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', status: 'completed' }]),
    naming: { tools: [{ type: 'code_interpreter', container: 'cntr_1' }] },
    param: 'tools[0]',
  },
  {
    name: 'a container of the shell',
    protocol: 'responses',
    creating: SHELL,
    created: responseWith([
      {
        type: 'shell_call',
        id: 'sh_1',
        call_id: 'c_1',
        environment: { type: 'container_reference', container_id: 'cntr_2' },
      },
    ]),
    naming: { tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: 'cntr_2' } }] },
    param: 'tools[0]',
  },
  {
    name: 'a file that is cited',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([citing('cntr_3', 'cfile_3')]),
    naming: { input: [{ role: 'user', content: [{ type: 'input_file', file_id: 'cfile_3' }] }] },
    param: 'file_id',
  },
  {
    name: 'a conversation with a citation',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([citing('cntr_4', 'cfile_4')]),
    naming: {
      input: [
        { ...citing('cntr_4', 'cfile_4'), id: undefined },
        { role: 'user', content: 'Go on.' },
      ],
    },
    param: 'container_id',
  },
  {
    name: 'a conversation',
    protocol: 'responses',
    creating: CODE_INTERPRETER,
    created: responseWith([], { conversation: { id: 'conv_1' } }),
    naming: { conversation: 'conv_1' },
    param: 'conversation',
  },
];
