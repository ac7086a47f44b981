import { cpuMs, LINEAR_MS } from '../../../../test/support/timing.js';
import { RawJson } from './json-tree.js';
import { objectSchema, withoutRootCombinators } from './tool-schema.js';

const merged = (text: string): unknown => withoutRootCombinators(new RawJson(text));

describe('tool schemas', () => {
  it.each([
    [undefined, '{"type":"object","properties":{}}'],
    ['{}', '{"type":"object","properties":{}}'],
    ['{"type":null,"properties":{"a":true}}', '{"type":"object","properties":{"a":true}}'],
    ['{"type":"object"}', '{"type":"object","properties":{}}'],
    [
      '{"$schema":"s","type":"object","$id":"i","properties":{"10":{"$id":1.0},"2":{}}}',
      '{"type":"object","properties":{"10":{"$id":1.0},"2":{}}}',
    ],
  ])('makes an object with properties of %s (case 59)', (text, expected) => {
    expect(objectSchema(text === undefined ? undefined : new RawJson(text)).text).toBe(expected);
  });

  it('keeps object schemas as written', () => {
    const schema = new RawJson('{ "properties" : {"b":{}, "a":1e2}, "type":"object" }');
    expect(objectSchema(schema)).toBe(schema);
  });

  it('does not merge without root combinators', () => {
    expect(merged('{"type":"object","properties":{"a":{"anyOf":[{},{}]}}}')).toBeUndefined();
  });

  it('merges alternatives: all properties, commonly required ones (case 59)', () => {
    const text =
      '{"type":"object","properties":{"x":{"10":1,"2":2}},"required":["x"],"anyOf":[{"properties":{"kind":{"const":"a"},"n":{}},"required":["kind","n"]},{"$ref":"#/$defs/B"}],"$defs":{"B":{"properties":{"kind":{"const":"b"},"x":false},"required":["kind"]}}}';
    expect(withoutRootCombinators(new RawJson(text))).toEqual({
      schema: new RawJson(
        '{"type":"object","$defs":{"B":{"properties":{"kind":{"const":"b"},"x":false},"required":["kind"]}},"properties":{"x":{"10":1,"2":2},"kind":{"anyOf":[{"const":"a"},{"const":"b"}]},"n":{}},"required":["x","kind"]}',
      ),
      note: 'The arguments must also match at least one of: {"properties":{"kind":{"const":"a"},"n":{}},"required":["kind","n"]} {"$ref":"#/$defs/B"}',
    });
  });

  it('requires all of an allOf, without a note', () => {
    const text = '{"allOf":[{"properties":{"a":{}},"required":["a"]},{"properties":{"a":{}},"required":["b"]}]}';
    expect(withoutRootCombinators(new RawJson(text))).toEqual({
      schema: new RawJson('{"properties":{"a":{}},"required":["a","b"]}'),
      note: undefined,
    });
  });

  it('parses definitions once for any number of references', () => {
    const names = Array.from({ length: 3000 }, (_, index) => `D${index}`);
    const branches = names.map((name) => `{"$ref":"#/$defs/${name}"}`);
    const definitions = names.map((name) => `"${name}":{"properties":{"${name}":{}},"required":["id"]}`);
    const json = new RawJson(`{"anyOf":[${branches.join(',')}],"$defs":{${definitions.join(',')}}}`);
    expect(cpuMs(() => withoutRootCombinators(json))).toBeLessThan(LINEAR_MS);
    const { schema } = withoutRootCombinators(json)!;
    expect(Object.keys(schema.value['properties'] as object)).toEqual(names);
    expect(schema.value['required']).toEqual(['id']);
  });

  it('terminates on cyclic references', () => {
    const text = '{"oneOf":[{"$ref":"#/$defs/A"}],"$defs":{"A":{"required":["a"],"anyOf":[{"$ref":"#/$defs/A"}]}}}';
    expect(merged(text)).toMatchObject({ note: expect.stringContaining('exactly one of') as string });
  });
});
