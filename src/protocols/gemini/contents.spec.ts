import { refusalOf } from '../../../test/support/calls.js';
import { aContent, type Built, built } from '../../../test/support/translations.js';
import type { Call, Part, ToolResultPart, Turn, UpstreamTarget } from '../contract/index.js';
import { GeminiUpstream } from './upstream.js';

const upstream = new GeminiUpstream();
/** Only the content is used. */
const call = {} as Call;

const build = (turns: readonly Turn[], flags: UpstreamTarget['flags'] = {}): Built =>
  built(upstream, { call, content: aContent({ turns }) }, { stream: false, flags });
const contentsOf = (turns: readonly Turn[], flags?: UpstreamTarget['flags']): unknown =>
  build(turns, flags).body['contents'];
const refused = (turns: readonly Turn[], flags?: UpstreamTarget['flags']): unknown =>
  refusalOf(() => build(turns, flags)).details;

const text = (said: string): Part => ({ kind: 'text', text: said });
const user = (...parts: readonly Part[]): Turn => ({ role: 'user', parts });
const assistant = (...parts: readonly Part[]): Turn => ({ role: 'assistant', parts });
const toolCall = (id: string, more: object = {}): Part => ({
  kind: 'tool-call',
  id,
  name: 'f',
  arguments: '{}',
  ...more,
});
const result = (id: string, said: string, more: Partial<ToolResultPart> = {}): ToolResultPart => ({
  kind: 'tool-result',
  id,
  parts: [{ kind: 'text', text: said }],
  isError: false,
  ...more,
});
const IMAGE = { kind: 'image', source: { from: 'data', mediaType: 'image/png', base64: 'AAAA' } } as const;
const IMAGE_SENT = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
const PICTURE = { kind: 'image', source: { from: 'url', url: 'https://a.example/Cat.JPG?size=1' } } as const;

const sentCall = (id: string): object => ({ functionCall: { id, name: 'f', args: {} } });
const sentResult = (id: string, response: object): object => ({ functionResponse: { id, name: 'f', response } });

