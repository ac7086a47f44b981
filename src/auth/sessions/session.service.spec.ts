import { browserName, idleTime } from './session.service.js';

describe('browserName', () => {
  it.each([
    ['Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0', 'Firefox on Linux'],
    [
      'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 Chrome/141.0 Safari/537.36 Edg/141.0',
      'Edge on Windows',
    ],
    ['Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 Chrome/141.0 Mobile Safari/537.36', 'Chrome on Android'],
    [
      'Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1 Version/18.0 Safari/604.1',
      'Safari on iOS',
    ],
    ['Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15) AppleWebKit/605.1 Version/18.0 Safari/605.1', 'Safari on macOS'],
    ['curl/8.5.0', 'curl'],
    ['node', 'Another program'],
    ['', 'Another program'],
  ])('takes %j for %s', (userAgent, name) => {
    expect(browserName(userAgent)).toBe(name);
  });
});

describe('idle session timeout', () => {
  it.each([
    [1, '1 hour'],
    [24, '24 hours'],
    [36, '36 hours'],
    [48, '2 days'],
    [336, '14 days'],
  ])('of %i hours is displayed as %s', (hours, words) => {
    expect(idleTime(hours)).toBe(words);
  });
});
