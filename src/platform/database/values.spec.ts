import { compositeArray, storableJson, textArray } from './values.js';

describe('compositeArray', () => {
  it('encodes one row per object, in the order of the names, and null as empty', () => {
    const rows = [
      { id: 'a', count: 1, large: 9_007_199_254_740_993n, yes: true, none: null },
      { id: 'b', count: -2, large: 0n, yes: false, none: undefined },
    ];
    expect(compositeArray(['id', 'none', 'count', 'large', 'yes'], rows)).toBe(
      '{"(a,,1,9007199254740993,t)","(b,,-2,0,f)"}',
    );
  });

  it('writes an empty array, and rows whose first field is null', () => {
    expect(compositeArray(['id'], [])).toBe('{}');
    expect(compositeArray(['id', 'name'], [{ id: null, name: 'x' }])).toBe('{"(,x)"}');
  });

  it('distinguishes empty text from null', () => {
    expect(compositeArray(['id', 'name'], [{ id: '', name: null }])).toBe(String.raw`{"(\"\",)"}`);
  });

  it('escapes special characters, for the row and for the array', () => {
    const of = (text: string): string => compositeArray(['text'], [{ text }]);
    expect(of('a,b')).toBe(String.raw`{"(\"a,b\")"}`);
    expect(of('(a)')).toBe(String.raw`{"(\"(a)\")"}`);
    expect(of(' a')).toBe(String.raw`{"(\" a\")"}`);
    expect(of('a"b')).toBe(String.raw`{"(\"a\\\"b\")"}`);
    expect(of('a\\b')).toBe(String.raw`{"(\"a\\\\b\")"}`);
    expect(of('{a}')).toBe('{"({a})"}');
  });

  it('removes NUL', () => {
    expect(compositeArray(['text'], [{ text: 'a\0b' }])).toBe(String.raw`{"(\"ab\")"}`);
  });
});

describe('textArray', () => {
  it('escapes quotation marks and backslashes, and keeps null', () => {
    expect(textArray(['{"a":"b\\n"}', null, 'NULL', ''])).toBe(String.raw`{"{\"a\":\"b\\n\"}",NULL,"NULL",""}`);
    expect(textArray([])).toBe('{}');
  });
});

describe('storableJson', () => {
  it('removes NUL and replaces lone surrogates', () => {
    expect(storableJson(JSON.stringify({ text: 'a\0b\ud800c', list: ['\0'] }))).toBe(
      '{"text":"ab\ufffdc","list":[""]}',
    );
  });

  it('keeps escaped text and surrogate pairs', () => {
    for (const value of [{ text: String.raw`\u0000 \ud800` }, { text: '😀' }]) {
      expect(JSON.parse(storableJson(JSON.stringify(value)))).toEqual(value);
    }
    expect(storableJson(String.raw`{"text":"\ud83d\ude00"}`)).toBe('{"text":"😀"}');
  });
});
