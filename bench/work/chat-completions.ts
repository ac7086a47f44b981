// The work in OpenAI's Chat Completions.
import { type Behaviour, modelFor } from './behaviours.ts';
import { type ProtocolEndpoint, prose } from './protocol.ts';

const USAGE = { prompt_tokens: 230, completion_tokens: 200, total_tokens: 430 };
const CHUNK = { id: 'chatcmpl-bench', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'bench' };

const data = (value: object): string => `data: ${JSON.stringify(value)}\n\n`;
const chunk = (delta: object, finish_reason: string | null = null): string =>
  data({ ...CHUNK, choices: [{ index: 0, delta, finish_reason }] });

export const chatCompletions: ProtocolEndpoint = {
  id: 'chat-completions',
  path: '/chat/completions',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  request(behaviour: Behaviour, promptBytes: number): Buffer {
    const messages = [{ role: 'user', content: prose(promptBytes) }];
    const streamed = behaviour === 'answer' ? {} : { stream: true, stream_options: { include_usage: true } };
    return Buffer.from(JSON.stringify({ model: modelFor(behaviour), ...streamed, messages }));
  },
  answer: Buffer.from(
    JSON.stringify({
      ...CHUNK,
      object: 'chat.completion',
      choices: [{ index: 0, message: { role: 'assistant', content: prose(700) }, finish_reason: 'stop' }],
      usage: USAGE,
    }),
  ),
  opening: chunk({ role: 'assistant', content: '' }),
  event: (index, text = '') => chunk({ content: ` w${index} ${text}` }),
  closing: () => `${chunk({}, 'stop')}${data({ ...CHUNK, choices: [], usage: USAGE })}data: [DONE]\n\n`,
  numberMark: '"content":" w',
  lastWord: '[DONE]',
};
