import fc from 'fast-check';
import { parseJsonTree, RawJson, writeJson } from './json-tree.js';

const NONE = new Set<string>();

describe('JSON trees', () => {
  it('equal JSON.parse for any document', () => {
    fc.assert(
      fc.property(fc.json(), (text) => {
        expect(parseJsonTree(text, NONE)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('serialize like JSON.stringify', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(writeJson(parseJsonTree(JSON.stringify(value), NONE))).toBe(JSON.stringify(value));
      }),
    );
  });

  it('keep raw objects as text: order, numbers, escapes, spaces', () => {
    const schema = '{ "b" : 9007199254740993, "10": {}, "2": {"x":"\\u2028 } \\" \\\\x {"}, "a": 1.0 }';
    const tree = parseJsonTree(`{"tools":[{"schema":${schema}}],"schema":"text"}`, new Set(['schema']));
    expect(tree).toMatchObject({ tools: [{ schema: new RawJson(schema) }], schema: 'text' });
    expect(writeJson(tree)).toBe(`{"tools":[{"schema":${schema}}],"schema":"text"}`);
  });

  it('accept all white space and names of prototype members', () => {
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
  ])('reject a malformed document: %s', (text) => {
    expect(() => parseJsonTree(text, new Set(['raw']))).toThrow(SyntaxError);
  });

  it.each([
    ['lists', '['.repeat(1000), ']'.repeat(1000)],
    ['objects', '{"a":'.repeat(1000), '}'.repeat(1000)],
    ['objects within what is kept raw', '{"raw":'.repeat(1000), '}'.repeat(1000)],
    ['lists within what is kept raw', `{"raw":{"a":${'['.repeat(1000)}`, `${']'.repeat(1000)}}}`],
  ])('reject a document nested too deeply: %s', (_, opening, closing) => {
    expect(() => parseJsonTree(`${opening}1${closing}`, new Set(['raw']))).toThrow(SyntaxError);
  });

  it('accept realistic nesting', () => {
    const text = `{"raw":{"a":${'['.repeat(400)}{}${']'.repeat(400)}}}`;
    expect(writeJson(parseJsonTree(text, new Set(['raw'])))).toBe(text);
  });

  it('omit undefined members', () => {
    expect(writeJson({ a: undefined, b: 1, c: undefined })).toBe('{"b":1}');
  });
});
