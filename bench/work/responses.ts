// The work in OpenAI's Responses.
import { type Behaviour, modelFor } from './behaviours.ts';
import { type ProtocolEndpoint, prose } from './protocol.ts';

const RESPONSE = { id: 'resp_bench', object: 'response', created_at: 1_760_000_000, model: 'bench' };
const MESSAGE = { type: 'message', id: 'msg_bench', role: 'assistant' };
const PLACE = { item_id: MESSAGE.id, output_index: 0, content_index: 0 };
const USAGE = {
  input_tokens: 230,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 200,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 430,
};
const BEGUN = { ...RESPONSE, status: 'in_progress', output: [], usage: null };

const part = (text: string): object => ({ type: 'output_text', text, annotations: [] });
const message = (text: string): object => ({ ...MESSAGE, status: 'completed', content: [part(text)] });
const completed = (text: string): object => ({
  ...RESPONSE,
  status: 'completed',
  output: [message(text)],
  usage: USAGE,
});
const word = (index: number): string => ` w${index} `;

type StreamEvent = readonly [type: string, fields: object];

/** Numbered from there on. */
const series = (from: number, ...events: readonly StreamEvent[]): string =>
  events
    .map(([name, fields], index) => ({ type: `response.${name}`, sequence_number: from + index, ...fields }))
    .map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`)
    .join('');

const OPENING: readonly StreamEvent[] = [
  ['created', { response: BEGUN }],
  ['in_progress', { response: BEGUN }],
  ['output_item.added', { output_index: 0, item: { ...MESSAGE, status: 'in_progress', content: [] } }],
  ['content_part.added', { ...PLACE, part: part('') }],
];

export const responses: ProtocolEndpoint = {
  id: 'responses',
  path: '/responses',
  headers: (key) => ({ authorization: `Bearer ${key}` }),
  request(behaviour: Behaviour, promptBytes: number): Buffer {
    const streamed = behaviour === 'answer' ? {} : { stream: true };
    const input = prose(promptBytes);
    return Buffer.from(JSON.stringify({ model: modelFor(behaviour), ...streamed, store: false, input }));
  },
  answer: Buffer.from(JSON.stringify(completed(prose(500)))),
  opening: series(0, ...OPENING),
  event: (index, text = '') =>
    series(OPENING.length + index, ['output_text.delta', { ...PLACE, delta: word(index) + text, logprobs: [] }]),
  closing(events) {
    const text = Array.from({ length: events }, (_, index) => word(index)).join('');
    const last = series(
      OPENING.length + events,
      ['output_text.done', { ...PLACE, text, logprobs: [] }],
      ['content_part.done', { ...PLACE, part: part(text) }],
      ['output_item.done', { output_index: 0, item: message(text) }],
      ['completed', { response: completed(text) }],
    );
    return `${last}data: [DONE]\n\n`;
  },
  numberMark: '"delta":" w',
  lastWord: '[DONE]',
};
