import { JsonReader, readJsonFields } from './json-fields.js';
import { jsonInterests } from './json-members.js';

const INTERESTS = jsonInterests('model', 'models[]', 'messages');
const bodyWith = (name: string, count: number, element = '0'): Buffer =>
  Buffer.from(`{"model":"m","${name}":[${Array.from({ length: count }).fill(element).join(',')}]}`);
const invalid = (message: string) => expect.objectContaining({ kind: 'invalid_request', message });

describe('N2: limits of request structure', () => {
  it.each([
    ['messages', 100_000],
    ['input', 100_000],
    ['contents', 100_000],
    ['tools', 10_000],
    ['functions', 10_000],
  ])('rejects %s of more than %d elements by name', (name, max) => {
    expect(readJsonFields(bodyWith(name, max), INTERESTS).size.values).toBe(max + 3);
    expect(() => readJsonFields(bodyWith(name, max + 1), INTERESTS)).toThrow(
      invalid(`${name}: must have at most ${max} elements.`),
    );
  });

  it('counts object elements without nested values', () => {
    readJsonFields(bodyWith('tools', 5001, '{"a":[1,2]}'), INTERESTS);
    expect(() => readJsonFields(bodyWith('tools', 10_001, '{}'), INTERESTS)).toThrow(/tools/);
  });

  it('ignores objects of these names and nested members', () => {
    const members = Array.from({ length: 10_001 }, (_, index) => `"m${index}":0`).join(',');
    const elements = Array.from({ length: 10_001 }).fill('0').join(',');
    for (const body of [`{"tools":{${members}}}`, `{"x":{"tools":[${elements}]}}`])
      expect(readJsonFields(Buffer.from(body), INTERESTS).size.values).toBeGreaterThan(10_001);
  });

  it('rejects more than a million values', () => {
    readJsonFields(bodyWith('x', 999_997), INTERESTS);
    expect(() => readJsonFields(bodyWith('x', 999_998), INTERESTS)).toThrow(
      invalid('The request body has more than 1000000 JSON values.'),
    );
  });

  it('recognizes escaped names', () => {
    expect(() => readJsonFields(bodyWith('mess\\u0061ges', 100_001), INTERESTS)).toThrow(/messages: must have at most/);
  });

  it('rejects before the rest arrives', () => {
    const reader = new JsonReader(INTERESTS);
    const body = bodyWith('messages', 200_000);
    expect(() => reader.next(body.subarray(0, body.length / 2 + 100))).toThrow(/messages: must have at most/);
  });
});

describe('N2: searches in the whole body', () => {
  const inPieces = (text: string, size: number) => {
    const body = Buffer.from(text);
    const reader = new JsonReader(INTERESTS);
    for (let at = size; at < body.length; at += size) reader.next(body.subarray(0, at));
    return reader.end({ bytes: body });
  };

  it.each([
    ['{"a":[1],"b":{"type":"text"}}', undefined],
    ['{"b":{"cache_control":{"type":"ephemeral"}}}', '5m'],
    ['{"b":{"cache_control":{"ttl":"1h"}}}', '1h'],
    ['{"b":[{"c\\u0061che_control":{}}]}', '5m'],
    ['{"b":{"cache_control":{"ttl":"\\u0031h"}}}', '1h'],
    ['{"b":"\\"cache_control\\":{ \\u00e9","c":"1h"}', undefined],
  ])('find matches wherever chunks are cut: %s', (text, lifetime) => {
    for (let size = 1; size <= text.length; size++) expect(inPieces(text, size).size.cacheLifetime).toBe(lifetime);
  });
});
