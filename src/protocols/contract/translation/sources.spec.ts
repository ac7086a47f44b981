import { sourceOf, urlOf } from './conversation.js';

describe('media sources', () => {
  it.each([
    ['https://a.example/b.png', { from: 'url', url: 'https://a.example/b.png' }],
    ['data:image/png;base64,AAAA', { from: 'data', mediaType: 'image/png', base64: 'AAAA' }],
    ['data:application/vnd.a+xml;base64,', { from: 'data', mediaType: 'application/vnd.a+xml', base64: '' }],
  ])('round-trip through their URL: %s', (url, source) => {
    expect(sourceOf(url)).toEqual(source);
    expect(urlOf(sourceOf(url)!)).toBe(url);
  });

  it('accept every form of data URL', () => {
    expect(sourceOf('DATA:Text/Plain;charset=utf-8;BASE64,AAAA')).toEqual({
      from: 'data',
      mediaType: 'text/plain',
      base64: 'AAAA',
    });
  });

  it.each(['', 'AAAA', 'ftp://a.example', 'file:///etc/passwd', 'data:image/png,AAAA', 'data:;base64,AAAA'])(
    'reject %j',
    (url) => {
      expect(sourceOf(url)).toBeUndefined();
    },
  );
});
