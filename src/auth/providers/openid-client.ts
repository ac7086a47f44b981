import { Injectable, Logger } from '@nestjs/common';
import type { FetchImplementation, JWTVerifyGetKey } from 'jose';
import type * as Openid from 'openid-client';
import { AppError, Clock, codeOf, reasonOf, Secret } from '../../platform/shared/index.js';
import type { Claims } from './claim-rules.js';
import { GITHUB_SCOPE, githubClaims, githubMetadata } from './github.js';
import { ProviderHttp } from './provider-http.js';
import { isLoopback, type ProviderClient, type SignInProvider } from './sign-in-providers.js';

/** A user as a provider's verified ID token, or GitHub's API, describes them. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** As sent; undefined if the provider keeps it to itself. */
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** Empty if unknown. */
  readonly name: string;
}

/** A provider's verified response. */
export interface VerifiedResponse {
  readonly identity: ProviderIdentity;
  /** Of the ID token, and of UserInfo if it was needed. */
  readonly claims: Claims;
  /** When the user last authenticated there; undefined if the provider does not say. */
  readonly authenticatedAt: Date | undefined;
  /** The provider's ID of its session. */
  readonly sid: string | undefined;
  /** Undefined: GitHub has none. */
  readonly idToken: Secret | undefined;
}

/** What to ask the provider for. */
interface AuthorizationRequest {
  readonly redirectUri: string;
  readonly checks: SignInChecks;
  /** Whether the user must authenticate again, even if signed in there. */
  readonly isFresh: boolean;
}

/** Values that tie a response to its request. */
export interface SignInChecks {
  readonly state: string;
  readonly nonce: string;
  /** Of PKCE. */
  readonly verifier: string;
}

/** Another way to sign in may work. The reason is logged. */
export class ProviderUnavailable extends AppError {
  constructor({ label }: SignInProvider) {
    super('unavailable', `${label} cannot be reached at present. Try again shortly, or sign in another way.`);
  }
}

/** Its token failed a check. The reason is logged. */
export class ProviderResponseRefused extends AppError {
  constructor({ label }: SignInProvider) {
    super('permission_denied', `The response of ${label} could not be verified. You are not signed in.`);
  }
}

/** The provider or its user refused. */
export class ProviderSignInCanceled extends AppError {
  constructor({ label }: SignInProvider) {
    super('permission_denied', `The sign-in was canceled, or ${label} refused it.`);
  }
}

type OpenidPackage = typeof Openid;
type KeySet = JWTVerifyGetKey;
type KeySetRequest = Parameters<FetchImplementation>[1];

/** Loaded when needed: many servers have no providers. */
const openidPackage = (): Promise<OpenidPackage> => import('openid-client');

const SCOPE = 'openid email profile';
const TIMEOUT_SECONDS = 10;
/** Accepted difference of clocks, in seconds. */
const SKEW = 60;
/** How long discovered metadata and keys are used. */
const KNOWN_MS = 60 * 60_000;
/** Asymmetric only: the provider's keys are public, and so would be an HMAC key derived from them. */
const ALGORITHMS = [
  ...['RS', 'PS', 'ES'].flatMap((name) => [`${name}256`, `${name}384`, `${name}512`]),
  'EdDSA',
  'Ed25519',
];
/** Errors of the connection or the server, which are no verdict on the user. */
const CONNECTION_ERRORS = [
  'OAUTH_TIMEOUT',
  'OAUTH_ABORT',
  'OAUTH_RESPONSE_IS_NOT_CONFORM',
  'OAUTH_RESPONSE_IS_NOT_JSON',
];

interface KnownConfiguration {
  readonly configuration: Openid.Configuration;
  readonly provider: ProviderClient;
  readonly discoveredAt: number;
}

/** Authorization Code with PKCE at providers, and all checks of their ID tokens. */
@Injectable()
export class OpenidClient {
  private readonly logger = new Logger('Accounts');
  /** By provider name. */
  private readonly known = new Map<string, KnownConfiguration>();
  private readonly keySets = new Map<string, { configuration: Openid.Configuration; keys: KeySet }>();

  constructor(
    private readonly clock: Clock,
    private readonly http: ProviderHttp,
  ) {}

