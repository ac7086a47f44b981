import { build, refused, result, toolCall, withFlags } from '../../../test/support/chat-completions-builds.js';
import { assistant, text, user } from '../../../test/support/turns.js';
import type { ImagePart, Part, Turn, UpstreamTarget } from '../contract/index.js';

const messagesOf = (turns: readonly Turn[], flags: UpstreamTarget['flags'] = {}): unknown =>
  withFlags({ turns }, flags).body['messages'];

const IMAGE: ImagePart = {
  kind: 'image',
  source: { from: 'data', mediaType: 'image/png', base64: 'AAAA' },
  detail: 'original',
};
const IMAGE_SENT = { type: 'image_url', image_url: { url: 'data:image/png;base64,AAAA' } };
const writtenCall = (id: string): object => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } });

interface Ids {
  readonly tool_calls?: readonly { readonly id: string }[];
  readonly tool_call_id?: string;
}

describe('Chat Completions request messages', () => {
  it('puts the lead into one instruction (case 74)', () => {
    const lead = [
      { kind: 'text' as const, text: 'A', cache: {} },
      { kind: 'text' as const, text: 'B' },
    ];
    const first = { role: 'system', content: 'A\n\nB' };
    expect(build({ lead }).body['messages']).toEqual([first, { role: 'user', content: 'Hello' }]);
    expect(withFlags({ lead }, { developerRole: true }).text).toContain('{"role":"developer","content":"A\\n\\nB"}');
  });

  it('keeps mid-conversation instructions if supported, otherwise as tagged user text (case 74)', () => {
    const turns: Turn[] = [user(text('a')), { role: 'system', parts: [text('b')] }, user(text('c'))];
    expect(messagesOf(turns, { midSystem: 'native' })).toEqual([
      { role: 'user', content: 'a' },
      { role: 'system', content: 'b' },
      { role: 'user', content: 'c' },
    ]);
    const said = ['a', '<system-reminder>\nb\n</system-reminder>', 'c'].map((part) => ({ type: 'text', text: part }));
    expect(messagesOf(turns)).toEqual([{ role: 'user', content: said }]);
  });

  it('puts calls into one message, directly followed by their results (cases 66, 67 and 70)', () => {
    const turns = [
      user(text('a')),
      assistant(text('b'), toolCall('x'), toolCall('y')),
      user(text('c'), result('y', text('two'), IMAGE), IMAGE, result('x', text('one'))),
      assistant(text('d')),
    ];
    expect(messagesOf(turns)).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b', tool_calls: [writtenCall('x'), writtenCall('y')] },
      { role: 'tool', tool_call_id: 'x', content: 'one' },
      { role: 'tool', tool_call_id: 'y', content: 'two' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'Image returned by tool call y:' },
          IMAGE_SENT,
          { type: 'text', text: 'c' },
          IMAGE_SENT,
        ],
      },
      { role: 'assistant', content: 'd' },
    ]);
  });

  it('adds missing results and converts orphaned ones, with warnings (case 69)', () => {
    const { body, warnings } = build({ turns: [assistant(toolCall('x')), user(text('a'), result('z', text('b')))] });
    expect(body['messages']).toMatchObject([
      { role: 'assistant', content: null },
      { role: 'tool', tool_call_id: 'x', content: 'Error: [no result]' },
      { role: 'user', content: [{ text: 'a' }, { text: 'Result of the tool call z:' }, { text: 'b' }] },
    ]);
    expect(warnings).toContain('tool_result_missing:messages');
  });

  it('marks failed and empty tool results (cases 71 and 72)', () => {
    const failed = { ...result('x', text('Error: no')), isError: true } as Part;
    const odd = { ...result('y', text('no')), isError: true } as Part;
    const turns = [
      user(text('a')),
      assistant(toolCall('x'), toolCall('y'), toolCall('z')),
      user(failed, odd, result('z')),
    ];
    const contents = (flags = {}): unknown[] =>
      (messagesOf(turns, flags) as readonly { role: string; content: unknown }[])
        .filter(({ role }) => role === 'tool')
        .map(({ content }) => content);
    expect(contents()).toEqual(['Error: no', 'Error: no', '']);
    expect(contents({ emptyToolResultText: true })).toEqual(['Error: no', 'Error: no', '(no output)']);
  });

  it('makes call IDs valid for the upstream (case 64)', () => {
    const long = `toolu:${'x'.repeat(80)}`;
    const turns = [
      user(text('a')),
      assistant(toolCall(long), toolCall('call:9')),
      user(result(long), result('call:9')),
    ];
    const ids = (flags = {}): string[][] => {
      const messages = messagesOf(turns, flags) as readonly Ids[];
      const calls = messages.flatMap(({ tool_calls = [] }) => tool_calls.map(({ id }) => id));
      return [calls, messages.flatMap(({ tool_call_id = [] }) => tool_call_id)];
    };
    const [calls, results] = ids();
    expect(calls).toEqual(results);
    expect(calls).toEqual([expect.stringMatching(/^toolu:x{49}_[0-9a-f]{8}$/), 'call:9']);
    const [short, answered] = ids({ toolIdStyle: 'alphanumeric9' });
    expect(short).toEqual(answered);
    expect(short!.every((id) => /^[A-Za-z0-9]{9}$/.test(id))).toBe(true);
    expect(new Set(short).size).toBe(2);
    const stored = [user(text('a')), assistant(toolCall('aB3dE6gH9')), user(result('aB3dE6gH9'))];
    expect(messagesOf(stored, { toolIdStyle: 'alphanumeric9' })).toEqual(messagesOf(stored));
  });

  it('replays reasoning with its calls, for the same family if enabled (case 87)', () => {
    const thought = (family: string): Part => ({
      kind: 'reasoning',
      text: 'Hm.',
      opaque: { kind: 'text', family, data: '', text: 'Hm.' },
    });
    const signed: Part = {
      kind: 'reasoning',
      text: 'Hm.',
      opaque: { kind: 'signature', family: 'f', data: 's', text: 'Hm.' },
    };
    const replayed = (part: Part, flags: object): unknown =>
      (messagesOf([user(text('a')), assistant(part, toolCall('x')), user(result('x'))], { ...flags }) as unknown[])[1];
    const plain = { role: 'assistant', content: null, tool_calls: [writtenCall('x')] };
    expect(replayed(thought('f'), { replayReasoning: true })).toEqual({ ...plain, reasoning_content: 'Hm.' });
    expect(replayed(thought('f'), { replayReasoning: true, reasoningField: 'reasoning' })).toEqual({
      ...plain,
      reasoning: 'Hm.',
    });
    expect(replayed(thought('f'), { replayReasoning: true, reasoningField: 'none' })).toEqual(plain);
    expect(replayed(thought('f'), {})).toEqual(plain);
    expect(replayed(thought('g'), { replayReasoning: true })).toEqual(plain);
    expect(replayed(signed, { replayReasoning: true })).toEqual(plain);
    const reported = [user(text('a')), assistant(thought('f')), user(text('b'))];
    expect(messagesOf(reported, { replayReasoning: true })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'text', text: 'a' },
          { type: 'text', text: 'b' },
        ],
      },
    ]);
  });

  it('writes refusals as a member; warns of assistant media and prefill (cases 76 and 77)', () => {
    const { body, warnings } = build({
      turns: [
        user(text('a')),
        assistant(IMAGE, { kind: 'refusal', text: 'No.' }),
        user(text('b')),
        assistant(text('It is')),
      ],
    });
    expect(body['messages']).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: null, refusal: 'No.' },
      { role: 'user', content: 'b' },
      { role: 'assistant', content: 'It is' },
    ]);
    expect(warnings).toBe('prefill:messages,unsupported_content:messages');
  });

  it('sends any number of images of one tool result', () => {
    const images = Array.from({ length: 200_000 }, () => IMAGE);
    const { body } = build({
      turns: [user(text('a')), assistant(toolCall('x')), user({ ...result('x'), parts: images })],
    });
    const messages = body['messages'] as { content: unknown[] }[];
    expect(messages.at(-1)?.content).toHaveLength(400_000);
  });

  it('sends files and audio if supported', () => {
    const pdf: Part = {
      kind: 'file',
      source: { from: 'data', mediaType: 'application/pdf', base64: 'JVBE' },
      name: 'a.pdf',
    };
    const plain: Part = { kind: 'file', source: { from: 'text', text: 'b' }, name: 'b.txt' };
    const sound: Part = { kind: 'audio', format: 'wav', base64: 'AAAA' };
    expect(messagesOf([user(pdf, plain, sound)], { audio: true })).toEqual([
      {
        role: 'user',
        content: [
          { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBE' } },
          { type: 'text', text: 'b.txt\nb' },
          { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } },
        ],
      },
    ]);
    expect(refused({ turns: [user(sound)] })).toMatchObject({ param: 'input_audio' });
    const far = { from: 'url', url: 'https://a.example/a' } as const;
    expect(refused({ turns: [user({ kind: 'file', source: far })] })).toMatchObject({ param: 'file_url' });
    expect(refused({ turns: [user({ kind: 'image', source: far })] }, { imageUrl: false })).toMatchObject({
      param: 'image_url',
    });
    expect(messagesOf([user({ kind: 'image', source: far, detail: 'low' })])).toEqual([
      { role: 'user', content: [{ type: 'image_url', image_url: { url: far.url, detail: 'low' } }] },
    ]);
  });
});
