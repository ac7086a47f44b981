import { duplicateMember } from './json-members.js';

describe('duplicateMember', () => {
  it.each([
    ['{"a":1,"a":2}', 'a'],
    ['{"a":1,"A":2}', 'A'],
    [String.raw`{"id":"x","\u0069d":"y"}`, 'id'],
    ['{"b":{"c":[{"d":1,"d" : 2}]}}', 'd'],
  ])('finds the duplicate in %s', (json, name) => {
    expect(duplicateMember(json)).toBe(name);
  });

  it.each([
    '{"a":{"a":1},"b":[{"a":1},{"a":2}]}',
    String.raw`{"a":"\"a\":1,","b":"{\"a\":1"}`,
    '{"a":"a","b":["a","a"]}',
    '"a"',
    '[]',
  ])('finds none in %s', (json) => {
    expect(duplicateMember(json)).toBeUndefined();
  });
});