  /** The address to send the browser to. @throws ProviderUnavailable */
  authorizationUrl(provider: ProviderClient, { redirectUri, checks, isFresh }: AuthorizationRequest): Promise<string> {
    return this.talk(provider, async (openid, configuration) => {
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: scopesOf(provider),
        state: checks.state,
        // Only ID tokens have one.
        ...(provider.kind === 'openid' && { nonce: checks.nonce }),
        code_challenge: await openid.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
        ...(isFresh && { prompt: 'login', max_age: '0' }),
      });
      return url.href;
    });
  }

  /**
   * The user that a callback is about.
   * @param callback its address: the redirect URI with the provider's parameters
   * @throws ProviderUnavailable, ProviderResponseRefused, ProviderSignInCanceled
   */
  response(provider: ProviderClient, callback: URL, checks: SignInChecks): Promise<VerifiedResponse> {
    if (provider.kind === 'github') return this.githubResponse(provider, callback, checks);
    return this.talk(provider, async (openid, configuration) => {
      const tokens = await openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: checks.verifier,
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined || tokens.id_token === undefined) throw new TokenRefused('no ID token');
      this.check(claims, provider);
      // With a code, providers may keep the claims of the scopes to the UserInfo endpoint (OpenID Connect Core 5.4).
      const needsProfile =
        isIncomplete(claims, provider) && configuration.serverMetadata().userinfo_endpoint !== undefined;
      const profile = needsProfile
        ? await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)
        : claims;
      return responseOf(claims, profile, tokens.id_token);
    });
  }

  /**
   * The address that ends the user's session at the provider, and then returns.
   * @returns undefined if the provider has none @throws ProviderUnavailable
   */
  endSessionUrl(provider: ProviderClient, idToken: Secret | undefined, returnTo: string): Promise<string | undefined> {
    return this.talk(provider, (openid, configuration) => {
      if (configuration.serverMetadata().end_session_endpoint === undefined) return Promise.resolve(undefined);
      const url = openid.buildEndSessionUrl(configuration, {
        post_logout_redirect_uri: returnTo,
        ...(idToken && { id_token_hint: idToken.reveal() }),
      });
      return Promise.resolve(url.href);
    });
  }

  /**
   * The claims of a logout token, with signature, issuer, audience, times and type checked.
   * @throws ProviderUnavailable, ProviderResponseRefused
   */
  logoutClaims(provider: ProviderClient, token: string): Promise<Claims> {
    return this.talk(provider, async (_, configuration) => {
      const { issuer, id_token_signing_alg_values_supported: algorithms = [] } = configuration.serverMetadata();
      const { jwtVerify } = await import('jose');
      const { payload, protectedHeader } = await jwtVerify(token, await this.keys(configuration, provider), {
        issuer,
        audience: provider.clientId,
        algorithms: [...algorithms],
        clockTolerance: SKEW,
        currentDate: this.clock.date(),
        requiredClaims: ['iat', 'exp', 'jti', 'events'],
      });
      const { typ } = protectedHeader;
      // Explicit typing is recommended, not required (OpenID Connect Back-Channel Logout 2.4).
      if (typ !== undefined && !LOGOUT_TYPES.includes(typ.toLowerCase()))
        throw new TokenRefused('"typ" is another type');
      if (Number(payload.iat) > this.clock.now() / 1000 + SKEW) throw new TokenRefused('"iat" is in the future');
      return payload;
    });
  }

  /** Says neither when the user authenticated nor in which session. */
  private githubResponse(provider: ProviderClient, callback: URL, checks: SignInChecks): Promise<VerifiedResponse> {
    return this.talk(provider, async (openid, configuration) => {
      const { access_token: token } = await openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: checks.verifier,
        expectedState: checks.state,
      });
      const claims = await githubClaims(provider.issuer, (url, headers) =>
        openid.fetchProtectedResource(configuration, token, url, 'GET', undefined, headers),
      );
      if (claims.sub === '') throw new TokenRefused('the user has no ID');
      const identity = identityOf({ iss: new URL(provider.issuer).origin, sub: claims.sub }, { ...claims });
      return { identity, claims: { ...claims }, authenticatedAt: undefined, sid: undefined, idToken: undefined };
    });
  }

  /** Checks that the package leaves to its callers. */
  private check({ iat, azp, sub }: Openid.IDToken, { clientId }: ProviderClient): void {
    if (iat > this.clock.now() / 1000 + SKEW) throw new TokenRefused('"iat" is in the future');
    if (azp !== undefined && azp !== clientId) throw new TokenRefused('"azp" is another client');
    if (!SUBJECT.test(sub)) throw new TokenRefused('"sub" is empty, too long or has control characters');
  }

  private async talk<T>(
    provider: ProviderClient,
    work: (openid: OpenidPackage, configuration: Openid.Configuration) => Promise<T>,
  ): Promise<T> {
    const openid = await openidPackage();
    try {
      return await work(openid, await this.configuration(openid, provider));
    } catch (error) {
      const isCanceled = error instanceof openid.AuthorizationResponseError;
      this.logger.warn(`Sign-in with ${provider.name} failed: ${reasonIn(error)}`);
      if (isCanceled) throw new ProviderSignInCanceled(provider);
      if (isRefusal(openid, error)) throw new ProviderResponseRefused(provider);
      throw new ProviderUnavailable(provider);
    }
  }

  private async configuration(openid: OpenidPackage, provider: ProviderClient): Promise<Openid.Configuration> {
    const { name } = provider;
    const known = this.known.get(name);
    const now = this.clock.now();
    if (known !== undefined && isSame(known.provider, provider) && now - known.discoveredAt < KNOWN_MS)
      return known.configuration;
    const configuration = await this.discovered(openid, provider);
    this.known.set(name, { configuration, provider, discoveredAt: now });
    return configuration;
  }

  private async discovered(openid: OpenidPackage, provider: ProviderClient): Promise<Openid.Configuration> {
    const server = new URL(provider.issuer);
    const isPlain = server.protocol === 'http:' && isLoopback(server.hostname);
    const isGithub = provider.kind === 'github';
    const metadata = isGithub ? githubMetadata(server) : await this.openidMetadata(openid, provider, server, isPlain);
    const configuration = configurationOf(openid, metadata, provider);
    configuration[openid.customFetch] = this.http.fetch;
    configuration.timeout = TIMEOUT_SECONDS;
    // The package would otherwise rely on TLS instead of the signature.
    openid.enableNonRepudiationChecks(configuration);
    if (isPlain) openid.allowInsecureRequests(configuration);
    return configuration;
  }

  private async openidMetadata(
    openid: OpenidPackage,
    { clientId }: ProviderClient,
    server: URL,
    isPlain: boolean,
  ): Promise<Openid.ServerMetadata> {
    const found = await openid.discovery(server, clientId, undefined, openid.None(), {
      [openid.customFetch]: this.http.fetch,
      timeout: TIMEOUT_SECONDS,
      ...(isPlain && { execute: [openid.allowInsecureRequests] }),
    });
    return metadataOf(found.serverMetadata(), server);
  }

  /** The provider's key set. Fetched again for unknown keys, at most once in 30 seconds. */
  private async keys(configuration: Openid.Configuration, { name }: ProviderClient): Promise<KeySet> {
    const known = this.keySets.get(name);
    if (known?.configuration === configuration) return known.keys;
    const { createRemoteJWKSet, customFetch } = await import('jose');
    const address = configuration.serverMetadata().jwks_uri;
    if (address === undefined) throw new TokenRefused('the metadata has no "jwks_uri"');
    const keys = createRemoteJWKSet(new URL(address), {
      timeoutDuration: TIMEOUT_SECONDS * 1000,
      [customFetch]: (url: string, { headers, ...request }: KeySetRequest) =>
        this.http.fetch(url, { ...request, headers: Object.fromEntries(headers), body: undefined }),
    });
    this.keySets.set(name, { configuration, keys });
    return keys;
  }
}

