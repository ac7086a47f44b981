import { Injectable, Logger } from '@nestjs/common';
import { decodeJwt, decodeProtectedHeader, errors, type JWTPayload, jwtVerify, type JWTVerifyOptions } from 'jose';
import { Clock, reasonOf } from '../../platform/shared/index.js';
import { InvalidToken } from '../api-key.errors.js';
import { IssuerKeys, type KeySet } from './issuer-keys.js';
import { claimIn, type TokenIssuer } from './token-issuer.js';
import { TokenIssuers } from './token-issuers.service.js';

/** A token whose checks succeeded. */
export interface VerifiedToken {
  readonly issuer: TokenIssuer;
  /** The keys that verified it. */
  readonly keys: KeySet;
  readonly subject: string;
  /** Undefined unless the issuer has verified it. */
  readonly verifiedEmail: string | undefined;
  /** Accepted until then; Unix time in ms. */
  readonly expiresAt: number;
}

/** Whether a secret is meant as a JWT: base64url of `{"`, and a dot. Secrets of keys start with `sk-`. */
export const isToken = (secret: string): boolean => secret.startsWith('eyJ') && secret.includes('.');

/** In characters. */
const MAX_LENGTH = 8192;
/** Accepted difference of clocks, in seconds. */
const SKEW = 60;
/** Of the issuer's keys, for a token that does not name its key. */
const MAX_TRIED_KEYS = 10;
/** Other types are not meant as credentials, such as `logout+jwt`. Compared without `application/`. */
const TYPES: readonly unknown[] = [undefined, 'jwt', 'at+jwt'];
/** Of keys that cannot be used, such as short ones. */
const KEY_ERRORS = [TypeError, DOMException, errors.JWKSInvalid, errors.JWKInvalid];
const SUBJECT = /^(?=.*\S)[^\p{Cc}]{1,255}$/u;

/** The token is refused. The reason never quotes it. */
class TokenRefused extends InvalidToken {}

/** Checks JWTs of configured issuers: signature, issuer, audience, times and required claims. */
@Injectable()
export class TokenVerifier {
  private readonly logger = new Logger('TokenIssuers');

  constructor(
    private readonly issuers: TokenIssuers,
    private readonly keys: IssuerKeys,
    private readonly clock: Clock,
  ) {}

  /** @throws InvalidToken with the reason, TokenIssuerUnavailable */
  async verify(token: string): Promise<VerifiedToken> {
    if (token.length > MAX_LENGTH) throw new TokenRefused('the JWT is longer than 8,192 characters.');
    const { header, claims } = decoded(token);
    const issuer = this.issuerOf(claims);
    if (typeof header.alg !== 'string' || !issuer.algorithms.includes(header.alg))
      throw new TokenRefused('the JWT\'s algorithm ("alg") is not accepted from its issuer.');
    if (!TYPES.includes(typeIn(header)))
      throw new TokenRefused('the JWT is of another type ("typ") than an access token.');
    const { payload, keys } = await this.withKey(token, issuer);
    return verifiedToken(payload, { issuer, keys }, this.clock.now() / 1000);
  }

  /** Whether a token verified earlier still is: not expired, and neither its issuer nor the issuer's keys changed. */
  isCurrent({ issuer, keys, expiresAt }: Omit<VerifiedToken, 'subject' | 'verifiedEmail'>): boolean {
    const current = this.issuers.current(issuer.id);
    return current?.revision === issuer.revision && expiresAt > this.clock.now() && this.keys.current(current) === keys;
  }

  /** Before the signature is checked, to know with which keys. */
  private issuerOf({ iss, aud }: JWTPayload): TokenIssuer {
    const issuers = typeof iss === 'string' ? this.issuers.ofIssuer(iss) : [];
    if (issuers.length === 0) throw new TokenRefused('the JWT\'s issuer ("iss") is not accepted here.');
    const issuer = issuers.find(({ audience }) => aud === audience || (Array.isArray(aud) && aud.includes(audience)));
    if (issuer === undefined)
      throw new TokenRefused('the JWT is not meant for this server: "aud" is another audience.');
    return issuer;
  }

