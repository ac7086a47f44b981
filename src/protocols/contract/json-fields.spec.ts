import fc from 'fast-check';
import { INTERESTS, isRefused, read, refused } from '../../../test/support/body-members.js';
import { refusalOf } from '../../../test/support/calls.js';
import { isJsonObject } from '../../platform/shared/index.js';
import { splice } from './call-body.js';
import { JsonReader, readJsonFields } from './json-fields.js';

const BYTE_ORDER_MARK = '\uFEFF';

const isObject = (json: string): boolean => {
  try {
    return isJsonObject(JSON.parse(json));
  } catch {
    return false;
  }
};

describe('JsonFields', () => {
  it('finds members of the root and of interpreted objects', () => {
    const fields = read(
      '{ "x": {"model": "not this"}, "model" : "m" , "stream":true,"reasoning":{"a":[1,{}],"effort":"low"} }',
    );

    expect(fields.value('model')).toBe('m');
    expect(fields.value('stream')).toBe(true);
    expect(fields.value('reasoning.effort')).toBe('low');
    expect(fields.value('max_tokens')).toBeUndefined();
  });

  it('reports position and kind of a value', () => {
    expect(read('{"model": "m", "messages": [], "max_tokens": -1.5e3}').field('model')).toEqual({
      start: 10,
      end: 13,
      kind: 'string',
    });
    const fields = read('{"messages":[{}],"max_tokens":1,"stream":null,"stream_options":{"include_usage":false}}');
    const kinds = ['messages', 'max_tokens', 'stream', 'stream_options', 'stream_options.include_usage'];
    expect(kinds.map((path) => fields.field(path)?.kind)).toEqual(['array', 'number', 'null', 'object', 'boolean']);
  });

  it('decodes escapes in names and values', () => {
    const fields = read(
      String.raw`{"mod\u0065l":"gr\u00fc\u00dfe\n","\u0073tream_options":{"include\u005fusage":true}}`,
    );

    expect(fields.value('model')).toBe('grüße\n');
    expect(fields.value('stream_options.include_usage')).toBe(true);
  });

  it('does not treat a dotted name as a path', () => {
    expect(read('{"stream_options.include_usage":true}').field('stream_options.include_usage')).toBeUndefined();
  });

  it('reads a view into larger memory', () => {
    const json = `{"model":"m","text":"${'lorem ipsum '.repeat(20)}"}`;
    for (let offset = 0; offset < 5; offset++) {
      const memory = new Uint8Array(new ArrayBuffer(offset + json.length + 3)).fill(1);
      memory.set(Buffer.from(json), offset);
      expect(readJsonFields(memory.subarray(offset, offset + json.length), INTERESTS).value('model')).toBe('m');
    }
  });
});

describe('ambiguous members', () => {
  it.each([
    ['{"model":"a","model":"b"}', 'model'],
    [String.raw`{"model":"a","mod\u0065l":"b"}`, 'model'],
    ['{"stream_options":{"include_usage":true,"include_usage":false}}', 'stream_options.include_usage'],
    ['{"stream_options":{},"stream_options":{"include_usage":true}}', 'stream_options'],
    ['{"stream_options":null,"stream_options":null}', 'stream_options'],
  ])('rejects %s', (json, param) => {
    expect(refused(json)).toMatchObject({ kind: 'invalid_request', details: { param } });
  });

  it.each(['{"model":"a","MODEL":"b"}', '{"Model":"a"}', '{"reasoning":{"Effort":"low"}}', '{"max_to\u212Aens":9}'])(
    'rejects a name in another case: %s',
    (json) => {
      expect(refused(json).kind).toBe('invalid_request');
    },
  );

  it('accepts uninterpreted duplicates', () => {
    expect(read('{"model":"m","x":1,"x":2,"tools":[{"model":1,"model":2,"Model":3}]}').value('model')).toBe('m');
  });
});