/** Of logout tokens. */
const LOGOUT_TYPES = ['logout+jwt', 'application/logout+jwt', 'jwt'];

const scopesOf = ({ kind, scopes }: ProviderClient): string =>
  [...new Set(`${kind === 'github' ? GITHUB_SCOPE : SCOPE} ${scopes}`.trim().split(' '))].join(' ');

/** Whether claims may be missing that UserInfo has. */
const isIncomplete = (claims: Claims, { rules }: ProviderClient): boolean =>
  typeof claims['email'] !== 'string' ||
  rules.some(({ claim }) => !Object.hasOwn(claims, claim) && !Object.hasOwn(claims, claim.split('.', 1)[0] ?? ''));

function responseOf(token: Openid.IDToken, profile: Claims, idToken: string): VerifiedResponse {
  const { auth_time: authTime, sid } = token as Claims;
  return {
    identity: identityOf(token, profile),
    claims: { ...profile, ...token },
    authenticatedAt: typeof authTime === 'number' ? new Date(authTime * 1000) : undefined,
    sid: typeof sid === 'string' && SUBJECT.test(sid) ? sid : undefined,
    idToken: new Secret(idToken),
  };
}

function configurationOf(
  openid: OpenidPackage,
  metadata: Openid.ServerMetadata,
  { clientId, clientSecret }: ProviderClient,
): Openid.Configuration {
  // The default of the standard (OpenID Connect Discovery 3).
  const methods = metadata.token_endpoint_auth_methods_supported ?? ['client_secret_basic'];
  const isBasic = methods.includes('client_secret_basic');
  const authenticate = (isBasic ? openid.ClientSecretBasic : openid.ClientSecretPost)(clientSecret.reveal());
  return new openid.Configuration(metadata, clientId, { [openid.clockTolerance]: SKEW }, authenticate);
}

