import { RawJson } from './json-tree.js';
import { describeFormat } from './tool-schema.js';

describe('describeFormat', () => {
  it('describes the format with the schema as written (case 118)', () => {
    expect(describeFormat({ kind: 'text' })).toBeUndefined();
    expect(describeFormat({ kind: 'json' })).toContain('single JSON object and nothing else');
    const schema = new RawJson('{ "type": "object" }');
    expect(describeFormat({ kind: 'schema', schema })).toMatch(
      /single JSON value and nothing else.*\n\{ "type": "object" \}$/s,
    );
  });
});
