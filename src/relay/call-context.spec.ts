import { cpuMs, LINEAR_MS } from '../../test/support/timing.js';
import { canonicalPath, withoutQueryKey } from './call-context.js';

describe('tolerated URL forms (case 108)', () => {
  const post = (url: string, headers = {}): string => canonicalPath(url, 'POST', headers);

  it.each([
    ['/v1/messages', '/v1/messages'],
    ['/messages', '/v1/messages'],
    ['/v1/v1/messages', '/v1/messages'],
    ['/v1/messages/', '/v1/messages'],
    ['/v1/v1/messages?beta=true', '/v1/messages?beta=true'],
    ['/v1/messages/v1/messages', '/v1/messages'],
    ['/v1/messages/messages', '/v1/messages'],
    ['/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/v1/messages/v1/messages/count_tokens', '/v1/messages/count_tokens'],
    ['/chat/completions', '/v1/chat/completions'],
    ['/v1/chat/completions/chat/completions', '/v1/chat/completions'],
    ['/v1/responses/v1/responses', '/v1/responses'],
    ['/v1/responses/resp_1', '/v1/responses/resp_1'],
    ['/v1/responses/resp_1/input_items', '/v1/responses/resp_1/input_items'],
    ['/v1/messages/v1/models', '/v1/models'],
    ['/models/vendor/m', '/v1/models/vendor/m'],
    ['/v1/models/vendor%2Fm', '/v1/models/vendor%2Fm'],
    ['/v1/models/messages', '/v1/models/messages'],
    ['/key', '/v1/key'],
    ['http://relay.example/messages?beta=true', '/v1/messages?beta=true'],
    ['/v1/models/100%zz', '/v1/models/100%25zz'],
    ['/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
    ['/v1/models/m:streamGenerateContent?alt=sse', '/v1beta/models/m:streamGenerateContent?alt=sse'],
    ['/v1/v1beta/models/m:countTokens/', '/v1beta/models/m:countTokens'],
    ['/v1beta/models/vendor/m:generateContent', '/v1beta/models/vendor%2Fm:generateContent'],
    ['/v1beta/models/vendor%2Fm:generateContent', '/v1beta/models/vendor%2Fm:generateContent'],
    ['/v1/v1alpha/models?pageSize=9', '/v1beta/models?pageSize=9'],
  ])('rewrites %s to %s', (url, expected) => {
    expect(post(url)).toBe(expected);
  });

  it.each(['/', '/v1', '/v1/', '/v1/v1'])('routes a POST to the base URL %s by its headers', (url) => {
    expect(post(url)).toBe('/v1');
    expect(post(url, { 'anthropic-version': '2023-06-01' })).toBe('/v1/messages');
    expect(post(url, { 'vendor-version': '2023-06-01' })).toBe('/v1/messages');
    expect(post(url, { 'x-api-key': 'sk' })).toBe('/v1/messages');
  });

  it.each(['/keys', '/wallet', '/v1/files', '/messages-archive', '/pricing/messages', '/health'])(
    'keeps %s unchanged',
    (url) => {
      expect(canonicalPath(url, 'GET', {})).toBe(url);
    },
  );

  it('rewrites / to the health endpoint unless the client accepts HTML', () => {
    const BROWSER = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
    expect(canonicalPath('/', 'GET', { accept: '*/*' })).toBe('/health');
    expect(canonicalPath('/?x=1', 'GET', {})).toBe('/health?x=1');
    expect(canonicalPath('/', 'HEAD', BROWSER)).toBe('/health');
    expect(canonicalPath('/?days=7', 'GET', BROWSER)).toBe('/?days=7');
    expect(canonicalPath('/keys', 'GET', {})).toBe('/keys');
  });

  it('handles long runs of slashes in linear time', () => {
    const url = `/${'/'.repeat(200_000)}x`;
    expect(cpuMs(() => canonicalPath(url, 'GET', {}))).toBeLessThan(LINEAR_MS);
  });
});

describe('a key in the query', () => {
  it.each([
    ['/v1beta/models?key=secret', '/v1beta/models', 'secret'],
    ['/v1beta/models/m:generateContent?alt=sse&key=a%2Bb&x=1', '/v1beta/models/m:generateContent?alt=sse&x=1', 'a+b'],
    ['/v1beta/models?key=secret&key=other', '/v1beta/models', 'secret'],
    ['/v1beta/models?key=', '/v1beta/models', undefined],
    ['/v1beta/models?keys=secret', '/v1beta/models?keys=secret', undefined],
    ['/v1/models?key=secret', '/v1/models?key=secret', undefined],
    ['/keys?key=secret', '/keys?key=secret', undefined],
  ])('of %s moves to the header', (url, rest, key) => {
    const headers = {};
    expect([withoutQueryKey(url, headers), headers]).toEqual([
      rest,
      key === undefined ? {} : { 'x-goog-api-key': key },
    ]);
  });

  it('does not replace a header that was sent', () => {
    const headers = { 'x-goog-api-key': 'sent' };
    expect(withoutQueryKey('/v1beta/models?key=secret', headers)).toBe('/v1beta/models');
    expect(headers).toEqual({ 'x-goog-api-key': 'sent' });
  });
});
