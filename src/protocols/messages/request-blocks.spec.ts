import { HELLO, image, protocol, read, said, text, warned } from '../../../test/support/messages-requests.js';
import { contentOf } from '../../../test/support/translations.js';
import type { Part } from '../contract/index.js';

const answered = (...content: unknown[]): readonly Part[] =>
  read({ messages: [HELLO, { role: 'assistant', content }, HELLO] }).turns[1]?.parts ?? [];

describe('Messages blocks', () => {
  it('become parts in order, merged by role (case 73)', () => {
    const messages = [
      HELLO,
      { role: 'user', content: [image, text('')] },
      { role: 'assistant', content: 'Hi' },
      { role: 'assistant', content: [text(' there')] },
      HELLO,
    ];
    expect(read({ messages }).turns).toEqual([
      {
        role: 'user',
        parts: [
          { kind: 'text', text: 'Hello' },
          { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBO' } },
        ],
      },
      {
        role: 'assistant',
        parts: [
          { kind: 'text', text: 'Hi' },
          { kind: 'text', text: ' there' },
        ],
      },
      { role: 'user', parts: [{ kind: 'text', text: 'Hello' }] },
    ]);
  });

  it.each([
    [
      { source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' }, title: 'a.pdf' },
      [{ kind: 'file', name: 'a.pdf', source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' } }],
    ],
    [
      { source: { type: 'url', url: 'https://e.example/a.pdf' } },
      [{ kind: 'file', source: { from: 'url', url: 'https://e.example/a.pdf' } }],
    ],
    [
      { source: { type: 'text', media_type: 'text/plain', data: 'plain' }, context: 'Old.' },
      [
        { kind: 'text', text: 'Old.' },
        { kind: 'file', source: { from: 'text', text: 'plain' } },
      ],
    ],
    [
      { source: { type: 'content', content: [text('a'), image] }, title: 'Two' },
      [
        { kind: 'text', text: 'Two' },
        { kind: 'text', text: 'a' },
        { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBO' } },
      ],
    ],
  ])('parse documents: %j', (document, parts) => {
    expect(said({ type: 'document', ...document })).toEqual(parts);
  });

  it('parse search results as text with their source', () => {
    expect(said({ type: 'search_result', source: 'https://e.example', title: 'T', content: [text('found')] })).toEqual([
      { kind: 'text', text: 'T\nhttps://e.example' },
      { kind: 'text', text: 'found' },
    ]);
  });

  it('parse tool results with all content', () => {
    const result = { type: 'tool_result', tool_use_id: 'toolu_1' };
    expect(
      said(
        text('x'),
        { ...result, content: 'done' },
        { ...result, is_error: true, content: [text(''), image, { type: 'tool_reference', tool_name: 'grep' }] },
        result,
      ),
    ).toEqual([
      { kind: 'text', text: 'x' },
      { kind: 'tool-result', id: 'toolu_1', parts: [{ kind: 'text', text: 'done' }], isError: false },
      {
        kind: 'tool-result',
        id: 'toolu_1',
        parts: [
          { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBO' } },
          { kind: 'text', text: 'The tool grep can be used.' },
        ],
        isError: true,
      },
      { kind: 'tool-result', id: 'toolu_1', parts: [], isError: false },
    ]);
  });

  it('keep arguments as text, with numbers of any size (case 54)', () => {
    const json =
      '{"model":"m","max_tokens":1,"messages":[{"role":"user","content":"x"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"b","input":{"n": 9007199254740993,"s":"\\u2028"}},{"type":"tool_use","id":"c","name":"d"}]}]}';
    expect(contentOf(protocol, json).turns[1]?.parts).toEqual([
      { kind: 'tool-call', id: 'a', name: 'b', arguments: '{"n": 9007199254740993,"s":"\\u2028"}' },
      { kind: 'tool-call', id: 'c', name: 'd', arguments: '{}' },
    ]);
  });

  it('accept only reasoning sealed by this relay (cases 80 to 83)', () => {
    const opaque = { kind: 'encrypted', family: 'f', data: 'gAAA', text: '' };
    const seal = `rly1.${JSON.stringify(['encrypted', 'f', 'gAAA', ''])}`;
    expect(
      answered(
        { type: 'thinking', thinking: 'Let me see', signature: seal },
        { type: 'thinking', thinking: '', signature: seal },
        { type: 'redacted_thinking', data: seal },
        { type: 'thinking', thinking: 'Foreign', signature: 'EqQB+/=' },
        { type: 'thinking', thinking: 'Unsigned' },
        { type: 'redacted_thinking', data: 'x' },
        text('Hi'),
      ),
    ).toEqual([
      { kind: 'reasoning', text: 'Let me see', opaque },
      { kind: 'reasoning', text: '', opaque },
      { kind: 'reasoning', text: '', opaque },
      { kind: 'text', text: 'Hi' },
    ]);
  });

  it('drop hosted tool results, and assistant images with a warning (case 77)', () => {
    const messages = [
      HELLO,
      {
        role: 'assistant',
        content: [
          { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
          { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
          image,
          { type: 'compaction', content: null },
          { type: 'text', text: 'So far.' },
        ],
      },
      HELLO,
    ];
    expect(read({ messages }).turns[1]?.parts).toEqual([{ kind: 'text', text: 'So far.' }]);
    expect(warned({ messages })).toBe('unsupported_content:messages[1].content[2]');
  });
});
