import { maskKeys } from './secret.js';

const KEY = `sk-${'0aZ'.repeat(16)}`;

describe('maskKeys', () => {
  it.each([
    [`/v1/${KEY}/models`, '/v1/sk-…'],
    [`/v1/models?key=${KEY}&limit=1`, '/v1/models?key=sk-…'],
    [`/v1/%73k%2D${KEY.slice(3)}`, '/v1/sk-…'],
    [`/v1/%73k-${KEY.slice(3)}/%zz`, '/v1/sk-…'],
    [`'/v1/${KEY}%zz' is not a valid url component`, "'/v1/sk-…"],
    ['/v1/sk-ant-api03-abcdefgh', '/v1/sk-…'],
  ])('masks the key in %s', (text, masked) => {
    expect(maskKeys(text)).toBe(masked);
  });

  it.each(['/v1/models/task-force-of-twelve', '/v1/chat/completions', '/v1/models/a%20b', 'Send "Bearer sk-…", once.'])(
    'leaves %s as it is',
    (text) => {
      expect(maskKeys(text)).toBe(text);
    },
  );
});
