import { sourceOf, urlOf } from './conversation.js';

describe('sources of images and files', () => {
  it.each([
    ['https://a.example/b.png', { from: 'url', url: 'https://a.example/b.png' }],
    ['data:image/png;base64,AAAA', { from: 'data', mediaType: 'image/png', base64: 'AAAA' }],
    ['data:application/vnd.a+xml;base64,', { from: 'data', mediaType: 'application/vnd.a+xml', base64: '' }],
  ])('are what an address stands for, and the address of it again: %s', (url, source) => {
    expect(sourceOf(url)).toEqual(source);
    expect(urlOf(sourceOf(url)!)).toBe(url);
  });

  it('are read however a data URL is written', () => {
    expect(sourceOf('DATA:Text/Plain;charset=utf-8;BASE64,AAAA')).toEqual({
      from: 'data',
      mediaType: 'text/plain',
      base64: 'AAAA',
    });
  });

  it.each(['', 'AAAA', 'ftp://a.example', 'file:///etc/passwd', 'data:image/png,AAAA', 'data:;base64,AAAA'])(
    'are nothing else: %j',
    (url) => {
      expect(sourceOf(url)).toBeUndefined();
    },
  );
});
