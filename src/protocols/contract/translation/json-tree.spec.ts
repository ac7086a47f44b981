import fc from 'fast-check';
import { parseJsonTree, RawJson, writeJson } from './json-tree.js';

const NONE = new Set<string>();

describe('a JSON tree', () => {
  it('is what JSON.parse makes of any document', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonTree(text, NONE)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is written as JSON.stringify writes it', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(writeJson(parseJsonTree(JSON.stringify(value), NONE))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('keeps the text of the objects that are asked for: order, numbers, escapes, spaces', () => {
    const schema = '{ "b" : 9007199254740993, "10": {}, "2": {"x":"\\u2028 } \\" \\\\x {"}, "a": 1.0 }';
    const tree = parseJsonTree(`{"tools":[{"schema":${schema}}],"schema":"text"}`, new Set(['schema']));
    expect(tree).toMatchObject({ tools: [{ schema: new RawJson(schema) }], schema: 'text' });
    expect(writeJson(tree)).toBe(`{"tools":[{"schema":${schema}}],"schema":"text"}`);
  });

  it('takes white space of all kinds and names that objects have by nature', () => {
    const tree = parseJsonTree(' {\r\n\t"__proto__" : [ 1 , { } , [ ] ] , "toString" : null } ', NONE);
    expect(Object.keys(tree as object)).toEqual(['__proto__', 'toString']);
    expect(writeJson(tree)).toBe('{"__proto__":[1,{},[]],"toString":null}');
  });

  it.each([
    '',
    '{',
    '{"a"}',
    '{"a":}',
    '[1,]',
    '{"a":1,}',
    '"a',
    '{"a":1} x',
    '[1 2]',
    'nul',
    '{"raw":{"a":"}',
    String.raw`{"raw":{"a":"\x"}}`,
    String.raw`{"raw":{"a":"\\\u12"}}`,
  ])('is refused when the document is broken: %s', (text) => {
    expect(() => parseJsonTree(text, new Set(['raw']))).toThrow(SyntaxError);
  });

  it.each([
    ['lists', '['.repeat(1000), ']'.repeat(1000)],
    ['objects', '{"a":'.repeat(1000), '}'.repeat(1000)],
    ['objects within what is kept raw', '{"raw":'.repeat(1000), '}'.repeat(1000)],
    ['lists within what is kept raw', `{"raw":{"a":${'['.repeat(1000)}`, `${']'.repeat(1000)}}}`],
  ])('is refused when it is nested too deeply to be walked through: %s', (_, opening, closing) => {
    expect(() => parseJsonTree(`${opening}1${closing}`, new Set(['raw']))).toThrow(SyntaxError);
  });

  it('may be nested far deeper than anybody needs', () => {
    const text = `{"raw":{"a":${'['.repeat(400)}{}${']'.repeat(400)}}}`;
    expect(writeJson(parseJsonTree(text, new Set(['raw'])))).toBe(text);
  });

  it('leaves out what is undefined', () => {
    expect(writeJson({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}');
  });
});