describe('malformed bodies', () => {
  it.each([
    ['nothing', ''],
    ['white space', ' \n'],
    ['an array', '[]'],
    ['a number', '12'],
    ['a string', '"model"'],
    ['a byte order mark', `${BYTE_ORDER_MARK}{"model":"m"}`],
    ['something behind the object', '{"model":"m"} {}'],
    ['a NUL behind the object', '{"model":"m"}\0'],
    ['an object that is not closed', '{"model":"m"'],
    ['a bracket that is not closed', '{"messages":[}'],
    ['brackets that do not match', '{"messages":[}]'],
    ['a string that is not closed', '{"model":"m'],
    ['a long string that is not closed', `{"model":"${'m'.repeat(99)}\\"`],
    ['a missing colon', '{"model" "m"}'],
    ['a missing comma', '{"model":"m" "stream":true}'],
    ['a missing comma in depth', '{"tools":[{"a":1 "b":2}]}'],
    ['a trailing comma', '{"model":"m",}'],
    ['a leading comma', '{,"model":"m"}'],
    ['a missing value', '{"model":}'],
    ['a name that is no string', '{model:"m"}'],
    ['a comment', '{"model":"m"/* " */}'],
    ['an apostrophe', "{'model':'m'}"],
    ['a word that is none', '{"stream":nul}'],
    ['a number that is none', '{"max_tokens":01}'],
    ['a NUL in a short string', '{"model":"a\0b"}'],
    ['a line feed in a short string', '{"model":"a\nb"}'],
    ['a line feed behind a backslash', '{"model":"a\\\nb"}'],
    ['a tab in a long string', `{"x":"${'lorem ipsum '.repeat(9)}\t"}`],
    ['a NUL in a long string', `{"x":"${'lorem ipsum '.repeat(9)}\0${'lorem ipsum '.repeat(9)}"}`],
  ])('rejects %s', (_what, json) => {
    expect(refused(json).kind).toBe('invalid_request');
  });

  it('rejects invalid UTF-8 anywhere', () => {
    const bytes = Buffer.from(`{"model":"m","x":"${'a'.repeat(100)}"}`);
    bytes[60] = 0xff;
    expect(refused(bytes).message).toContain('UTF-8');
  });

  it('accepts 512 levels and rejects more', () => {
    const nested = (levels: number): string => `{"x":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect(() => read(nested(512))).not.toThrow();
    expect(refused(nested(513)).message).toContain('512');
    expect(refused(nested(100_000)).kind).toBe('invalid_request');
    expect(refused('{"x":'.repeat(100_000)).kind).toBe('invalid_request');
  });
});

describe('typed members', () => {
  it('requires non-empty strings', () => {
    expect(read('{"model":"m"}').requireString('model')).toBe('m');
    const missing = { details: { param: 'model', fault: 'missing_required_parameter' } };
    expect(refusalOf(() => read('{}').requireString('model'))).toMatchObject(missing);
    expect(refusalOf(() => read('{"model":null}').requireString('model'))).toMatchObject(missing);
    for (const json of ['{"model":""}', '{"model":1}', '{"model":["m"]}', String.raw`{"model":"\x"}`]) {
      expect(refusalOf(() => read(json).requireString('model')).details).toEqual({
        param: 'model',
        fault: 'invalid_value',
      });
    }
  });

  it('treats null as absent', () => {
    const fields = read('{"stream":null,"max_tokens":null,"reasoning":{"effort":null}}');
    expect(fields.optionalBoolean('stream')).toBeUndefined();
    expect(fields.optionalInteger('max_tokens', { min: 1 })).toBeUndefined();
    expect(fields.optionalString('reasoning.effort')).toBeUndefined();
  });

  it.each(['"true"', '1', '[]'])('rejects %s as a boolean', (json) => {
    expect(refusalOf(() => read(`{"stream":${json}}`).optionalBoolean('stream')).details.param).toBe('stream');
  });

  it('accepts integers in any notation', () => {
    for (const json of ['100', '1e2', '100.0']) {
      expect(read(`{"max_tokens":${json}}`).optionalInteger('max_tokens', { min: 0 })).toBe(100);
    }
  });

  it.each(['1.5', '-1', '9007199254740993', '1e400', '"10"', 'true'])('rejects %s as an integer', (json) => {
    const refusal = refusalOf(() => read(`{"max_tokens":${json}}`).optionalInteger('max_tokens', { min: 0 }));
    expect(refusal.details).toEqual({ param: 'max_tokens', fault: 'invalid_value' });
  });
});

describe('edits', () => {
  const assigned = (json: string, path: string, value: string): string =>
    Buffer.from(splice(Buffer.from(json), [read(json).assign(path, value)])).toString();

  it.each([
    ['{"x":1,"model" : "old" }', 'model', '"new"', '{"x":1,"model" : "new" }'],
    ['{ "x":1}', 'max_tokens', '5', '{"max_tokens":5, "x":1}'],
    ['{}', 'model', '"m"', '{"model":"m"}'],
    [
      '{"stream_options":{ \n}}',
      'stream_options.include_usage',
      'true',
      '{"stream_options":{"include_usage":true \n}}',
    ],
    [
      '{"stream_options":{"include_obfuscation":false}}',
      'stream_options.include_usage',
      'true',
      '{"stream_options":{"include_usage":true,"include_obfuscation":false}}',
    ],
  ])('change one member of %s', (json, path, value, expected) => {
    expect(assigned(json, path, value)).toBe(expected);
  });
});

describe('body size', () => {
  const payload = 'iVBORw0KGgo+/9a'.repeat(60);

  const url = `data:image/png;base64,${payload}==`;
  const message = (part: object): string => JSON.stringify({ messages: [{ role: 'user', content: [part] }] });
  const source = { type: 'base64', media_type: 'application/pdf', data: payload };

  it.each([
    ['image_url.url', message({ type: 'image_url', image_url: { url } }), 'image', url.length],
    ['input_audio', message({ type: 'input_audio', input_audio: { data: payload } }), 'audio', payload.length],
    ['file.file_data', message({ type: 'file', file: { file_data: url } }), 'file', url.length],
    ['a source', message({ type: 'document', source }), 'file', payload.length],
    ['the source of a tool result', message({ type: 'tool_result', content: [{ source }] }), 'file', payload.length],
    ['input_image', JSON.stringify({ input: [{ content: [{ image_url: url }] }] }), 'image', url.length],
    ['input_file', JSON.stringify({ input: [{ content: [{ file_data: url }] }] }), 'file', url.length],
    ['the output of a function', JSON.stringify({ input: [{ output: [{ image_url: url }] }] }), 'image', url.length],
  ])('excludes declared media from the text: %s', (_name, json, kind, bytes) => {
    const { encodedBytes, media } = read(json).size;
    expect([encodedBytes, media?.map((part) => part.kind)]).toEqual([bytes, [kind]]);
  });

  it.each([
    ['long base64 in a text', message({ type: 'text', text: payload })],
    ['a data URL in a text', message({ type: 'text', text: url })],
    ['media in the arguments of a tool', message({ type: 'tool_use', input: { image_url: { url }, source } })],
    ['a source in the arguments of a tool', message({ type: 'tool_use', input: { content: [{ source }] } })],
    ['a source of text', message({ source: { ...source, type: 'text' } })],
    [
      'a source with two types',
      message({}).replace('{}', `{"source":{"type":"text",${JSON.stringify(source).slice(1)}}`),
    ],
    [
      'a source whose second type is escaped',
      message({}).replace('{}', String.raw`{"source":${JSON.stringify(source).slice(0, -1)},"type":"text"}}`),
    ],
    ['media beside the conversation', JSON.stringify({ metadata: { image_url: { url } } })],
    ['an image by no data URL', message({ image_url: { url: payload } })],
  ])('counts %s as text', (_name, json) => {
    expect(read(json).size).toMatchObject({ encodedBytes: 0, media: [] });
    expect(read(json).size.maxTextTokens).toBeGreaterThan(payload.length / 2);
  });

  it('counts images of all protocols by type', () => {
    const parts = ['image', 'image_url', 'input_image', 'text', 'imagine'].map((type) => `{"type":"${type}"}`);
    const odd = String.raw`{"typ\u0065" : "im\u0061ge"}`;
    expect(read(`{"messages":[{"content":[${parts.join()},${odd}]}],"type2":"image"}`).size.images).toBe(4);
  });
});

describe('any document', () => {
  const spaced = (value: unknown): fc.Arbitrary<string> =>
    fc.constantFrom(undefined, 1, '\t', ' \r\n').map((indent) => JSON.stringify(value, undefined, indent));
  const members = fc.record(
    {
      model: fc.jsonValue(),
      stream: fc.jsonValue(),
      messages: fc.jsonValue(),
      stream_options: fc.oneof(fc.jsonValue(), fc.record({ include_usage: fc.jsonValue(), other: fc.jsonValue() })),
      other: fc.oneof(fc.jsonValue(), fc.string({ unit: 'binary', minLength: 40, maxLength: 200 })),
    },
    { requiredKeys: [] },
  );
  const documents = members.chain(spaced);

  it('is read like JSON.parse', () => {
    fc.assert(
      fc.property(documents, (json) => {
        const parsed = JSON.parse(json) as Record<string, unknown>;
        const fields = read(json);
        for (const name of ['model', 'stream', 'messages', 'stream_options']) {
          expect(fields.value(name)).toEqual(parsed[name]);
        }
        const options = parsed['stream_options'];
        const nested = isJsonObject(options) ? options['include_usage'] : undefined;
        expect(fields.value('stream_options.include_usage')).toEqual(nested);
      }),
      { numRuns: 500 },
    );
  });

  it('is rejected like JSON.parse, except for escapes in skipped strings', () => {
    const damaged = fc.tuple(documents, fc.nat(), fc.constantFrom('', '"', '{', ']', ',', ':', '\\', 'x', '\n', '0'));
    fc.assert(
      fc.property(damaged, ([json, position, damage]) => {
        const at = position % json.length;
        const text = json.slice(0, at) + damage + json.slice(at + 1);
        const isSkippedEscape = text.includes('\\');
        expect(isSkippedEscape || isObject(text) || isRefused(text)).toBe(true);
      }),
      { numRuns: 2_000 },
    );
  });

  it('is read alike in one piece and in many', () => {
    const cuts = fc.array(fc.nat(), { maxLength: 8 });
    fc.assert(
      fc.property(documents, cuts, (json, positions) => {
        const bytes = Buffer.from(json);
        const reader = new JsonReader(INTERESTS);
        const places = positions.map((position) => position % (bytes.length + 1)).toSorted((one, other) => one - other);
        for (const place of places) reader.next(bytes.subarray(0, place));
        const fields = reader.end({ bytes });
        expect(fields.size).toEqual(read(json).size);
        for (const path of ['', 'model', 'messages', 'stream_options.include_usage'])
          expect(fields.field(path)).toEqual(read(json).field(path));
      }),
      { numRuns: 500 },
    );
  });

  it('keeps all other bytes when members change', () => {
    fc.assert(
      fc.property(documents, (json) => {
        const fields = read(json);
        const edit = fields.assign('model', '"new"');
        const bytes = Buffer.from(json);
        const edited = Buffer.from(splice(bytes, [edit]));
        expect(edited.subarray(0, edit.start)).toEqual(bytes.subarray(0, edit.start));
        expect(edited.subarray(edit.start + edit.text.length)).toEqual(bytes.subarray(edit.end));
        expect(JSON.parse(edited.toString())).toEqual({ ...(JSON.parse(json) as object), model: 'new' });
      }),
      { numRuns: 500 },
    );
  });
});
