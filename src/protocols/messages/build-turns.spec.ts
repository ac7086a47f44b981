import { refusalOf } from '../../../test/support/calls.js';
import { block, build, flagged, result, type Setting, toolCall } from '../../../test/support/messages-builds.js';
import { assistant, text, user } from '../../../test/support/turns.js';
import type { Part, Turn } from '../contract/index.js';

const system = (words: string): Turn => ({ role: 'system', parts: [text(words)] });
const messagesOf = (turns: readonly Turn[], flags?: Setting['flags']): unknown =>
  flagged({ turns }, flags).body['messages'];

describe('Messages conversations', () => {
  it('put results first, directly after their calls (cases 67 and 68)', () => {
    const turns = [
      user(text('Go')),
      assistant(text('Well'), toolCall('a'), toolCall('b')),
      user(
        text('Meanwhile'),
        result('b'),
        { kind: 'image', source: { from: 'url', url: 'https://e.example/a' } },
        result('a', 'no', true),
      ),
    ];
    expect(messagesOf(turns)).toEqual([
      { role: 'user', content: [block('Go')] },
      {
        role: 'assistant',
        content: [
          block('Well'),
          { type: 'tool_use', id: 'a', name: 'get', input: {} },
          { type: 'tool_use', id: 'b', name: 'get', input: {} },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [block('no')], is_error: true },
          { type: 'tool_result', tool_use_id: 'b', content: [block('ok')] },
          block('Meanwhile'),
          { type: 'image', source: { type: 'url', url: 'https://e.example/a' } },
        ],
      },
    ]);
  });

  it('have a result for each call except the last, and none without a call (case 69)', () => {
    const { body, warnings } = build({
      turns: [
        user(text('Go')),
        assistant(toolCall('a')),
        user(text('Stop'), result('z', 'lost')),
        assistant(toolCall('b')),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: [block('Go')] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [block('[no result]')], is_error: true },
          block('Stop'),
          block('Result of the tool call z:'),
          block('lost'),
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'b', name: 'get', input: {} }] },
    ]);
    expect(warnings).toBe('tool_result_missing:messages,tool_result_without_call:messages');
  });

  it('map call IDs to unique valid ones (case 64)', () => {
    const long = `call:${'x'.repeat(81)}`;
    const turns = [
      user(text('Go')),
      assistant(toolCall('a'), toolCall(long)),
      user(result('a', 'one'), result(long)),
      assistant(toolCall('a')),
      user(result('a', 'two')),
    ];
    const blocks = (messagesOf(turns) as { content: Record<string, unknown>[] }[]).flatMap(({ content }) => content);
    const [first, odd, third] = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id);
    expect(first).toBe('a');
    expect(odd).toMatch(/^call_x+_[0-9a-f]{8}$/);
    expect(third).toBe('a_2');
    expect(blocks.filter(({ type }) => type === 'tool_result').map((reported) => reported['tool_use_id'])).toEqual([
      first,
      odd,
      third,
    ]);
  });

  it('keep instructions in place if supported (case 74)', () => {
    const turns = [
      user(text('Go')),
      system('A'),
      system('B'),
      assistant(text('Well')),
      system('C'),
      user(text('On')),
      system('D'),
    ];
    expect(messagesOf(turns, { midSystem: 'native' })).toEqual([
      { role: 'user', content: [block('Go')] },
      { role: 'system', content: [block('A'), block('B')] },
      { role: 'assistant', content: [block('Well')] },
      { role: 'user', content: [block('<system-reminder>\nC\n</system-reminder>'), block('On')] },
      { role: 'system', content: [block('D')] },
    ]);
    expect(messagesOf(turns)).toEqual([
      {
        role: 'user',
        content: [
          block('Go'),
          block('<system-reminder>\nA\n</system-reminder>'),
          block('<system-reminder>\nB\n</system-reminder>'),
        ],
      },
      { role: 'assistant', content: [block('Well')] },
      {
        role: 'user',
        content: [
          block('<system-reminder>\nC\n</system-reminder>'),
          block('On'),
          block('<system-reminder>\nD\n</system-reminder>'),
        ],
      },
    ]);
  });

  it('put an instruction after the preceding results', () => {
    const turns = [user(text('Go')), assistant(toolCall('a')), system('Mind'), user(result('a'))];
    expect((messagesOf(turns) as { content: object[] }[]).at(-1)?.content).toEqual([
      { type: 'tool_result', tool_use_id: 'a', content: [block('ok')] },
      block('<system-reminder>\nMind\n</system-reminder>'),
    ]);
  });

  it('drop blank text and begin with the user (cases 72 and 73)', () => {
    const turns = [assistant(text('Hi')), user(text(' \n')), assistant(text('there')), user(text('Go'))];
    const { body, warnings } = build({ lead: [{ kind: 'text', text: ' ' }], turns });
    expect(body['system']).toBeUndefined();
    expect(body['messages']).toEqual([
      { role: 'user', content: [block('.')] },
      { role: 'assistant', content: [block('Hi'), block('there')] },
      { role: 'user', content: [block('Go')] },
    ]);
    expect(warnings).toBe('user_message_inserted:messages');
    expect(refusalOf(() => build({ turns: [user(text(' '))] })).details.param).toBe('messages');
  });

  it('support prefill if the model does (case 76)', () => {
    const turns = [user(text('Go')), assistant(text('Once upon \n'))];
    expect((messagesOf(turns) as object[]).at(-1)).toEqual({ role: 'assistant', content: [block('Once upon')] });
    expect(refusalOf(() => flagged({ turns }, { prefill: false })).details.param).toBe('messages');
  });

  it('send nothing or a placeholder for empty results', () => {
    const turns = [user(text('Go')), assistant(toolCall('a')), user(result('a', ''))];
    const reported = (flags: Setting['flags']): unknown =>
      ((messagesOf(turns, flags) as { content: object[] }[])[2]?.content ?? [])[0];
    expect(reported({})).toEqual({ type: 'tool_result', tool_use_id: 'a' });
    expect(reported({ emptyToolResultText: true })).toMatchObject({ content: [block('(no output)')] });
  });

  it('contain images and documents, also in results (case 70)', () => {
    const png: Part = { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'iVBO' } };
    const shown = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBO' } };
    const turns = [
      user(png, {
        kind: 'file',
        name: 'a.pdf',
        source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' },
      }),
      assistant(toolCall('a'), png),
      user(
        { kind: 'tool-result', id: 'a', parts: [png], isError: false },
        { kind: 'file', source: { from: 'data', mediaType: 'text/csv', base64: 'YSxi' } },
      ),
    ];
    const { body, warnings } = build({ turns });
    expect(body['messages']).toEqual([
      {
        role: 'user',
        content: [
          shown,
          { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'JVBE' } },
        ],
      },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'get', input: {} }] },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: [shown] },
          { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
        ],
      },
    ]);
    expect(warnings).toBe('unsupported_content:messages');
  });

  it.each<[Part, Setting['flags']]>([
    [{ kind: 'audio', format: 'mp3', base64: '' }, {}],
    [{ kind: 'image', source: { from: 'data', mediaType: 'image/tiff', base64: '' } }, {}],
    [{ kind: 'image', source: { from: 'url', url: 'https://e.example' } }, { imageUrl: false }],
    [{ kind: 'file', source: { from: 'data', mediaType: 'application/zip', base64: '' } }, {}],
  ])('reject %j', (part, flags) => {
    const error = refusalOf(() => flagged({ turns: [user(part)] }, flags));
    expect([error.kind, error.details.fault]).toEqual(['invalid_request', 'unsupported_parameter']);
  });

  it('send arguments back unchanged, wrapping non-objects (cases 53 and 54)', () => {
    const json = '{"n": 9007199254740993,"s":"\\u2028"}';
    const turns = [user(text('Go')), assistant(toolCall('a', json), toolCall('b', '{"cut'))];
    const { text: sent } = build({ turns });
    expect(sent).toContain(`"input":${json}`);
    expect(sent).toContain('"input":{"input":"{\\"cut"}');
  });

  it('send reasoning of the same family back unchanged, in front (cases 79, 81, 82 and 83)', () => {
    const thought = (
      kind: 'signature' | 'redacted' | 'encrypted',
      family: string,
      data: string,
      words: string,
    ): Part => ({
      kind: 'reasoning',
      text: 'shown',
      opaque: { kind, family, data, text: words },
    });
    const turns = [
      user(text('Go')),
      assistant(
        text('Well'),
        thought('signature', 'f', 'EqQB+/=', 'Exactly this '),
        thought('signature', 'f', 'Eq', ''),
        thought('redacted', 'f', 'red', ''),
        thought('signature', 'other', 'x', ''),
        thought('encrypted', 'f', 'x', ''),
        { kind: 'reasoning', text: 'nobody’s' },
      ),
      user(text('On')),
    ];
    expect((messagesOf(turns) as { content: unknown }[])[1]?.content).toEqual([
      { type: 'thinking', thinking: 'Exactly this ', signature: 'EqQB+/=' },
      { type: 'thinking', thinking: '', signature: 'Eq' },
      { type: 'redacted_thinking', data: 'red' },
      block('Well'),
    ]);
  });
});
