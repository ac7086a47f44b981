import fc from 'fast-check';
import { countTokens as tokensIn } from 'gpt-tokenizer/encoding/o200k_base';
import { PHRASES } from '../../../test/support/prose.js';
import { likelyTokensIn, maxTokensIn } from './token-estimate.js';

const bound = (text: string): number => {
  const bytes = Buffer.from(text);
  // At even and odd positions.
  const shifted = Buffer.concat([Buffer.from('x'), bytes]);
  return Math.min(maxTokensIn(bytes, 0, bytes.length), maxTokensIn(shifted, 1, shifted.length));
};

const of = (alphabet: string, minLength = 200, maxLength = 2000): fc.Arbitrary<string> =>
  fc.string({ unit: fc.constantFrom(...alphabet), minLength, maxLength });
const range = (from: number, to: number): fc.Arbitrary<string> =>
  fc.string({
    unit: fc.integer({ min: from, max: to }).map((code) => String.fromCodePoint(code)),
    minLength: 200,
    maxLength: 600,
  });

const LOWER = 'abcdefghijklmnopqrstuvwxyz';
const UPPER = LOWER.toUpperCase();
const SIGNS = '!"#$%&()*+,-./:;<=>?@[]^_`{|}~';
const words = (alphabet: string, longest: number): fc.Arbitrary<string> =>
  fc.array(of(alphabet, 1, longest), { minLength: 60, maxLength: 300 }).map((list) => list.join(' '));

const KINDS: readonly (readonly [name: string, texts: fc.Arbitrary<string>])[] = [
  ['base64', of(`${LOWER}${UPPER}0123456789+/`)],
  ['hex', of('0123456789abcdef')],
  ['HEX', of('0123456789ABCDEF')],
  ['UUIDs', fc.array(fc.uuid(), { minLength: 10, maxLength: 50 }).map((list) => list.join('\n'))],
  ['digits', of('0123456789')],
  ['digits and signs', of('0123456789,.;:- ')],
  ['letters and digits in turn', of('a1')],
  ['words of rare letters', words('jkqvwxz', 8)],
  ['words of any letters', words(LOWER, 9)],
  ['capitals', words(UPPER, 9)],
  ['signs', of(SIGNS)],
  ['signs and spaces', of(`${SIGNS} `)],
  ['white space', of(' \t\n\r')],
  ['spaces and letters', of('  ab')],
  [
    'code',
    fc
      .array(fc.constantFrom('if (', 'x', ' => ', '{ ', 'const ', ');\n', 'i', '[0]', '  '), { minLength: 100 })
      .map((list) => list.join('')),
  ],
  ['JSON', fc.jsonValue({ maxDepth: 4 }).map((value) => JSON.stringify(value).repeat(5))],
  ['Latin letters', range(0xa0, 0x24f)],
  ['Greek', range(0x370, 0x3ff)],
  ['Cyrillic', range(0x400, 0x52f)],
  ['Hebrew', range(0x591, 0x5f4)],
  ['Arabic', range(0x600, 0x6ff)],
  ['scripts of India and Thai', range(0x900, 0xfff)],
  ['kana and signs', range(0x3000, 0x30ff)],
  ['Chinese', range(0x4e00, 0x9fff)],
  ['Korean', range(0xac00, 0xd7a3)],
  ['signs of Unicode', range(0x2000, 0x2bff)],
  ['emoji', range(0x1f300, 0x1faff)],
  ['rare scripts', range(0x10000, 0x1342f)],
  ['any text', fc.string({ unit: 'binary', minLength: 200, maxLength: 1000 })],
];

describe('maxTokensIn', () => {
  it('does not depend on where in memory the text is, except for odd positions', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 60 }), (text) => {
        const bytes = Buffer.from(text);
        const atTwo = Buffer.concat([Buffer.from('xx'), bytes]);
        expect(maxTokensIn(atTwo, 2, atTwo.length)).toBe(maxTokensIn(Buffer.concat([bytes]), 0, bytes.length));
      }),
    );
  });

  it.each(KINDS)("is at least the tokenizer's count of %s", (_name, texts) => {
    fc.assert(
      fc.property(texts, (text) => {
        // Short texts do not average out.
        expect(bound(text) + 2).toBeGreaterThanOrEqual(tokensIn(text));
      }),
      { numRuns: 60, seed: 21 },
    );
  });

  it('is at most one token per byte', () => {
    for (const text of ['a1,b2;', '誕生日', '𒀀𒀁', 'x'])
      expect(bound(text.repeat(99))).toBeLessThanOrEqual(Buffer.byteLength(text) * 99);
  });

  it('is about one token per two bytes of English', () => {
    const text = 'The committee will meet again on Thursday to discuss the findings of the report. '.repeat(20);
    expect(bound(text) / text.length).toBeCloseTo(0.55, 1);
  });

  it('counts text beyond any context window by size', () => {
    const bytes = Buffer.alloc(5 * 1024 * 1024, 'word ');
    const ofFirst = maxTokensIn(bytes, 0, 4 * 1024 * 1024);
    expect(maxTokensIn(bytes, 0, bytes.length)).toBe(ofFirst + 1024 * 1024);
  });
});

describe('likelyTokensIn', () => {
  it.each(PHRASES)("is close to the tokenizer's count of %s", (_name, phrase) => {
    const text = phrase.repeat(20);
    expect(likelyTokensIn(text) / tokensIn(text)).toBeGreaterThan(0.75);
    expect(likelyTokensIn(text) / tokensIn(text)).toBeLessThan(1.4);
  });
});
