import { bypassesProxy } from './upstream-pools.js';

const directly = (address: string, ...noProxy: string[]): boolean => bypassesProxy(new URL(address), noProxy);

describe('bypassesProxy', () => {
  it.each([
    ['https://api.example.com', 'example.com'],
    ['https://api.example.com', '.example.com'],
    ['https://api.example.com', '*.example.com'],
    ['https://example.com', 'example.com'],
    ['https://example.com', '.example.com'],
    ['https://example.com.', 'example.com'],
    ['https://api.example.com', '*'],
    ['https://api.example.com', 'api.example.com:443'],
    ['https://api.example.com:8443', 'example.com:8443'],
    ['https://10.1.2.3', '10.0.0.0/8'],
    ['https://10.1.2.3', '10.1.2.3'],
    ['https://[fd00::5]', 'fd00::/8'],
    ['https://[fd00::5]:8443', '[fd00::5]:8443'],
    ['https://[fd00::5]', '[fd00::5]'],
    ['https://[::ffff:10.1.2.3]', '10.0.0.0/8'],
  ])('bypasses the proxy for %s with NO_PROXY %s', (address, entry) =>
    expect(directly(address, 'other.example', entry)).toBe(true),
  );

  it.each([
    ['https://badexample.com', 'example.com'],
    ['https://example.com', '*.example.com'],
    ['https://example.com.evil.test', 'example.com'],
    ['https://api.example.com', 'api.example.com:8443'],
    ['https://api.example.com', '*:8443'],
    ['https://11.1.2.3', '10.0.0.0/8'],
    ['https://a10.example', '10.0.0.0/8'],
    ['https://[fe00::5]', 'fd00::/8'],
  ])('uses the proxy for %s with NO_PROXY %s', (address, entry) => expect(directly(address, entry)).toBe(false));

  it('always bypasses the proxy for the local host', () => {
    for (const address of ['https://localhost', 'https://127.0.0.1:8443', 'https://127.9.9.9', 'https://[::1]'])
      expect(directly(address)).toBe(true);
    expect(directly('https://api.example.com')).toBe(false);
  });
});