const isSame = (one: ProviderClient, other: ProviderClient): boolean =>
  one.kind === other.kind &&
  one.issuer === other.issuer &&
  one.clientId === other.clientId &&
  one.clientSecret.reveal() === other.clientSecret.reveal();

/** Subjects have at most 255 characters (OpenID Connect Core 2). */
const SUBJECT = /^[^\p{Cc}]{1,255}$/u;
const MAX_NAME = 100;
const MAX_EMAIL = 320;

class TokenRefused extends Error {}

/** Metadata with the algorithms that are accepted. @throws TokenRefused for another issuer, as of many tenants */
function metadataOf(found: Openid.ServerMetadata, server: URL): Openid.ServerMetadata {
  if (new URL(found.issuer).href !== server.href) throw new TokenRefused(`the metadata is of another issuer`);
  const { id_token_signing_alg_values_supported: offered = ['RS256'] } = found;
  const accepted = ALGORITHMS.filter((algorithm) => offered.includes(algorithm));
  return { ...found, id_token_signing_alg_values_supported: accepted };
}

/** Some providers send booleans as text. */
const isTrue = (value: unknown): boolean => value === true || value === 'true';

function identityOf(
  { iss, sub }: Pick<Openid.IDToken, 'iss' | 'sub'>,
  { email, email_verified: verified, name }: Readonly<Record<string, unknown>>,
): ProviderIdentity {
  const isEmail = typeof email === 'string' && email.length <= MAX_EMAIL && !/\p{Cc}/u.test(email);
  return {
    issuer: iss,
    subject: sub,
    email: isEmail ? email : undefined,
    emailVerified: isEmail && isTrue(verified),
    name:
      typeof name === 'string'
        ? name
            .replaceAll(/\p{Cc}+/gu, ' ')
            .trim()
            .slice(0, MAX_NAME)
        : '',
  };
}

const isRefusal = (openid: OpenidPackage, error: unknown): boolean =>
  error instanceof TokenRefused ||
  isTokenError(error) ||
  (error instanceof openid.ClientError && error.code !== undefined && !CONNECTION_ERRORS.includes(error.code));

/** Of `jose`: its codes start alike. Key sets that cannot be read are no verdict on the token. */
function isTokenError(error: unknown): boolean {
  const code = codeOf(error);
  return /^ERR_J(?:WT|WS|OSE_ALG|OSE_NOT)_/.test(code) || code === 'ERR_JWKS_NO_MATCHING_KEY';
}

/** For the log: fixed texts and codes, never what a token or response contains. */
function reasonIn(error: unknown): string {
  const { error: code, cause } = error as { readonly error?: unknown; readonly cause?: unknown };
  const said = typeof code === 'string' ? `: ${code.slice(0, 100)}` : '';
  const because = cause instanceof Error ? `: ${codeOf(cause)} ${reasonOf(cause)}` : '';
  return `${reasonOf(error)}${said}${because}`;
}
