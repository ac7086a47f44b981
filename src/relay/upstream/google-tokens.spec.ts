import { lastValueFrom, of, toArray } from 'rxjs';
import { jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { HeldClock } from '../../../test/support/held-clock.js';
import { eventually } from '../../../test/support/eventually.js';
import { ACCOUNT_EMAIL, aKeyFile, TokenService } from '../../../test/support/token-service.js';
import { readKeyFile } from '../../catalog/channels/index.js';
import { Config } from '../../platform/config/index.js';
import { Metrics } from '../../platform/metrics/index.js';
import type { Secret } from '../../platform/shared/index.js';
import { GoogleTokens } from './google-tokens.js';
import { UpstreamPools } from './upstream-pools.js';

const account = readKeyFile(aKeyFile());

describe('GoogleTokens', () => {
  let service: TokenService;
  let pools: UpstreamPools;
  let clock: HeldClock;
  let tokens: GoogleTokens;
  let sent: string[];

  beforeEach(async () => {
    service = await TokenService.start();
    pools = new UpstreamPools(Config.fromEnvironment({ SECRET_KEY: 'k'.repeat(32) }), new Metrics());
    clock = new HeldClock();
    tokens = Object.assign(new GoogleTokens(pools, clock), { endpoint: new URL(service.url) });
    sent = [];
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await pools.onApplicationShutdown();
    await service.close();
  });

  /** Statuses of the responses that are passed on. @param rejected tokens that the upstream does not accept */
  const call = (rejected: readonly string[] = [], caller = account): Promise<number[]> => {
    const send = (token: Secret) => {
      sent.push(token.reveal());
      return of(rejected.includes(token.reveal()) ? 401 : 200);
    };
    return lastValueFrom(tokens.authorize(caller, send, (status) => status === 401).pipe(toArray()));
  };

  it('signs an assertion for the scope of Google Cloud', async () => {
    await call();
    const issued = clock.now() / 1000;
    expect(service.requests).toEqual([
      {
        grant: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
        header: { alg: 'RS256', typ: 'JWT', kid: '0a1b2c3d4e5f' },
        claims: {
          iss: ACCOUNT_EMAIL,
          scope: 'https://www.googleapis.com/auth/cloud-platform',
          aud: 'https://oauth2.googleapis.com/token',
          iat: issued,
          exp: issued + 3600,
        },
        isSigned: true,
      },
    ]);
  });

  it('exchanges once for all calls, and once per account', async () => {
    await Promise.all([call(), call(), call()]);
    await call();
    expect(sent).toEqual(Array(4).fill('ya29.test-1'));
    await call([], readKeyFile(aKeyFile({ private_key_id: 'other' })));
    expect(service.requests).toHaveLength(2);
  });

  it('renews at 80 % of the lifetime without a call that waits', async () => {
    await call();
    clock.pass(3599 * 0.79);
    await call();
    expect(service.requests).toHaveLength(1);
    clock.pass(3599 * 0.02);
    await call();
    expect(sent.at(-1)).toBe('ya29.test-1');
    await eventually(async () => {
      await call();
      expect(sent.at(-1)).toBe('ya29.test-2');
    });
    expect(service.requests).toHaveLength(2);
  });

  it('keeps the token when it cannot be renewed, and tries again later', async () => {
    const warn = jest.spyOn(Logger.prototype, 'warn').mockReturnValue(undefined);
    await call();
    clock.pass(3599 * 0.85);
    service.respondNext({ status: 503, body: {} });
    await call();
    await eventually(() => expect(warn).toHaveBeenCalledTimes(1));
    expect(warn.mock.calls[0]?.[0]).toBe(
      `Failed to renew the access token of ${ACCOUNT_EMAIL}: token service, status 503`,
    );
    await call();
    expect([sent, service.requests.length]).toEqual([Array(3).fill('ya29.test-1'), 2]);
    clock.pass(31);
    await call();
    await eventually(() => expect(service.requests).toHaveLength(3));
  });

  it('waits for a new token when the old one is about to expire', async () => {
    await call();
    clock.pass(3599 * 0.96);
    await call();
    expect(sent).toEqual(['ya29.test-1', 'ya29.test-2']);
  });

  it('sends a request again with a new token when the upstream rejects a kept one', async () => {
    await call();
    expect(await call(['ya29.test-1'])).toEqual([200]);
    expect(sent).toEqual(['ya29.test-1', 'ya29.test-1', 'ya29.test-2']);
  });

  it('passes on a 401 to a new token', async () => {
    expect(await call(['ya29.test-1'])).toEqual([401]);
    expect(sent).toEqual(['ya29.test-1']);
    expect(await call(['ya29.test-1', 'ya29.test-2'])).toEqual([401]);
    expect(sent).toHaveLength(3);
  });

  it('fails with the reason of the token service for administrators only', async () => {
    const body = { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' };
    service.respondNext({ status: 400, body });
    await expect(call()).rejects.toMatchObject({
      kind: 'upstream_auth',
      message: "The provider rejected this service's credentials. Contact an administrator.",
      details: { failover: true, upstreamStatus: 400 },
      cause: { message: 'token service, status 400: invalid_grant: Invalid JWT Signature.' },
    });
    expect(sent).toEqual([]);
    await call();
    expect(sent).toEqual(['ya29.test-2']);
  });

  it.each([
    ['fails', { status: 500, body: {} }],
    ['redirects', { status: 302, body: {} }],
    ['sends no token', { status: 200, body: { expires_in: 3599 } }],
    ['sends a token that is no header', { status: 200, body: { access_token: 'a\r\nb: c', expires_in: 3599 } }],
    ['sends no lifetime', { status: 200, body: { access_token: 'ya29.x' } }],
    ['sends too much', { status: 200, body: { access_token: 'y'.repeat(70_000), expires_in: 3599 } }],
  ])('allows failover when the token service %s', async (_, response) => {
    service.respondNext(response);
    await expect(call()).rejects.toMatchObject({ kind: 'upstream_error', details: { failover: true } });
    expect(sent).toEqual([]);
  });

  it('does not connect to an address where no upstream may be', async () => {
    Object.assign(tokens, { endpoint: new URL('http://169.254.169.254/token') });
    await expect(call()).rejects.toMatchObject({
      kind: 'upstream_error',
      cause: { message: 'The upstream address is not allowed. Contact an administrator.' },
    });
  });
});
