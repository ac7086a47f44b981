import { Injectable, Logger } from '@nestjs/common';
import type * as Openid from 'openid-client';
import { AppError, Clock, codeOf, reasonOf } from '../../platform/shared/index.js';
import { ProviderHttp } from './provider-http.js';
import { isLoopback, type ProviderClient, type SignInProvider } from './sign-in-providers.js';

/** A user as a provider's verified ID token describes them. */
export interface ProviderIdentity {
  readonly issuer: string;
  readonly subject: string;
  /** As sent; undefined if the provider keeps it to itself. */
  readonly email: string | undefined;
  readonly emailVerified: boolean;
  /** Empty if unknown. */
  readonly name: string;
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
  /** The provider it was made for. */
  readonly provider: ProviderClient;
  readonly discoveredAt: number;
}

/** Authorization Code with PKCE at providers, and all checks of their ID tokens. */
@Injectable()
export class OpenidClient {
  private readonly logger = new Logger('Accounts');
  /** By provider name. */
  private readonly known = new Map<string, KnownConfiguration>();

  constructor(
    private readonly clock: Clock,
    private readonly http: ProviderHttp,
  ) {}

  /** The address to send the browser to. @throws ProviderUnavailable */
  authorizationUrl(provider: ProviderClient, redirectUri: string, checks: SignInChecks): Promise<string> {
    return this.talk(provider, async (openid, configuration) => {
      const url = openid.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: SCOPE,
        state: checks.state,
        nonce: checks.nonce,
        code_challenge: await openid.calculatePKCECodeChallenge(checks.verifier),
        code_challenge_method: 'S256',
      });
      return url.href;
    });
  }

  /**
   * The user that a callback is about.
   * @param callback its address: the redirect URI with the provider's parameters
   * @throws ProviderUnavailable, ProviderResponseRefused, ProviderSignInCanceled
   */
  identity(provider: ProviderClient, callback: URL, checks: SignInChecks): Promise<ProviderIdentity> {
    return this.talk(provider, async (openid, configuration) => {
      const tokens = await openid.authorizationCodeGrant(configuration, callback, {
        pkceCodeVerifier: checks.verifier,
        expectedState: checks.state,
        expectedNonce: checks.nonce,
        idTokenExpected: true,
      });
      const claims = tokens.claims();
      if (claims === undefined) throw new TokenRefused('no ID token');
      this.check(claims, provider);
      const hasEmail = typeof claims['email'] === 'string';
      // With a code, providers may keep the claims of the scopes to the UserInfo endpoint (OpenID Connect Core 5.4).
      const profile =
        hasEmail || configuration.serverMetadata().userinfo_endpoint === undefined
          ? claims
          : await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub);
      return identityOf(claims, profile);
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
    const found = await openid.discovery(server, provider.clientId, undefined, openid.None(), {
      [openid.customFetch]: this.http.fetch,
      timeout: TIMEOUT_SECONDS,
      ...(isPlain && { execute: [openid.allowInsecureRequests] }),
    });
    const configuration = configurationOf(openid, metadataOf(found.serverMetadata(), server), provider);
    configuration[openid.customFetch] = this.http.fetch;
    configuration.timeout = TIMEOUT_SECONDS;
    // The package would otherwise rely on TLS instead of the signature.
    openid.enableNonRepudiationChecks(configuration);
    if (isPlain) openid.allowInsecureRequests(configuration);
    return configuration;
  }
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
  { iss, sub }: Openid.IDToken,
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
  (error instanceof openid.ClientError && error.code !== undefined && !CONNECTION_ERRORS.includes(error.code));

/** For the log: fixed texts and codes, never what a token or response contains. */
function reasonIn(error: unknown): string {
  const { error: code, cause } = error as { readonly error?: unknown; readonly cause?: unknown };
  const said = typeof code === 'string' ? `: ${code.slice(0, 100)}` : '';
  const because = cause instanceof Error ? `: ${codeOf(cause)} ${reasonOf(cause)}` : '';
  return `${reasonOf(error)}${said}${because}`;
}
