// The work in Anthropic's Messages.
import { type Behaviour, modelFor } from './behaviours.ts';
import { type ProtocolEndpoint, prose } from './protocol.ts';

const MESSAGE = { id: 'msg_bench', type: 'message', role: 'assistant', model: 'bench' };

interface StreamEvent {
  readonly type: string;
  readonly [field: string]: unknown;
}

const named = (event: StreamEvent): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
const series = (...events: readonly StreamEvent[]): string => events.map(named).join('');

export const messages: ProtocolEndpoint = {
  id: 'messages',
  path: '/messages',
  headers: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),
  request(behaviour: Behaviour, promptBytes: number): Buffer {
    const streamed = behaviour === 'answer' ? {} : { stream: true };
    const prompt = [{ role: 'user', content: prose(promptBytes) }];
    return Buffer.from(JSON.stringify({ model: modelFor(behaviour), max_tokens: 4096, ...streamed, messages: prompt }));
  },
  answer: Buffer.from(
    JSON.stringify({
      ...MESSAGE,
      content: [{ type: 'text', text: prose(700) }],
      stop_reason: 'end_turn',
      stop_sequence: null,
      usage: { input_tokens: 230, output_tokens: 200 },
    }),
  ),
  opening: series(
    {
      type: 'message_start',
      message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 230, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  ),
  event: (index, text = '') =>
    series({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: ` w${index} ${text}` } }),
  closing: () =>
    series(
      { type: 'content_block_stop', index: 0 },
      {
        type: 'message_delta',
        delta: { stop_reason: 'end_turn', stop_sequence: null },
        usage: { output_tokens: 200 },
      },
      { type: 'message_stop' },
    ),
  numberMark: '"text":" w',
  lastWord: '"message_stop"',
};