describe('Gemini contents', () => {
  describe('conversations', () => {
    it('map roles and convert mid-conversation instructions to user text', () => {
      const turns: Turn[] = [user(text('A')), assistant(text('B')), { role: 'system', parts: [text('Be brief.')] }];
      expect(contentsOf([...turns, user(text('C'))])).toEqual([
        { role: 'user', parts: [{ text: 'A' }] },
        { role: 'model', parts: [{ text: 'B' }] },
        { role: 'user', parts: [{ text: '<system-reminder>\nBe brief.\n</system-reminder>' }, { text: 'C' }] },
      ]);
    });

    it('begin with the user', () => {
      const { body, warnings } = build([assistant(text('B')), user(text('C'))]);
      expect(body['contents']).toEqual([
        { role: 'user', parts: [{ text: '.' }] },
        { role: 'model', parts: [{ text: 'B' }] },
        { role: 'user', parts: [{ text: 'C' }] },
      ]);
      expect(warnings).toBe('user_message_inserted:messages');
    });

    it('reject prefill if not supported', () => {
      const turns = [user(text('A')), assistant(text('B'))];
      expect(contentsOf(turns)).toHaveLength(2);
      expect(refused(turns, { prefill: false })).toMatchObject({ param: 'messages' });
    });

    it('reject an empty conversation', () => {
      expect(refused([])).toMatchObject({ param: 'messages' });
    });

    it('contain images and files, inline or by URL', () => {
      const file = (source: object): Part => ({ kind: 'file', source, name: 'a.txt' }) as Part;
      const turns = [
        user(
          IMAGE,
          PICTURE,
          file({ from: 'data', mediaType: 'application/pdf', base64: 'BBBB' }),
          file({ from: 'text', text: 'Words' }),
          file({ from: 'url', url: 'https://a.example/download' }),
        ),
      ];
      expect(contentsOf(turns)).toEqual([
        {
          role: 'user',
          parts: [
            IMAGE_SENT,
            { fileData: { mimeType: 'image/jpeg', fileUri: 'https://a.example/Cat.JPG?size=1' } },
            { inlineData: { mimeType: 'application/pdf', data: 'BBBB' } },
            { text: 'a.txt\nWords' },
            { fileData: { fileUri: 'https://a.example/download' } },
          ],
        },
      ]);
      expect(refused([user(PICTURE)], { imageUrl: false })).toMatchObject({ param: 'messages' });
    });

    it('contain audio if supported', () => {
      const turns = [user({ kind: 'audio', format: 'wav', base64: 'AAAA' })];
      expect(contentsOf(turns, { audio: true })).toEqual([
        { role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data: 'AAAA' } }] },
      ]);
      expect(refused(turns)).toMatchObject({ param: 'messages' });
    });

    it('drop assistant images', () => {
      const turns = [user(text('A')), assistant(text('B'), IMAGE), user(text('C'))];
      const { body, warnings } = build(turns);
      expect(body['contents']).toEqual([
        { role: 'user', parts: [{ text: 'A' }] },
        { role: 'model', parts: [{ text: 'B' }] },
        { role: 'user', parts: [{ text: 'C' }] },
      ]);
      expect(warnings).toBe('unsupported_content:messages');
    });
  });

  describe('tool results', () => {
    const resultsOf = (results: readonly Part[], flags: UpstreamTarget['flags'] = {}): unknown => {
      const calls = results.flatMap((part) => (part.kind === 'tool-result' ? [toolCall(part.id)] : []));
      return (contentsOf([user(text('A')), assistant(...calls), user(...results)], flags) as unknown[])[2];
    };

    it('name their function and precede user text', () => {
      expect(resultsOf([text('Go on.'), result('a', '{"n":1}'), result('b', 'Snow.')])).toEqual({
        role: 'user',
        parts: [sentResult('a', { n: 1 }), sentResult('b', { output: 'Snow.' }), { text: 'Go on.' }],
      });
    });

    it('keep objects as written', () => {
      const turns = [
        user(text('A')),
        assistant(toolCall('a')),
        user(result('a', '{"big":9007199254740993,"one":1.0}')),
      ];
      expect(build(turns).text).toContain('"response":{"big":9007199254740993,"one":1.0}');
    });

    it('send schemas as text, since their references would be invalid', () => {
      const schema = '{"items":{"$ref":"#/$defs/City"}}';
      expect(resultsOf([result('a', schema)])).toEqual({ role: 'user', parts: [sentResult('a', { output: schema })] });
    });

    it('mark failures', () => {
      expect(resultsOf([result('a', 'No such city.', { isError: true })])).toEqual({
        role: 'user',
        parts: [sentResult('a', { error: 'No such city.' })],
      });
    });

    it('use a placeholder for empty results if configured', () => {
      expect(resultsOf([result('a', '')])).toEqual({ role: 'user', parts: [sentResult('a', { output: '' })] });
      expect(resultsOf([result('a', '')], { emptyToolResultText: true })).toEqual({
        role: 'user',
        parts: [sentResult('a', { output: '(no output)' })],
      });
    });

    it('put images after all results, or inside if supported', () => {
      const shown = result('a', 'A map.', { parts: [{ kind: 'text', text: 'A map.' }, IMAGE] });
      expect(resultsOf([shown, result('b', 'Snow.')])).toEqual({
        role: 'user',
        parts: [
          sentResult('a', { output: 'A map.' }),
          sentResult('b', { output: 'Snow.' }),
          { text: 'Image returned by tool call a:' },
          IMAGE_SENT,
        ],
      });
      expect(resultsOf([shown], { resultMedia: true })).toEqual({
        role: 'user',
        parts: [{ functionResponse: { id: 'a', name: 'f', response: { output: 'A map.' }, parts: [IMAGE_SENT] } }],
      });
    });

    it('put URLs after all results', () => {
      const shown = result('a', '', { parts: [PICTURE, IMAGE] });
      expect(resultsOf([shown], { resultMedia: true })).toEqual({
        role: 'user',
        parts: [
          { functionResponse: { id: 'a', name: 'f', response: { output: '' }, parts: [IMAGE_SENT] } },
          { text: 'Image returned by tool call a:' },
          { fileData: { mimeType: 'image/jpeg', fileUri: PICTURE.source.url } },
        ],
      });
    });

    it('send arguments back as written, always in an object', () => {
      const calls = [
        toolCall('a', { arguments: '{"big":9007199254740993,"one":1.0}' }),
        toolCall('b', { arguments: '*** Begin', isFreeform: true }),
        toolCall('c', { arguments: '{"cut":' }),
      ];
      const { text: sent } = build([user(text('A')), assistant(...calls)]);
      expect(sent).toContain('"args":{"big":9007199254740993,"one":1.0}');
      expect(sent).toContain('"args":{"input":"*** Begin"}');
      expect(sent).toContain('"args":{"input":"{\\"cut\\":"}');
    });
  });

  describe('signatures', () => {
    const THINKS = { thinkingMode: 'level' };
    const signed = (data: string, family = 'f'): Part => ({
      kind: 'reasoning',
      text: 'Hm.',
      opaque: { kind: 'encrypted', family, data, text: '' },
    });
    const respondedBy = (parts: readonly Part[], flags: UpstreamTarget['flags'] = THINKS): unknown => {
      const results = parts.flatMap((part) => (part.kind === 'tool-call' ? [result(part.id, '{}')] : []));
      const next = results.length > 0 ? user(...results) : user(text('B'));
      const contents = contentsOf([user(text('A')), assistant(...parts), next], flags) as { parts: unknown }[];
      return contents[1]?.parts;
    };
    const PLACEHOLDER = 'skip_thought_signature_validator';

    it('return to the first following call, without reasoning text', () => {
      expect(respondedBy([signed('S'), text('I ask.'), toolCall('a'), toolCall('b')])).toEqual([
        { text: 'I ask.' },
        { ...sentCall('a'), thoughtSignature: 'S' },
        sentCall('b'),
      ]);
    });

    it('return to their own calls', () => {
      expect(respondedBy([signed('S'), toolCall('a'), signed('T'), toolCall('b')])).toEqual([
        { ...sentCall('a'), thoughtSignature: 'S' },
        { ...sentCall('b'), thoughtSignature: 'T' },
      ]);
    });

    it('of text return in a separate part at its position', () => {
      expect(respondedBy([text('Yes.'), signed('S')])).toEqual([{ text: 'Yes.' }, { text: '', thoughtSignature: 'S' }]);
      expect(respondedBy([signed('S'), text('So'), signed('T'), toolCall('a')])).toEqual([
        { text: '', thoughtSignature: 'S' },
        { text: 'So' },
        { ...sentCall('a'), thoughtSignature: 'T' },
      ]);
    });

    it('of other vendors are not sent', () => {
      expect(respondedBy([signed('S', 'other'), { kind: 'reasoning', text: 'Hm.' }, text('Yes.')])).toEqual([
        { text: 'Yes.' },
      ]);
    });

    it('use the documented placeholder for an unsigned first call', () => {
      expect(respondedBy([toolCall('a'), toolCall('b')])).toEqual([
        { ...sentCall('a'), thoughtSignature: PLACEHOLDER },
        sentCall('b'),
      ]);
      expect(respondedBy([signed('S', 'other'), toolCall('a')])).toEqual([
        { ...sentCall('a'), thoughtSignature: PLACEHOLDER },
      ]);
    });

    it.each([{}, { thinkingMode: 'budget' }])('use no placeholder if not validated: %j', (flags) => {
      expect(respondedBy([toolCall('a')], flags)).toEqual([sentCall('a')]);
    });

    it('use placeholders since the last user text', () => {
      const loop = [
        assistant(toolCall('b')),
        user(result('b', '{}')),
        assistant(toolCall('c')),
        user(result('c', '{}')),
      ];
      const turns = [user(text('A')), assistant(toolCall('a')), user(result('a', '{}')), assistant(text('B'))];
      const sent = JSON.stringify(contentsOf([...turns, user(text('C')), ...loop], THINKS));
      expect(
        [...sent.matchAll(/"id":"(\w)","name":"f","args":\{\}\},"thoughtSignature"/g)].map(([, id]) => id),
      ).toEqual(['b', 'c']);
    });
  });
});
