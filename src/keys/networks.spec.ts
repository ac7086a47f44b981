import { NetworksNotPossible } from './api-key.errors.js';
import { Networks, networksOf } from './networks.js';

describe('Networks', () => {
  it.each([
    ['203.0.113.7', '203.0.113.7', true],
    ['203.0.113.7', '203.0.113.8', false],
    ['203.0.113.0/24', '203.0.113.255', true],
    ['203.0.113.0/24', '203.0.114.0', false],
    ['203.0.113.77/24', '203.0.113.9', true],
    ['0.0.0.0/0', '203.0.113.7', true],
    ['0.0.0.0/0', '2001:db8::1', false],
    ['2001:db8:1::/48', '2001:db8:1:ffff::9', true],
    ['2001:db8:1::/48', '2001:db8:2::9', false],
    ['2001:DB8::1', '2001:db8:0:0::1', true],
    ['::/0', '2001:db8::1', true],
    ['::/0', '203.0.113.7', false],
    ['::/0', '::ffff:203.0.113.7', false],
  ])('of %s: an address of %s is in it: %s', (network, address, inside) => {
    expect(new Networks([network]).includes(address)).toBe(inside);
  });

  it('match an IPv4 address in every notation', () => {
    const networks = new Networks(['203.0.113.0/24']);
    expect(['::ffff:203.0.113.7', '::FFFF:203.0.113.7'].map((ip) => networks.includes(ip))).toEqual([true, true]);
    expect(networks.includes('::ffff:203.0.114.7')).toBe(false);
    expect(new Networks(networksOf(['::ffff:203.0.113.7'])).includes('203.0.113.7')).toBe(true);
    expect(new Networks(networksOf(['::ffff:203.0.113.0/120'])).includes('203.0.113.9')).toBe(true);
  });

  it('match no invalid address, and ignore zones', () => {
    const networks = new Networks(['0.0.0.0/0', '::/0']);
    for (const text of ['', 'unknown', '203.0.113.7:4711', '_hidden', '203.0.113', '1'])
      expect(networks.includes(text)).toBe(false);
    expect(new Networks(['fe80::/10']).includes('fe80::1%eth0')).toBe(true);
  });

  it('match when any network matches', () => {
    const networks = new Networks(['203.0.113.7', '2001:db8::/32']);
    expect(['203.0.113.7', '2001:db8::1', '203.0.113.8'].map((ip) => networks.includes(ip))).toEqual([
      true,
      true,
      false,
    ]);
  });
});

describe('networksOf', () => {
  it('removes duplicates and normalizes', () => {
    expect(
      networksOf([' 203.0.113.7/32', '203.0.113.7', '2001:DB8::/32', '::ffff:192.0.2.0/120', '2001:db8::1/128']),
    ).toEqual(['203.0.113.7', '2001:db8::/32', '192.0.2.0/24', '2001:db8::1']);
    expect(networksOf([])).toEqual([]);
  });

  it.each([
    '',
    'office',
    '203.0.113',
    '203.0.113.256',
    '203.0.113.0/33',
    '203.0.113.0/',
    '203.0.113.0/-1',
    '203.0.113.0/24/8',
    '2001:db8::/129',
    '2001:db8:::1',
    '::ffff:192.0.2.0/24',
    'fe80::1%eth0',
    '010.0.0.1',
    '203.0.113.0 /24',
  ])('rejects %j, naming it', (text) => {
    expect(() => networksOf(['192.0.2.1', text])).toThrow(NetworksNotPossible);
    expect(() => networksOf([text])).toThrow(`“${text}” is not a network.`);
  });

  it('rejects more than 100 networks', () => {
    const many = Array.from({ length: 101 }, (_, index) => `10.0.0.${index}`);
    expect(networksOf(many.slice(1))).toHaveLength(100);
    expect(() => networksOf(many)).toThrow('Enter at most 100 networks.');
  });
});
