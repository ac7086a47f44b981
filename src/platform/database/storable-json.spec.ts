import { storableJson } from './batcher.js';

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
