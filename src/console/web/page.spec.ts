import { localPath } from './page.js';

describe('localPath', () => {
  it.each([
    ['/keys', '/keys'],
    ['/usage-logs/common?model=m&open=req_1#c-req_1', '/usage-logs/common?model=m&open=req_1#c-req_1'],
    ['/a/../keys', '/keys'],
  ])('goes on to %j', (text, path) => {
    expect(localPath(text)).toBe(path);
  });

  it.each([
    undefined,
    '',
    'keys',
    'https://elsewhere.example/',
    '//elsewhere.example/',
    '/\\elsewhere.example/',
    '/\t/elsewhere.example/',
    '/%09/../..//elsewhere.example',
    '\\\\elsewhere.example',
    'javascript:alert(1)',
    '/..//elsewhere.example/',
  ])('does not follow %j', (text) => {
    expect(localPath(text, '/home')).toBe('/home');
  });
});
