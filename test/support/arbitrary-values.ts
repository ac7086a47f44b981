/** Random texts and JSON, with what breaks careless readers among it. */

import fc from 'fast-check';

const TROUBLE = ['\n\n', '\r\n', '\u2028', '"', '\\', 'data: [DONE]', '😀', '\u0000', '</think>', '%s', '{', ' '];

/** Never empty, never white space alone. */
export const anyText: fc.Arbitrary<string> = fc
  .array(fc.oneof(fc.string({ unit: 'grapheme', maxLength: 8 }), fc.constantFrom(...TROUBLE)), { maxLength: 4 })
  .map((pieces) => `a${pieces.join('')}z`);

/** JSON texts of objects as models write them: spaces anywhere, escapes, numbers that no double holds, names in no order. */
export const anyJsonObject: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '{}',
    '{"city":"Oslo"}',
    '{ "10": 1, "2": [ ] }',
    '{"n":9007199254740993,"f":1.0}',
    '{"s":"\\u2028\\ud83d"}',
  ),
  fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.stringify(value)),
  fc.dictionary(anyText, fc.jsonValue({ maxDepth: 2 }), { maxKeys: 3 }).map((value) => JSON.stringify(value, null, 1)),
);
