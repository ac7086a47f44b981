import { isLoopback } from '../../auth/index.js';
import { isForbidden } from '../../catalog/channels/index.js';
import { AppError } from '../../platform/shared/index.js';

/** What the subject of a token is: a user, a member of an organization, or a service of an organization. */
export const TOKEN_HOLDERS = ['account', 'member', 'service'] as const;
export type TokenHolder = (typeof TOKEN_HOLDERS)[number];

/** How the account of a subject is found: linked for sign-in, or with the same verified email address. */
export const ACCOUNT_MATCHES = ['identity', 'email'] as const;
export type AccountMatch = (typeof ACCOUNT_MATCHES)[number];

/** Asymmetric only: the issuer's keys are public, and so would be an HMAC key derived from them. */
export const TOKEN_ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
] as const;
export const DEFAULT_ALGORITHMS: readonly string[] = ['RS256', 'ES256'];

export const DEFAULT_LIFETIME_HOURS = 24;
const MAX_LIFETIME_HOURS = 8760;

/** Whose tokens an issuer's are. Never changes: keys of subjects are created with it. */
export interface TokenIssuerIdentity {
  /** Exactly as in `iss`. */
  readonly issuer: string;
  /** One of `aud`. */
  readonly audience: string;
  readonly holder: TokenHolder;
  /** Undefined for services. */
  readonly matchedBy: AccountMatch | undefined;
  /** The claim with the subject. */
  readonly claim: string;
  /** Of members and services. */
  readonly organizationId: string | undefined;
  /** Of services; undefined: none. */
  readonly teamId: string | undefined;
}

export interface TokenIssuerSettings {
  readonly name: string;
  /** Undefined: from the issuer's metadata. */
  readonly jwksUri: string | undefined;
  readonly algorithms: readonly string[];
  /** Claims that tokens must have: `name=value`. */
  readonly requiredClaims: readonly string[];
  /** From `iat` to `exp`. */
  readonly maxLifetimeHours: number;
}

export type NewTokenIssuer = TokenIssuerIdentity & TokenIssuerSettings;

/** An issuer whose JWTs are accepted as API keys. */
export interface TokenIssuer extends NewTokenIssuer {
  readonly id: string;
  /** From 1; incremented by every change. */
  readonly revision: number;
}

export class TokenIssuerNotFound extends AppError {
  constructor() {
    super('not_found', 'There is no token issuer with this ID.');
  }
}

/** Saved by another administrator meanwhile. Nothing was changed. */
export class TokenIssuerChangedMeanwhile extends AppError {
  constructor() {
    super('conflict', 'This issuer was changed while you edited it. Review the current values and try again.');
  }
}

/** A field's value is invalid. The message starts with what to enter. */
export class InvalidTokenIssuer extends AppError {
  constructor(param: keyof NewTokenIssuer, message: string) {
    super('invalid_request', message, { param });
  }
}

/** Name and value of a required claim. */
export function claimIn(line: string): readonly [name: string, value: string] {
  const at = line.indexOf('=');
  return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
}

const ONE_LINE = /^[^\p{Cc}]+$/u;
const CLAIM = /^[^\p{Cc}=]{1,100}$/u;
const REQUIRED_CLAIM = /^[^\p{Cc}=]{1,100}=[^\p{Cc}]{1,500}$/u;
const MAX_REQUIRED_CLAIMS = 20;

/** @throws InvalidTokenIssuer */
export function checkSettings({ name, jwksUri, algorithms, ...others }: TokenIssuerSettings): void {
  if (!ONE_LINE.test(name) || name.length > 60)
    throw new InvalidTokenIssuer('name', 'Enter a name of 1 to 60 characters, such as Acme CI.');
  if (jwksUri !== undefined && !isTrustedAddress(jwksUri))
    throw new InvalidTokenIssuer('jwksUri', 'Enter an https:// address, or leave empty to use the metadata.');
  const known: readonly string[] = TOKEN_ALGORITHMS;
  if (algorithms.length === 0 || !algorithms.every((algorithm) => known.includes(algorithm)))
    throw new InvalidTokenIssuer('algorithms', 'Select at least one algorithm.');
  checkLimits(others);
}

function checkLimits({
  requiredClaims,
  maxLifetimeHours,
}: Pick<TokenIssuerSettings, 'requiredClaims' | 'maxLifetimeHours'>): void {
  if (requiredClaims.length > MAX_REQUIRED_CLAIMS || !requiredClaims.every((line) => REQUIRED_CLAIM.test(line)))
    throw new InvalidTokenIssuer('requiredClaims', 'Enter one claim per line, such as repository_owner=acme.');
  if (!Number.isInteger(maxLifetimeHours) || maxLifetimeHours < 1 || maxLifetimeHours > MAX_LIFETIME_HOURS)
    throw new InvalidTokenIssuer('maxLifetimeHours', 'Enter whole hours from 1 to 8,760.');
}

/** @throws InvalidTokenIssuer */
export function checkIdentity(identity: TokenIssuerIdentity): void {
  const { issuer, audience, holder, matchedBy, claim, organizationId, teamId } = identity;
  if (!isTrustedAddress(issuer) || new URL(issuer).search !== '')
    throw new InvalidTokenIssuer('issuer', 'Enter an https:// address, exactly as in the tokens’ "iss" claim.');
  if (!ONE_LINE.test(audience) || audience.length > 500)
    throw new InvalidTokenIssuer('audience', 'Enter the "aud" value of tokens for this server.');
  if ((matchedBy === undefined) !== (holder === 'service'))
    throw new InvalidTokenIssuer('matchedBy', 'Choose how users are found.');
  if (!CLAIM.test(claim)) throw new InvalidTokenIssuer('claim', 'Enter the name of a claim, such as sub.');
  if ((organizationId === undefined) !== (holder === 'account'))
    throw new InvalidTokenIssuer('organizationId', 'Choose the organization of the members or services.');
  if (teamId !== undefined && holder !== 'service')
    throw new InvalidTokenIssuer('organizationId', 'Choose an organization without a team: members have their own.');
}

/** HTTPS; plain HTTP only on loopback. */
export function isTrustedAddress(text: string): boolean {
  if (!URL.canParse(text) || text.length > 500) return false;
  const { protocol, hostname, username, password, hash } = new URL(text);
  if (username !== '' || password !== '' || hash !== '' || isForbidden(hostname)) return false;
  return protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname));
}

const HOLDER_FACTS: Readonly<Record<TokenHolder, string>> = {
  account: 'tokens of users',
  member: 'tokens of members',
  service: 'tokens of services',
};

/** Settings as audit lines name them. */
export const settingFacts = (settings: TokenIssuerSettings): readonly string[] => [
  `name ${settings.name}`,
  `keys from ${settings.jwksUri ?? 'metadata'}`,
  `algorithms ${settings.algorithms.join(', ')}`,
  `required claims ${settings.requiredClaims.join(', ') || 'none'}`,
  `max lifetime ${settings.maxLifetimeHours} h`,
];

export const identityFacts = (identity: TokenIssuerIdentity): readonly string[] => [
  `issuer ${identity.issuer}`,
  `audience ${identity.audience}`,
  HOLDER_FACTS[identity.holder],
  ...(identity.matchedBy === undefined ? [] : [`users by ${identity.matchedBy}`]),
  `subject in ${identity.claim}`,
  ...(identity.organizationId === undefined ? [] : [`organization ${identity.organizationId}`]),
  ...(identity.teamId === undefined ? [] : [`team ${identity.teamId}`]),
];