  private async withKey(
    token: string,
    issuer: TokenIssuer,
  ): Promise<{ readonly payload: JWTPayload; readonly keys: KeySet }> {
    const options = {
      algorithms: [...issuer.algorithms],
      issuer: issuer.issuer,
      audience: issuer.audience,
      clockTolerance: SKEW,
      requiredClaims: ['exp'],
      currentDate: this.clock.date(),
    };
    try {
      const known = await this.keys.get(issuer);
      const payload = await payloadOf(token, known, options);
      if (payload !== undefined) return { payload, keys: known };
      const renewed = await this.keys.renewed(issuer);
      const again = renewed && (await payloadOf(token, renewed, options));
      if (again !== undefined) return { payload: again, keys: renewed as KeySet };
    } catch (error) {
      throw this.refusalOf(error);
    }
    throw new TokenRefused('the JWT is signed with a key that its issuer does not publish.');
  }

  private refusalOf(error: unknown): unknown {
    const isOfKey = KEY_ERRORS.some((type) => error instanceof type);
    if (!isOfKey) return error instanceof errors.JOSEError ? new TokenRefused(reasonFor(error)) : error;
    this.logger.warn(`A key of a token issuer is not usable: ${reasonOf(error)}`);
    return new TokenRefused('the JWT is signed with a key that is not usable.');
  }
}

/** Not yet verified: of any JSON type, whatever the package declares. */
function typeIn({ typ }: { readonly typ?: unknown }): unknown {
  return typeof typ === 'string' ? typ.toLowerCase().replace(/^application\//, '') : typ;
}

function decoded(token: string) {
  try {
    return { header: decodeProtectedHeader(token), claims: decodeJwt(token) };
  } catch {
    throw new TokenRefused('the JWT is malformed.');
  }
}

/** The verified claims; undefined if the set has no key for the token. @throws JOSEError */
async function payloadOf(token: string, { find }: KeySet, options: JWTVerifyOptions): Promise<JWTPayload | undefined> {
  try {
    return (await jwtVerify(token, find, options)).payload;
  } catch (error) {
    if (error instanceof errors.JWKSNoMatchingKey) return undefined;
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    // Without a key ID, each of the issuer's keys may be the one.
    let left = MAX_TRIED_KEYS;
    for await (const key of error) {
      if (left-- === 0) break;
      try {
        return (await jwtVerify(token, key, options)).payload;
      } catch (mismatch) {
        if (!(mismatch instanceof errors.JWSSignatureVerificationFailed)) throw mismatch;
      }
    }
    return undefined;
  }
}

function reasonFor(error: errors.JOSEError): string {
  if (error instanceof errors.JWTExpired) return 'the JWT expired. Request a new one from its issuer.';
  if (error instanceof errors.JWSSignatureVerificationFailed) return "the JWT's signature is wrong.";
  if (!(error instanceof errors.JWTClaimValidationFailed)) return 'the JWT is malformed.';
  if (error.claim === 'nbf' && error.reason === 'check_failed') return 'the JWT is not valid yet ("nbf").';
  return `the JWT's "${error.claim}" claim is missing or invalid.`;
}

/** @throws TokenRefused @param now Unix time in seconds */
function verifiedToken(
  claims: JWTPayload,
  { issuer, keys }: Pick<VerifiedToken, 'issuer' | 'keys'>,
  now: number,
): VerifiedToken {
  // Required above.
  const { iat = now, exp = 0 } = claims;
  if (typeof iat !== 'number' || iat > now + SKEW) throw new TokenRefused('the JWT was issued in the future ("iat").');
  if (exp - iat > issuer.maxLifetimeHours * 3600)
    throw new TokenRefused(`the JWT is valid for longer than ${issuer.maxLifetimeHours} hours.`);
  for (const [name, value] of issuer.requiredClaims.map(claimIn))
    if (!hasValue(claims[name], value))
      throw new TokenRefused('the JWT lacks a claim that its issuer’s tokens must have.');
  const subject = claims[issuer.claim];
  if (typeof subject !== 'string' || !SUBJECT.test(subject))
    throw new TokenRefused("the claim with the JWT's subject is missing or invalid.");
  const { email, email_verified: isVerified } = claims;
  const verifiedEmail = typeof email === 'string' && isVerified === true ? email : undefined;
  return { issuer, keys, subject, verifiedEmail, expiresAt: (exp + SKEW) * 1000 };
}

/** Lists contain the value; numbers and booleans are written as in JSON. */
const hasValue = (claim: unknown, value: string): boolean =>
  Array.isArray(claim)
    ? claim.some((one) => hasValue(one, value))
    : ['string', 'number', 'boolean'].includes(typeof claim) && String(claim) === value;
