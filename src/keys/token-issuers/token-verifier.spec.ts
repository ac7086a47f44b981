import { exportJWK } from 'jose';
import type { ProviderHttp } from '../../auth/index.js';
import { HeldClock } from '../../../test/support/held-clock.js';
import {
  type Claims,
  encoded,
  hmacToken,
  type IssuerKey,
  issuerKey,
  tokenOf,
  unsignedToken,
} from '../../../test/support/token-issuer.js';
import { IssuerKeys, IssuerKeyTimings } from './issuer-keys.js';
import type { TokenIssuer } from './token-issuer.js';
import type { TokenIssuers } from './token-issuers.service.js';
import { isToken, TokenVerifier } from './token-verifier.js';

const ISSUER = 'https://login.acme.example';
const HOUR = 3600;

const anIssuer = (overrides: Partial<TokenIssuer> = {}): TokenIssuer => ({
  id: 'iss_1',
  name: 'Acme',
  issuer: ISSUER,
  jwksUri: `${ISSUER}/keys`,
  audience: 'relay',
  algorithms: ['ES256', 'RS256', 'PS256', 'EdDSA'],
  requiredClaims: [],
  maxLifetimeHours: 24,
  holder: 'service',
  matchedBy: undefined,
  claim: 'sub',
  organizationId: 'acc_1',
  teamId: undefined,
  revision: 1,
  ...overrides,
});

