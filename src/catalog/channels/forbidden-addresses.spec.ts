import { jest } from '@jest/globals';
import dns from 'node:dns';
import { isForbidden, lookupAllowed } from './forbidden-addresses.js';

const hostOf = (address: string): string => new URL(address).hostname;

describe('isForbidden', () => {
  it.each([
    'http://169.254.169.254/latest',
    'http://169.254.0.1',
    'http://2852039166',
    'http://0xa9fea9fe',
    'http://0251.0376.0251.0376',
    'http://169.254.43518',
    'http://[::ffff:169.254.169.254]',
    'http://[::ffff:a9fe:a9fe]',
    'http://[0:0:0:0:0:ffff:a9fe:a9fe]',
    'http://[::169.254.169.254]',
    'http://[64:ff9b::169.254.169.254]',
    'http://[2002:a9fe:a9fe::1]',
    'http://[fe80::1]',
    'http://[febf:ffff::1]',
    'http://[fd00:ec2::254]',
    'http://[fd00:0ec2:0::0254]',
    'http://[fd20:ce::254]',
    'http://0.0.0.0:8080',
    'http://0',
    'http://[::]:11434',
    'http://[::ffff:0.0.0.0]',
    'http://224.0.0.1',
    'http://239.255.255.250',
    'http://[ff02::1]',
    'http://255.255.255.255',
    'http://100.100.100.200',
    'http://168.63.129.16',
  ])('forbids %s', (address) => {
    expect(isForbidden(hostOf(address))).toBe(true);
  });

  it.each([
    'http://127.0.0.1:11434',
    'http://[::1]',
    'http://10.0.0.7',
    'http://172.16.3.4',
    'http://192.168.1.10',
    'http://[fd12:3456::1]',
    'http://[::ffff:127.0.0.1]',
    'http://100.64.0.1',
    'https://203.0.113.9',
    'https://[2001:db8::1]',
    'https://api.example.com',
    'http://169.254.169.254.example.com',
    'http://localhost',
  ])('allows %s', (address) => {
    expect(isForbidden(hostOf(address))).toBe(false);
  });

  it('forbids addresses with a zone', () => {
    expect(isForbidden('fe80::1%eth0')).toBe(true);
  });

  describe('of host names', () => {
    const resolvingTo = (...addresses: string[]): void => {
      const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }));
      jest
        .spyOn(dns, 'lookup')
        .mockImplementation(((_host: string, _options: object, done: typeof answered) =>
          done(null, found)) as unknown as typeof dns.lookup);
    };
    const answered = (_error: Error | null, _found: unknown): void => undefined;
    const lookUp = (all: boolean): Promise<unknown[]> =>
      new Promise((resolve) => lookupAllowed('relay.example', { all }, (...result) => resolve(result)));
    afterEach(() => jest.restoreAllMocks());

    it('excludes forbidden addresses from connections', async () => {
      resolvingTo('169.254.169.254', '10.0.0.7', 'fe80::1');
      expect(await lookUp(true)).toEqual([null, [{ address: '10.0.0.7', family: 4 }]]);
      expect(await lookUp(false)).toEqual([null, '10.0.0.7', 4]);
    });

    it('fails when no other address is left, without naming the host to clients', async () => {
      resolvingTo('169.254.169.254', '::ffff:169.254.169.254');
      for (const all of [true, false]) {
        const [error] = await lookUp(all);
        expect(error).toMatchObject({ kind: 'upstream_error', details: { failover: true } });
        expect((error as Error).message).not.toMatch(/relay\.example|169/);
      }
    });
  });
});
