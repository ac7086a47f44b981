/** What nobody means to send: values as JSON text, texts of fields, headers, and pieces of addresses. */

import fc from 'fast-check';

const DEPTH = 10_000;

/** As they stand in a body; some are no JSON. */
const ODD_JSON: readonly string[] = [
  'null',
  'true',
  '""',
  '" "',
  '[]',
  '{}',
  '[[]]',
  '[null]',
  '0',
  '-0',
  '-1',
  '0.1',
  '1e999',
  '1e-400',
  '9007199254740993',
  '1'.repeat(2000),
  '01',
  '+1',
  'NaN',
  'undefined',
  "'single'",
  String.raw`"\ud83d"`,
  String.raw`"\udc00\ud800"`,
  String.raw`"a\u0000b"`,
  '"a\0b"',
  '"a\nb"',
  String.raw`"\x"`,
  String.raw`"\u12"`,
  '"unended',
  `"${'m'.repeat(5000)}"`,
  '['.repeat(DEPTH) + ']'.repeat(DEPTH),
  '{"a":'.repeat(DEPTH) + '1' + '}'.repeat(DEPTH),
  '{"a":'.repeat(DEPTH),
  '"\u2028\ufeff"',
  '{"__proto__":{"polluted":true},"constructor":{"prototype":{}}}',
  '{"type":"text","type":"image","text":1}',
  '[{"type":"image"},{"role":null,"content":[[[]]]}]',
  '[{"type":"text","text":null}]',
  '{"type":[],"effort":1,"budget_tokens":"x"}',
  '{"include_usage":true,"include_usage":false}',
  '"data:image/png;base64,%%%"',
  '"file:///etc/passwd"',
  '"http://169.254.169.254/latest"',
];

export const oddJson: fc.Arbitrary<string> = fc.oneof(
  { weight: 3, arbitrary: fc.constantFrom(...ODD_JSON) },
  { weight: 1, arbitrary: fc.json({ maxDepth: 3 }) },
);

/** What people and scanners put into fields, queries and paths. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '0',
    '-1',
    '1e999',
    '99999999999999999999',
    'null',
    'undefined',
    '\0',
    'a\0b',
    '\ud83d',
    '\r\nset-cookie: a=b',
    '\u202e\u2028',
    '<script>alert(1)</script>',
    "' OR 1=1 --",
    '%',
    '%00',
    '%zz',
    '%_%',
    '../../etc/passwd',
    '=1+1',
    '{{7*7}}',
    '2026-02-30',
    '+275760-09-13T00:00:00Z',
    '-271821-04-20',
    '0001-01-01',
    'Infinity',
    '１２',
    'x'.repeat(5000),
    'é'.repeat(300),
    '[object Object]',
    '__proto__',
    'req_019a9d3c4d5e7abc89abcdef01234567',
    'key_019a9d3c4d5e7abc89abcdef01234567',
    'resp_019a9d3c4d5e7abc89abcdef01234567',
  ),
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
);

/** Texts in a query or a form, well escaped or not at all. */
export const oddEscaped: fc.Arbitrary<string> = fc.oneof(
  oddText.map((text) => new URLSearchParams({ x: text }).toString().slice(2)),
  fc.constantFrom(
    '%00',
    '%ff',
    '%c3%28',
    '%ed%a0%80',
    '%',
    '%zz',
    '%u0041',
    '+',
    '%2e%2e%2f',
    '%0d%0aa:b',
    '%25%30%30',
  ),
);

/** Names and values that may stand in a request, whatever they mean. */
export const oddHeaders: fc.Arbitrary<string[]> = fc
  .array(
    fc.tuple(
      fc.constantFrom(
        'content-type',
        'content-encoding',
        'accept',
        'accept-encoding',
        'anthropic-version',
        'anthropic-beta',
        'openai-beta',
        'idempotency-key',
        'x-relay-strict',
        'x-forwarded-for',
        'origin',
        'cookie',
        'if-none-match',
        'range',
        'expect',
        'x-odd',
        'traceparent',
      ),
      fc.oneof(
        fc.string({ unit: fc.constantFrom(...'abc/;=,*"\\ \u00e9'), maxLength: 30 }),
        fc.constantFrom('application/json', 'text/plain', 'multipart/form-data', 'x'.repeat(4000), 'gzip', 'br, zstd'),
        fc.constantFrom('deflate', 'application/json; charset=utf-16', 'bytes=0-', '100-continue', '*/*', '"', ','),
      ),
    ),
    { maxLength: 3 },
  )
  // The client waits for a word before it sends the body when it says so itself.
  .map((headers) => headers.filter(([name, value]) => name !== 'expect' || value === '100-continue').flat());
