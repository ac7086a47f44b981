import { type KnownKey, MAX_NETWORKS, newNetworks, type NetworkUse } from './key-networks.repository.js';
import { networkOfAddress } from './key-watch.js';

const DAY_MS = 86_400_000;
const NOW = new Date('2026-11-20T12:00:00Z');
const daysAgo = (days: number): Date => new Date(NOW.getTime() - days * DAY_MS);

const aKey = (overrides: Partial<KnownKey> = {}): KnownKey => ({
  accountId: 'acc_1',
  watched: true,
  networks: 1,
  since: daysAgo(10),
  ...overrides,
});
const aUse = (overrides: Partial<NetworkUse> = {}): NetworkUse => ({
  keyId: 'key_1',
  network: '203.0.113.0/24',
  address: '203.0.113.7',
  firstAt: NOW,
  lastAt: NOW,
  ...overrides,
});
/** Networks that are remembered, with an exclamation mark those that are told of. */
const learnt = (uses: readonly NetworkUse[], key: KnownKey): string[] =>
  newNetworks(uses, key, NOW).map(({ use, notified }) => `${use.network}${notified ? '!' : ''}`);

describe('newNetworks', () => {
  it('reports a network when the key has been used elsewhere for three days', () => {
    expect(learnt([aUse()], aKey())).toEqual(['203.0.113.0/24!']);
    expect(learnt([aUse()], aKey({ since: daysAgo(3) }))).toEqual(['203.0.113.0/24!']);
  });

  it.each([
    ['the key was never used before', aKey({ since: undefined, networks: 0 })],
    ['the key was first used less than three days before', aKey({ since: daysAgo(2.999) })],
    ['the key is not watched', aKey({ watched: false })],
  ])('learns a network without a notice when %s', (_, key) => {
    expect(learnt([aUse()], key)).toEqual(['203.0.113.0/24']);
  });

  it('learns a network without a notice when it is found a day late', () => {
    expect(learnt([aUse({ firstAt: daysAgo(1.001) })], aKey())).toEqual(['203.0.113.0/24']);
    expect(learnt([aUse({ firstAt: daysAgo(0.999) })], aKey())).toEqual(['203.0.113.0/24!']);
  });

  it('orders networks by first use, not by discovery', () => {
    const old = aUse({ network: '198.51.100.0/24', firstAt: daysAgo(20) });
    expect(learnt([aUse(), old], aKey({ since: undefined, networks: 0 }))).toEqual([
      '198.51.100.0/24',
      '203.0.113.0/24!',
    ]);
  });

  it('neither reports nor stores networks beyond the maximum', () => {
    expect(learnt([aUse()], aKey({ networks: MAX_NETWORKS }))).toEqual([]);
    const two = [aUse({ network: 'b' }), aUse({ network: 'a', firstAt: daysAgo(0.5) })];
    expect(learnt(two, aKey({ networks: MAX_NETWORKS - 1 }))).toEqual(['a!']);
  });
});

describe('networkOfAddress', () => {
  it.each([
    ['203.0.113.7', '203.0.113.0/24'],
    ['::ffff:203.0.113.7', '203.0.113.0/24'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:db8::1', '2001:db8:0:0::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
    ['', undefined],
  ])('%s is %s', (address, network) => {
    expect(networkOfAddress(address)).toBe(network);
  });
});
