import { refusalOf } from '../../../test/support/calls.js';
import { parseJsonTree, sseText, type TreeObject, writeJson } from '../contract/index.js';
import { RAW_MEMBERS } from './request.js';
import { MESSAGES_STORAGE as storage } from './threads.js';

const event = (data: { readonly type: string } & Record<string, unknown>): string =>
  sseText(data.type, JSON.stringify(data));
const block = (index: number, content_block: object, ...deltas: readonly object[]): string =>
  [
    event({ type: 'content_block_start', index, content_block }),
    ...deltas.map((delta) => event({ type: 'content_block_delta', index, delta })),
    event({ type: 'content_block_stop', index }),
  ].join('');
const START = event({ type: 'message_start', message: { id: 'msg_1', type: 'message', content: [] } });
const STOP = event({ type: 'message_delta', delta: {} }) + event({ type: 'message_stop' });
const stored = (stream: string): unknown => {
  const text = storage.responseIn(Buffer.from(stream))?.text();
  return text && JSON.parse(text);
};

describe('the message of a thread', () => {
  it('is collected from a stream', () => {
    const thinking = { type: 'thinking', thinking: '', signature: '' };
    const blocks = [
      block(0, thinking, { type: 'thinking_delta', thinking: 'Hm' }, { type: 'signature_delta', signature: 'rly1.a' }),
      block(1, { type: 'redacted_thinking', data: 'rly1.b' }),
      event({ type: 'ping' }),
      block(2, { type: 'text', text: '' }, { type: 'text_delta', text: 'Hel' }, { type: 'text_delta', text: 'lo' }),
      block(3, { type: 'compaction', content: null }, { type: 'compaction_delta', content: 'Summary' }),
    ];
    expect(stored(START + blocks.join('') + STOP)).toEqual({
      id: 'msg_1',
      content: [
        { type: 'thinking', thinking: 'Hm', signature: 'rly1.a' },
        { type: 'redacted_thinking', data: 'rly1.b' },
        { type: 'text', text: 'Hello' },
        { type: 'compaction', content: 'Summary' },
      ],
    });
  });

  it('keeps arguments of tools as written', () => {
    const tool = (id: string) => ({ type: 'tool_use', id, name: 'f', input: {} });
    const json = (partial_json: string) => ({ type: 'input_json_delta', partial_json });
    const stream =
      START + block(0, tool('a'), json('{"n": 10000000000'), json('00000001}')) + block(1, tool('b')) + STOP;
    const text = storage.responseIn(Buffer.from(stream))?.text();
    expect(text).toContain('"input":{"n": 1000000000000000001}');
    expect(text).toContain('"id":"b","name":"f","input":{}');
  });

  it.each([
    '',
    START + block(0, { type: 'text', text: 'Hi' }),
    '{"type":"message","id":"msg_1","conte',
    '{"id":"msg_1"}',
  ])('is not stored when it is incomplete: %j', (bytes) => {
    expect(storage.responseIn(Buffer.from(bytes))).toBeUndefined();
  });
});

describe('a continued thread', () => {
  const thread = { type: 'continue', previous_message_id: 'msg_1' };
  const said = (role: string, content: string): TreeObject => ({ role, content });
  const earlier = { system: 'Be brief.', messages: [said('user', 'One')], model: 'm', max_tokens: 1 };
  const content = [{ type: 'text', text: 'Two' }];
  const found = (response: TreeObject) => ({
    response: { input: storage.inputOf(earlier), response },
    ofItems: new Map(),
  });

  it('has the instructions and messages of the request that created it', () => {
    const request = { thread, model: 'n', messages: [said('user', 'Three')] };
    expect(storage.expand(request, found({ id: 'msg_1', content }))).toEqual({
      model: 'n',
      system: 'Be brief.',
      messages: [said('user', 'One'), { role: 'assistant', content }, said('user', 'Three')],
    });
  });

  it('has no empty message', () => {
    const { messages } = storage.expand({ thread, messages: [] }, found({ id: 'msg_1', content: [] }));
    expect(messages).toEqual([said('user', 'One')]);
  });

  it('is stored with all of it', () => {
    const text = writeJson(storage.inputOf(earlier));
    expect(parseJsonTree(text, RAW_MEMBERS)).toEqual([{ system: 'Be brief.', messages: [said('user', 'One')] }]);
  });

  it('is not found when it is not stored', () => {
    const error = refusalOf(() => storage.expand({ thread }, { response: undefined, ofItems: new Map() }));
    expect(error).toMatchObject({ kind: 'not_found', wireDetails: { error_code: 'thread_not_found' } });
    expect(error.message).toContain('"msg_1"');
  });
});
