import { refusalOf } from '../../../test/support/calls.js';
import { AppError } from '../../platform/shared/index.js';
import { type JsonFields, JsonReader, readJsonFields } from './json-fields.js';
import { jsonInterests } from './json-members.js';

const INTERESTS = jsonInterests(
  'model',
  'tools[].type',
  'tools[].model',
  'models[]',
  'reasoning.effort',
  'reasoning.*',
  '*',
);

const read = (json: string): JsonFields => readJsonFields(Buffer.from(json), INTERESTS);

/** Kind and decoded members of each element. */
const elementsIn = (json: string, path: string): unknown => {
  const fields = read(json);
  return fields
    .elements(path)
    .map(({ field, members }) => [
      field.kind,
      Object.fromEntries([...members].map(([name, member]) => [name, fields.decoded(member, name)])),
    ]);
};

describe('array elements', () => {
  it('are found with their members, in order', () => {
    const json = '{"tools":[{"type":"a","x":{"type":"no"}},{"model":"m","type":"b"},{}]}';
    expect(elementsIn(json, 'tools[]')).toEqual([
      ['object', { 'tools[].type': 'a' }],
      ['object', { 'tools[].type': 'b', 'tools[].model': 'm' }],
      ['object', {}],
    ]);
  });

  it('may be other values than objects', () => {
    expect(elementsIn('{"models":["a",{"model":"b"},["c"],null,1]}', 'models[]')).toEqual(
      ['string', 'object', 'array', 'null', 'number'].map((kind) => [kind, {}]),
    );
  });

  it('have positions in the body', () => {
    const json = '{"models": [ "a" , {"b":1} ]}';
    const places = read(json)
      .elements('models[]')
      .map(({ field: { start, end } }) => json.slice(start, end));
    expect(places).toEqual(['"a"', '{"b":1}']);
  });

  it('are not read from nested arrays and other values', () => {
    expect(elementsIn('{"tools":[[{"type":"a"}]]}', 'tools[]')).toEqual([['array', {}]]);
    expect(elementsIn('{"x":{"tools":[{"type":"a"}]}}', 'tools[]')).toEqual([]);
    for (const value of ['{"type":"a"}', '"a"', 'null', '[]'])
      expect(elementsIn(`{"tools":${value}}`, 'tools[]')).toEqual([]);
  });

  it('do not add members to the document', () => {
    const fields = read('{"tools":[{"type":"a"}],"model":"m"}');
    expect([fields.has('tools[].type'), fields.value('model')]).toEqual([false, 'm']);
  });

  it.each([
    ['twice', '{"tools":[{"type":"a","type":"b"}]}'],
    ['twice, once with escapes', String.raw`{"tools":[{"type":"a","typ\u0065":"b"}]}`],
    ['in another case', '{"tools":[{"Type":"a"}]}'],
  ])('reject a member that is %s', (_, json) => {
    expect(refusalOf(() => read(json))).toMatchObject({ details: { param: 'tools[].type' } });
  });

  it('are read to the end of the longest list', () => {
    const list = (count: number): string => `{"models":[${'{},'.repeat(count - 1)}"last"]}`;
    const fields = read(list(100_000));
    expect(fields.text(fields.elements('models[]')[99_999]!.field)).toBe('"last"');
    expect(refusalOf(() => read(list(100_001)))).toMatchObject({ details: { param: 'models' } });
  });

  it('may all have the same member', () => {
    expect(() => read('{"tools":[{"type":"a"},{"type":"a"}]}')).not.toThrow();
  });

  it('are read alike from chunks', () => {
    const json = String.raw`{"tools":[{"typ\u0065":"a"},{"model":"m"}],"models":["x",{"y":[1]}],"novel":1}`;
    const reported = (fields: JsonFields): unknown => [
      fields.elements('tools[]'),
      fields.elements('models[]'),
      fields.others,
    ];
    const whole = reported(read(json));
    for (let cut = 0; cut <= json.length; cut += 1) {
      const reader = new JsonReader(INTERESTS);
      for (const end of [cut, json.length]) reader.next(Buffer.from(json).subarray(0, end));
      expect(reported(reader.end({ bytes: Buffer.from(json) }))).toEqual(whole);
    }
  });
});

describe('collecting unknown members', () => {
  it('lists uninterpreted members by path', () => {
    const json =
      '{"model":"m","novel":1,"reasoning":{"effort":"low","depth":2},"tools":[{"type":"a","x":1}],"y":{"z":1}}';
    expect(read(json).others).toEqual(['novel', 'reasoning.depth', 'y']);
  });

  it('decodes escaped names', () => {
    expect(read(String.raw`{"nov\u0065l":1}`).others).toEqual(['novel']);
  });

  it('collects at most 32 names of at most 64 bytes', () => {
    const many = Array.from({ length: 100 }, (_, index) => `"x${index}":1`).join();
    expect(read(`{${many}}`).others).toHaveLength(32);
    expect(read(`{"${'x'.repeat(64)}":1,"${'y'.repeat(65)}":1}`).others).toEqual(['x'.repeat(64)]);
  });

  it('collects nothing unless requested', () => {
    const fields = readJsonFields(Buffer.from('{"novel":1,"reasoning":{"x":1}}'), jsonInterests('reasoning.effort'));
    expect(fields.others).toEqual([]);
  });

  it('accepts duplicate names', () => {
    expect(() => read('{"novel":1,"novel":2}')).not.toThrow(AppError);
  });
});
