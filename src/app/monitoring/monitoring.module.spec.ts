import { Secret } from '../../platform/shared/index.js';
import { isLocal, hasToken } from './monitoring.module.js';

const from = (
  remoteAddress: string | undefined,
  headers: Record<string, string> = {},
): Parameters<typeof isLocal>[0] => ({
  headers,
  raw: { socket: { ...(remoteAddress !== undefined && { remoteAddress }) } },
});

describe('access to metrics', () => {
  it.each(['127.0.0.1', '127.8.9.1', '::1', '::ffff:127.0.0.1'])('treats %s as local', (address) => {
    expect(isLocal(from(address, { host: 'localhost:3000', 'user-agent': 'Prometheus' }))).toBe(true);
  });

  it.each(['10.0.0.1', '::ffff:10.0.0.1', '128.0.0.1', 'fe80::1', '2001:db8::1', undefined])(
    'is not on this machine at %s',
    (address) => expect(isLocal(from(address))).toBe(false),
  );

  it.each([
    'forwarded',
    'via',
    'x-forwarded-for',
    'x-forwarded-proto',
    'x-forwarded-anything',
    'x-forwarded',
    'x-real-ip',
    'x-client-ip',
    'true-client-ip',
    'cf-connecting-ip',
    'fastly-client-ip',
  ])('treats requests with %s as forwarded', (name) => {
    expect(isLocal(from('127.0.0.1', { [name]: '' }))).toBe(false);
  });

  it('requires the token as a bearer token', () => {
    const token = new Secret('a token of sixteen or more'.replaceAll(' ', '-'));
    const shown = (authorization?: string): boolean =>
      hasToken({ headers: authorization === undefined ? {} : { authorization } }, token);
    expect([shown(`Bearer ${token.reveal()}`), shown(`bearer  ${token.reveal()}`)]).toEqual([true, true]);
    for (const wrong of [
      undefined,
      '',
      'Bearer',
      `Basic ${token.reveal()}`,
      token.reveal(),
      `Bearer ${token.reveal()}x`,
    ])
      expect(shown(wrong)).toBe(false);
  });
});
