import fc from 'fast-check';
import { type JsonEdit, removalEdits, splice, SplicedBody } from './call-body.js';
import { JsonReader } from './json-fields.js';
import { jsonInterests } from './json-members.js';

const spliced = (body: string, ...edits: JsonEdit[]): string =>
  Buffer.from(splice(Buffer.from(body), edits)).toString();

describe('SplicedBody', () => {
  it('returns the body itself without edits', () => {
    const body = Buffer.from('{}');
    expect(splice(body, [])).toBe(body);
  });

  it('applies edits in any order', () => {
    expect(spliced('abcdef', { start: 4, end: 5, text: 'E' }, { start: 0, end: 2, text: 'Ä' })).toBe('ÄcdEf');
  });

  it('keeps the order of insertions, before a replacement at the same position', () => {
    const edits = [
      { start: 1, end: 1, text: '1' },
      { start: 1, end: 1, text: '2' },
    ];
    expect(spliced('abc', { start: 1, end: 2, text: 'X' }, ...edits)).toBe('a12Xc');
  });

  it('passes unedited parts without copying, and knows its length', () => {
    const bytes = Buffer.alloc(6, 'abcdef');
    const body = new SplicedBody({ bytes }, [{ start: 2, end: 3, text: 'ÄÄ' }]);
    const pieces = body.pieces();
    expect(Buffer.concat(pieces).toString()).toBe('abÄÄdef');
    expect(body.length).toBe(Buffer.byteLength('abÄÄdef'));
    expect(pieces.filter(({ buffer }) => buffer === bytes.buffer)).toHaveLength(2);
    expect(Buffer.concat(new SplicedBody({ bytes }).pieces())).toEqual(bytes);
  });

  it.each([
    [
      [
        { start: 0, end: 3, text: '' },
        { start: 2, end: 4, text: '' },
      ],
    ],
    [[{ start: 5, end: 7, text: '' }]],
    [[{ start: 3, end: 2, text: '' }]],
  ])('rejects edits that overlap or leave the body: %j', (edits) => {
    expect(() => spliced('abcdef', ...edits)).toThrow(RangeError);
  });

  it('keeps every byte outside the edits', () => {
    const cuts = fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 10 });
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 200, maxLength: 200 }), cuts, fc.string(), (body, positions, text) => {
        const sorted = positions.toSorted((one, other) => one - other);
        const edits: JsonEdit[] = [];
        let expected = Buffer.alloc(0);
        let stored = 0;
        for (let index = 0; index + 1 < sorted.length; index += 2) {
          const [start = 0, end = 0] = sorted.slice(index, index + 2);
          edits.push({ start, end, text });
          expected = Buffer.concat([expected, body.subarray(stored, start), Buffer.from(text)]);
          stored = end;
        }
        expected = Buffer.concat([expected, body.subarray(stored)]);
        expect(Buffer.compare(splice(body, edits.toReversed()), expected)).toBe(0);
      }),
    );
  });
});

const without = (body: string): string => {
  const bytes = Buffer.from(body);
  const reader = new JsonReader(jsonInterests());
  for (let seen = 1; seen < bytes.length; seen += 7) reader.next(bytes.subarray(0, seen));
  return Buffer.from(splice(bytes, removalEdits(bytes, reader.end({ bytes }).sealed))).toString();
};
const SEALED = '{ "type": "thinking", "thinking": "a \\" } ]", "signature" : "rly1.abc.def" }';

describe('sealed reasoning', () => {
  it.each([
    [`{"content":[${SEALED}, {"text":"a"}]}`, '{"content":[ {"text":"a"}]}'],
    [`{"content":[{"text":"a"} , ${SEALED} ]}`, '{"content":[{"text":"a"}  ]}'],
    [`{"content":[{"a":1},${SEALED},{"b":2}]}`, '{"content":[{"a":1},{"b":2}]}'],
    [`{"content":[{"a":1},${SEALED},${SEALED}]}`, '{"content":[{"a":1}]}'],
    [`{"content":[${SEALED},${SEALED}]}`, '{"content":[]}'],
    ['{"input":[{"type":"reasoning","summary":[{"text":"s"}],"encrypted_content":"rly1.a.b"}]}', '{"input":[]}'],
    ['{"x":[{"type":"redacted_thinking","data":"rly1.a.b"},1]}', '{"x":[1]}'],
    ['{"input":[{"content":[{"data":"rly1.a.b"}],"encrypted_content":"rly1.c.d"},1]}', '{"input":[1]}'],
    ['{"input":[1,{"content":[{"data":"rly1.a.b"},2],"encrypted_content":"rly1.c.d"}]}', '{"input":[1]}'],
  ])('is removed with its object: %s', (body, expected) => {
    expect(without(body)).toBe(expected);
  });

  it.each([
    '{"model":"m","data":"rly1.a.b"}',
    '{"model":"m","stream_options":{"signature":"rly1.a.b"}}',
    '{"content":[{"type":"tool_use","input" : {"data":"rly1.a.b"}}]}',
  ])('stays where removal would be invalid: %s', (body) => {
    expect(without(body)).toBe(body);
  });

  it('is found up to the limit', () => {
    const body = Buffer.from(`{"x":[${Array.from({ length: 20_000 }).fill('{"data":"rly1.a"}').join(',')}]}`);
    const reader = new JsonReader(jsonInterests());
    expect(reader.end({ bytes: body }).sealed).toHaveLength(10_000);
  });

  it('is ignored in ordinary text', () => {
    const body = '{"messages":[{"content":"rly1.abc"},{"content":"say \\"signature\\": \\"rly1.x\\""},["rly1.x"]]}';
    expect(without(body)).toBe(body);
  });
});
