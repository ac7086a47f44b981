import type { Provider } from 'oidc-provider';
import { generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '../../src/platform/shared/index.js';

/** The key of all tokens: making one takes longer than most tests. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const KEY = { ...privateKey.export({ format: 'jwk' }), kid: 'test', alg: 'RS256', use: 'sig' };

type Claims = Record<string, unknown>;

/** Makes another ID token of the claims of one. */
export type Forgery = (claims: Claims) => string;

/** Seconds. */
const TTL = 600;

const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** @param key default: that of the provider */
export function signed(claims: Claims, key = privateKey): string {
  const text = `${encoded({ alg: 'RS256', kid: KEY.kid, typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}

export const unsigned = (claims: Claims): string => `${encoded({ alg: 'none' })}.${encoded(claims)}.`;

/** Without the package's advice for production. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { info, warn } = console;
  Object.assign(console, { info: () => undefined, warn: () => undefined });
  try {
    return await work();
  } finally {
    Object.assign(console, { info, warn });
  }
}

/** Cookies of a browser at the provider, by name. */
export type ProviderCookies = Map<string, string>;

/** Claims of the scope `profile`, beside the name. */
const PROFILE = ['name', 'groups', 'realm_access', 'https://acme.example/roles', '_claim_names', '_claim_sources'];

/** A real OpenID Connect provider, at which one user is signed in: every request is granted to them at once. */
export class IdentityProvider {
  static readonly clientId = 'relay';
  static readonly clientSecret = 'a secret of the client';

  /** As administrators enter it. */
  get settings() {
    const clientSecret = new Secret(IdentityProvider.clientSecret);
    const { clientId } = IdentityProvider;
    return { name: 'acme', label: 'Acme', issuer: this.issuer, clientId, clientSecret, linksByEmail: false };
  }

  /** Of the user who is signed in. */
  subject = 'user-1';
  claims: Claims = {};
  /** Whether the user declines. */
  isDenied = false;
  /** Undefined: tokens are as the provider makes them. */
  forgery: Forgery | undefined;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  /** @param redirectUris that are registered */
  static async start(redirectUris: readonly string[]): Promise<IdentityProvider> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const idp = new IdentityProvider(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const provider = await quietly(async () => idp.provider((await import('oidc-provider')).Provider, redirectUris));
    const handle = provider.callback();
    server.on('request', (request: IncomingMessage, response: ServerResponse) => {
      if (request.url?.startsWith('/interaction/')) void idp.interact(provider, request, response);
      else void handle(request, response);
    });
    return idp;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /**
   * Follows redirects at the provider; returns the first address elsewhere, at the relay.
   * @param cookies with those of earlier visits, the user is still signed in
   */
  async visit(address: string, cookies: ProviderCookies = new Map()): Promise<string> {
    let location = address;
    while (location.startsWith(this.issuer)) {
      const response = await this.request(location, cookies);
      const next = response.headers.get('location');
      if (next === null) throw new Error(`${location}: ${response.status} ${await response.text()}`);
      location = new URL(next, this.issuer).href;
    }
    return location;
  }

  /** Confirms a sign-out at the provider, which then calls the back-channel of its clients. Returns where it leads. */
  async signOut(address: string, cookies: ProviderCookies): Promise<string> {
    const page = await (await this.request(address, cookies)).text();
    const [, action = ''] = /action="([^"]+)"/.exec(page) ?? [];
    const [, xsrf = ''] = /name="xsrf" value="([^"]+)"/.exec(page) ?? [];
    const body = new URLSearchParams({ xsrf, logout: 'yes' });
    const response = await this.request(action, cookies, { method: 'POST', body });
    return response.headers.get('location') ?? `${response.status} ${await response.text()}`;
  }

  private async request(address: string, cookies: ProviderCookies, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const response = await fetch(address, { redirect: 'manual', headers: { cookie }, ...init });
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (line.split(';', 1)[0] ?? '').split('=', 2);
      cookies.set(name, value);
    }
    return response;
  }

  private provider(OidcProvider: typeof Provider, redirectUris: readonly string[]): Provider {
    const { clientId: client_id, clientSecret: client_secret } = IdentityProvider;
    const provider = new OidcProvider(this.issuer, {
      clients: [{ client_id, client_secret, redirect_uris: [...redirectUris], ...logoutUris(redirectUris) }],
      jwks: { keys: [KEY] as never },
      cookies: { keys: [randomBytes(16).toString('hex')] },
      ttl: { AccessToken: TTL, AuthorizationCode: TTL, Grant: TTL, IdToken: TTL, Interaction: TTL, Session: TTL },
      pkce: { required: () => true },
      // Its own dispatcher reaches no loopback address.
      fetch: (url, { method, headers, body, redirect }: RequestInit = {}) =>
        fetch(url, { method, headers, body, redirect } as RequestInit),
      claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: PROFILE, staff: ['staff'] },
      scopes: ['openid', 'email', 'profile', 'staff'],
      features: {
        devInteractions: { enabled: false },
        backchannelLogout: { enabled: true },
        rpInitiatedLogout: {
          logoutSource: (context, form) =>
            void (context.body = `<body>${form}<button form="op.logoutForm" name="logout" value="yes">Sign out</button></body>`),
        },
      },
      interactions: { url: (_, { uid }) => `/interaction/${uid}` },
      findAccount: (_, accountId) => ({ accountId, claims: () => ({ sub: accountId, ...this.claims }) }),
    });
    provider.use(async (context, next) => {
      await next();
      const body = context.body as { id_token?: string } | undefined;
      if (this.forgery === undefined || body?.id_token === undefined) return;
      const [, payload = ''] = body.id_token.split('.');
      const claims = JSON.parse(Buffer.from(payload, 'base64url').toString()) as Claims;
      body.id_token = this.forgery(claims);
    });
    return provider;
  }

  private async interact(provider: Provider, request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { prompt, params, session } = await provider.interactionDetails(request, response);
    if (this.isDenied) return provider.interactionFinished(request, response, { error: 'access_denied' });
    if (prompt.name === 'login')
      return provider.interactionFinished(request, response, { login: { accountId: this.subject } });
    const grant = new provider.Grant({ accountId: session?.accountId, clientId: String(params['client_id']) });
    grant.addOIDCScope('openid email profile staff');
    return provider.interactionFinished(request, response, { consent: { grantId: await grant.save() } });
  }
}

/** Where the relay hears of a sign-out, and where browsers return to. */
function logoutUris([redirectUri = '']: readonly string[]) {
  return {
    post_logout_redirect_uris: [new URL('/sign-in', redirectUri).href],
    backchannel_logout_uri: redirectUri.replace(/callback$/, 'logout'),
    backchannel_logout_session_required: true,
  };
}

/** A key that the provider does not have. */
export const foreignKey = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey;
