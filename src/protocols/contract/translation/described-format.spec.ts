import { describeFormat } from './tool-schema.js';
import { RawJson } from './json-tree.js';

describe('a format in words', () => {
  it('says what the answer is to be, and the schema as it was written (case 118)', () => {
    expect(describeFormat({ kind: 'text' })).toBeUndefined();
    expect(describeFormat({ kind: 'json' })).toContain('single JSON object and nothing else');
    const schema = new RawJson('{ "type": "object" }');
    expect(describeFormat({ kind: 'schema', schema })).toMatch(
      /single JSON value and nothing else.*\n\{ "type": "object" \}$/s,
    );
  });
});
