import { JsonReader } from './json-fields.js';
import { jsonInterests } from './json-interests.js';
import { splice } from './json-splice.js';
import { sealEdits } from './seal-edits.js';

const without = (body: string): string => {
  const bytes = Buffer.from(body);
  const reader = new JsonReader(jsonInterests());
  for (let seen = 1; seen < bytes.length; seen += 7) reader.next(bytes.subarray(0, seen));
  return Buffer.from(splice(bytes, sealEdits(bytes, reader.end({ bytes }).sealed))).toString();
};
const SEALED = '{ "type": "thinking", "thinking": "a \\" } ]", "signature" : "rly1.abc.def" }';

describe('what this relay has sealed', () => {
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
  ])('is taken out with the object that carries it: %s', (body, expected) => {
    expect(without(body)).toBe(expected);
  });

  it.each([
    '{"model":"m","data":"rly1.a.b"}',
    '{"model":"m","stream_options":{"signature":"rly1.a.b"}}',
    '{"content":[{"type":"tool_use","input" : {"data":"rly1.a.b"}}]}',
  ])('stays where nothing could be left in its place: %s', (body) => {
    expect(without(body)).toBe(body);
  });

  it('is found in a body with very many of them, the first ones', () => {
    const body = Buffer.from(`{"x":[${Array.from({ length: 20_000 }).fill('{"data":"rly1.a"}').join(',')}]}`);
    const reader = new JsonReader(jsonInterests());
    expect(reader.end({ bytes: body }).sealed).toHaveLength(10_000);
  });

  it('is a text like any other where people write it', () => {
    const body = '{"messages":[{"content":"rly1.abc"},{"content":"say \\"signature\\": \\"rly1.x\\""},["rly1.x"]]}';
    expect(without(body)).toBe(body);
  });
});
