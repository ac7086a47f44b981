import { addressOf, networkOf } from './network.js';

describe('networkOf', () => {
  it.each([
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['::FFFF:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:0001:0002::1', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['2001:db8:0:0:1::', '2001:db8:0:0::/64'],
    ['::1', '0:0:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', ''],
  ])('returns the network of %j: %j', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });

  it('treats a /64 as one client', () => {
    const clients = ['2001:db8:1:2::1', '2001:db8:1:2:ffff::', '2001:db8:1:3::1'].map(networkOf);
    expect(clients[0]).toBe(clients[1]);
    expect(clients[2]).not.toBe(clients[0]);
  });
});

describe('addressOf', () => {
  const socket = { remoteAddress: '127.0.0.1' };

  it.each([
    ['203.0.113.9', '203.0.113.9'],
    ['203.0.113.9:50123', '203.0.113.9'],
    ['::ffff:203.0.113.9', '203.0.113.9'],
    ['2001:db8::7', '2001:db8::7'],
    ['[2001:db8::7]:50123', '2001:db8::7'],
    ['[2001:db8::7]', '2001:db8::7'],
  ])('parses %j as written by a trusted proxy: %j', (ip, address) => {
    expect(addressOf({ ip, socket })).toBe(address);
  });

  it.each(['', 'unknown', '_hidden', 'localhost', '203.0.113', '<script>', 'x'.repeat(9000), '203.0.113.9, 10.0.0.1'])(
    'uses the proxy address when the forwarded address is %j',
    (ip) => expect(addressOf({ ip, socket })).toBe('127.0.0.1'),
  );

  it('is empty for a disconnected client', () => {
    expect(addressOf({ ip: undefined, socket: {} })).toBe('');
  });
});