describe('TokenVerifier', () => {
  let key: IssuerKey;
  let clock: HeldClock;
  let issuers: TokenIssuer[];
  let published: unknown[];
  let fetches: string[];
  let failure: number | undefined;
  let verifier: TokenVerifier;

  beforeAll(async () => {
    key = await issuerKey();
  });
  beforeEach(() => {
    clock = new HeldClock();
    issuers = [anIssuer()];
    published = [key.jwk];
    fetches = [];
    failure = undefined;
    const fetch = (address: string): Promise<Response> => {
      fetches.push(address);
      const isMetadata = address.endsWith('/.well-known/openid-configuration');
      const body = isMetadata ? { issuer: ISSUER, jwks_uri: `${ISSUER}/found` } : { keys: published };
      return Promise.resolve(Response.json(body, { status: failure ?? 200 }));
    };
    const stored = {
      current: (id: string) => issuers.find((one) => one.id === id),
      ofIssuer: (issuer: string) => issuers.filter((one) => one.issuer === issuer),
    };
    const keys = new IssuerKeys({ fetch } as Partial<ProviderHttp> as ProviderHttp, clock, new IssuerKeyTimings());
    verifier = new TokenVerifier(stored as Partial<TokenIssuers> as TokenIssuers, keys, clock);
  });

  const now = (): number => clock.now() / 1000;
  const claims = (changes: Claims = {}): Claims => ({
    iss: ISSUER,
    aud: 'relay',
    sub: 'ci',
    iat: now(),
    exp: now() + 300,
    ...changes,
  });
  const verify = async (changes?: Claims, header?: Claims, signer = key) =>
    verifier.verify(await tokenOf(signer, claims(changes), header));

  it('accepts a signed token and says whose it is', async () => {
    const verified = await verify({ email: 'ann@example.com', email_verified: true });
    expect(verified).toMatchObject({ subject: 'ci', verifiedEmail: 'ann@example.com', issuer: { id: 'iss_1' } });
    expect(verified.expiresAt).toBe((now() + 360) * 1000);
    expect((await verify({ email: 'ann@example.com' })).verifiedEmail).toBeUndefined();
    expect((await verify({ email: 'ann@example.com', email_verified: 'true' })).verifiedEmail).toBeUndefined();
  });

  it.each(['RS256', 'PS256', 'EdDSA'])('accepts %s', async (alg) => {
    const other = await issuerKey(alg);
    published = [key.jwk, other.jwk];
    await expect(verify({}, {}, other)).resolves.toMatchObject({ subject: 'ci' });
  });

  it.each<[string, Claims, Claims]>([
    ['an audience among several', { aud: ['other', 'relay'] }, {}],
    ['no issue time', { iat: undefined }, {}],
    ['no type', {}, { typ: undefined }],
    ['the type of access tokens', {}, { typ: 'application/at+JWT' }],
    ['no key ID', {}, { kid: undefined }],
  ])('accepts %s', async (_, changes, header) => {
    await expect(verify(changes, header)).resolves.toMatchObject({ subject: 'ci' });
  });

  it('accepts tokens when clocks differ by less than a minute', async () => {
    await expect(verify({ iat: now() + 60, nbf: now() + 60 })).resolves.toMatchObject({ subject: 'ci' });
    await expect(verify({ exp: now() - 59 })).resolves.toMatchObject({ subject: 'ci' });
  });

  it.each<[string, () => Claims, string]>([
    ['another issuer', () => ({ iss: 'https://evil.example' }), 'issuer ("iss") is not accepted'],
    ['an issuer that is no text', () => ({ iss: [ISSUER] }), 'issuer ("iss") is not accepted'],
    ['another audience', () => ({ aud: 'other' }), '"aud" is another audience'],
    ['no audience', () => ({ aud: undefined }), '"aud" is another audience'],
    ['no expiry', () => ({ exp: undefined }), '"exp" claim is missing'],
    ['expired', () => ({ exp: now() - 60 }), 'expired'],
    ['not valid yet', () => ({ nbf: now() + 61 }), 'not valid yet'],
    ['issued in the future', () => ({ iat: now() + 61 }), 'issued in the future'],
    ['valid too long', () => ({ exp: now() + 24 * HOUR + 1 }), 'longer than 24 hours'],
    [
      'valid too long, without an issue time',
      () => ({ iat: undefined, exp: now() + 25 * HOUR }),
      'longer than 24 hours',
    ],
    ['no subject', () => ({ sub: undefined }), 'subject is missing'],
    ['a blank subject', () => ({ sub: '  ' }), 'subject is missing'],
    ['a subject with a line break', () => ({ sub: 'a\nb' }), 'subject is missing'],
    ['a long subject', () => ({ sub: 'a'.repeat(256) }), 'subject is missing'],
    ['a subject that is no text', () => ({ sub: { $ne: '' } }), 'subject is missing'],
    ['too large', () => ({ more: 'a'.repeat(8192) }), 'longer than 8,192 characters'],
  ])('refuses a token: %s', async (_, changes, reason) => {
    const refusal = verify(changes());
    await expect(refusal).rejects.toMatchObject({ kind: 'invalid_token' });
    await expect(refusal).rejects.toThrow(reason);
  });

  it.each<[string, () => Promise<string>, string]>([
    ['no signature', async () => unsignedToken(claims()), 'algorithm ("alg") is not accepted'],
    ['HMAC with the public key', async () => hmacToken(key, claims()), 'algorithm ("alg") is not accepted'],
    ['an algorithm that is not allowed', async () => tokenOf(await issuerKey('ES384'), claims()), '("alg") is not'],
    ['another type', async () => tokenOf(key, claims(), { typ: 'logout+jwt' }), 'another type ("typ")'],
    [
      'a type that is no text',
      async () => `${encoded({ alg: 'ES256', kid: key.jwk.kid, typ: 5 })}.${encoded(claims())}.AA`,
      'another type ("typ")',
    ],
    [
      'a key of the same name',
      async () => tokenOf(await issuerKey(), claims(), { kid: key.jwk.kid }),
      'signature is wrong',
    ],
    ['an unknown key', async () => tokenOf(await issuerKey(), claims()), 'key that its issuer does not publish'],
    [
      'changed claims',
      async () => {
        const [header, , signature] = (await tokenOf(key, claims())).split('.');
        const [, payload] = (await tokenOf(key, claims({ sub: 'admin' }))).split('.');
        return [header, payload, signature].join('.');
      },
      'signature is wrong',
    ],
    ['two parts', async () => `${encoded({ alg: 'ES256' })}.${encoded(claims())}`, 'malformed'],
    ['five parts', async () => `${await tokenOf(key, claims())}.a.b`, 'malformed'],
    ['claims that are no JSON', async () => `${encoded({ alg: 'ES256' })}.bm8.bm8`, 'malformed'],
    [
      'an unknown extension',
      async () => `${encoded({ alg: 'ES256', kid: key.jwk.kid, crit: ['x'], x: 1 })}.${encoded(claims())}.AA`,
      'malformed',
    ],
  ])('refuses a token with %s, without quoting it', async (_, made, reason) => {
    const token = await made();
    expect(isToken(token)).toBe(true);
    const error: unknown = await verifier.verify(token).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ kind: 'invalid_token' });
    const { message } = error as Error;
    expect(message).toMatch(/^Invalid token: the JWT/);
    expect(message).toContain(reason);
    for (const part of token.split('.').filter(({ length }) => length > 3)) expect(message).not.toContain(part);
  });

  it('requires the claims that the issuer is restricted to', async () => {
    issuers = [anIssuer({ requiredClaims: ['repository_owner=acme', 'groups=llm'] })];
    const right = { repository_owner: 'acme', groups: ['dev', 'llm'] };
    await expect(verify(right)).resolves.toMatchObject({ subject: 'ci' });
    for (const wrong of [{}, { repository_owner: 'evil' }, { groups: [] }, { repository_owner: { acme: 1 } }])
      await expect(verify({ ...right, repository_owner: undefined, ...wrong })).rejects.toThrow('lacks a claim');
  });

  it('distinguishes issuers of the same URL by their audience', async () => {
    issuers = [anIssuer(), anIssuer({ id: 'iss_2', audience: 'other', claim: 'repository' })];
    await expect(verify({ aud: 'other', repository: 'acme/web' })).resolves.toMatchObject({
      subject: 'acme/web',
      issuer: { id: 'iss_2' },
    });
  });

  it('accepts a new key at once, and asks for unknown ones twice a minute at most', async () => {
    await verify();
    clock.pass(30);
    const next = await issuerKey();
    published = [key.jwk, next.jwk];
    await expect(verify({}, {}, next)).resolves.toMatchObject({ subject: 'ci' });
    expect(fetches).toHaveLength(2);
    const stranger = await issuerKey();
    const many = Array.from({ length: 20 }, () => expect(verify({}, {}, stranger)).rejects.toThrow('does not publish'));
    await Promise.all(many);
    clock.pass(29);
    await expect(verify({}, {}, stranger)).rejects.toThrow('does not publish');
    expect(fetches).toHaveLength(2);
    clock.pass(1);
    await expect(verify({}, {}, stranger)).rejects.toThrow('does not publish');
    expect(fetches).toHaveLength(3);
  });

  it('fetches the keys once for concurrent tokens', async () => {
    await Promise.all(Array.from({ length: 10 }, () => verify()));
    expect(fetches).toEqual([`${ISSUER}/keys`]);
  });

  it('reads the address of the keys from the metadata if none is given', async () => {
    issuers = [anIssuer({ jwksUri: undefined })];
    await verify();
    expect(fetches).toEqual([`${ISSUER}/.well-known/openid-configuration`, `${ISSUER}/found`]);
  });

  it('refuses tokens of a key that left the set, also those that it accepted before', async () => {
    const old = await verify();
    const next = await issuerKey();
    published = [next.jwk];
    clock.pass(10 * 60);
    // Uses the known keys, and fetches the new ones meanwhile.
    await expect(verify()).resolves.toMatchObject({ subject: 'ci' });
    await verify({}, {}, next);
    expect(verifier.isCurrent({ ...old, expiresAt: Infinity })).toBe(false);
    await expect(verify()).rejects.toThrow('does not publish');
  });

  it('uses known keys for an hour while the issuer is unreachable, then responds that it cannot check', async () => {
    const verified = { ...(await verify()), expiresAt: Infinity };
    failure = 500;
    clock.pass(HOUR - 1);
    await expect(verify()).resolves.toMatchObject({ subject: 'ci' });
    expect(verifier.isCurrent(verified)).toBe(true);
    clock.pass(1);
    expect(verifier.isCurrent(verified)).toBe(false);
    const refusal = verify();
    await expect(refusal).rejects.toMatchObject({ kind: 'unavailable', details: { retryAfterSeconds: 5 } });
    failure = undefined;
    clock.pass(5);
    await expect(verify()).resolves.toMatchObject({ subject: 'ci' });
  });

  it('responds that it cannot check a token of an unknown key while the issuer is unreachable', async () => {
    await verify();
    failure = 500;
    clock.pass(30);
    const stranger = await issuerKey();
    for (let index = 0; index < 3; index += 1)
      await expect(verify({}, {}, stranger)).rejects.toMatchObject({ kind: 'unavailable' });
    expect(fetches).toHaveLength(2);
    await expect(verify()).resolves.toMatchObject({ subject: 'ci' });
  });

  it('trusts a verified token no longer than to its expiry and to a change of its issuer', async () => {
    const verified = await verify();
    expect(verifier.isCurrent(verified)).toBe(true);
    issuers = [anIssuer({ revision: 2 })];
    expect(verifier.isCurrent(verified)).toBe(false);
    issuers = [];
    expect(verifier.isCurrent(verified)).toBe(false);
    issuers = [anIssuer()];
    clock.pass(360);
    expect(verifier.isCurrent(verified)).toBe(false);
  });

  it('refuses a key that was published with its private half', async () => {
    published = [{ ...(await exportJWK(key.privateKey)), kid: key.jwk.kid, alg: 'ES256' }];
    await expect(verify()).rejects.toThrow('is not usable');
  });

  it('refuses a key that is too short', async () => {
    const { privateKey, publicKey } = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 1024, publicExponent: new Uint8Array([1, 0, 1]), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    );
    const text = `${encoded({ alg: 'RS256', kid: 'short' })}.${encoded(claims())}`;
    const signature = await crypto.subtle.sign('RSASSA-PKCS1-v1_5', privateKey, Buffer.from(text));
    published = [{ ...(await crypto.subtle.exportKey('jwk', publicKey)), kid: 'short' }];
    const token = `${text}.${Buffer.from(signature).toString('base64url')}`;
    await expect(verifier.verify(token)).rejects.toThrow('is not usable');
  });
});
