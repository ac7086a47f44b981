import { type CryptoKey, exportJWK, generateKeyPair, type JWK, type JWTHeaderParameters, SignJWT } from 'jose';
import { createHmac } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A pair of keys of an issuer, and its public half as published. */
export interface IssuerKey {
  readonly privateKey: CryptoKey;
  readonly jwk: JWK & { readonly kid: string; readonly alg: string };
}

/** Undefined members are left out. */
export type Claims = Readonly<Record<string, unknown>>;

let made = 0;

export async function issuerKey(alg = 'ES256'): Promise<IssuerKey> {
  const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
  return { privateKey, jwk: { ...(await exportJWK(publicKey)), kid: `kid-${++made}`, alg, use: 'sig' } };
}

/** A token of a key. @param header replaces members */
export const tokenOf = (
  { privateKey, jwk: { alg, kid } }: IssuerKey,
  claims: Claims,
  header: Claims = {},
): Promise<string> =>
  new SignJWT(claims).setProtectedHeader({ alg, kid, typ: 'JWT', ...header } as JWTHeaderParameters).sign(privateKey);

export const encoded = (part: object): string => Buffer.from(JSON.stringify(part)).toString('base64url');

/** A token whose header says that it is not signed. */
export const unsignedToken = (claims: Claims): string => `${encoded({ alg: 'none' })}.${encoded(claims)}.`;

/** A token signed with HMAC, with the public key as its secret: every client knows it. */
export function hmacToken({ jwk }: IssuerKey, claims: Claims): string {
  const text = `${encoded({ alg: 'HS256', kid: jwk.kid, typ: 'JWT' })}.${encoded(claims)}`;
  return `${text}.${createHmac('sha256', JSON.stringify(jwk)).update(text).digest('base64url')}`;
}

/** An issuer of tokens with metadata and keys, as clients and relays see it. */
export class TokenServer {
  keys: readonly IssuerKey[] = [];
  /** Whether it responds with errors. */
  isDown = false;
  /** Number of times that its keys were fetched. */
  fetches = 0;

  private constructor(
    private readonly server: Server,
    readonly issuer: string,
  ) {}

  static async start(): Promise<TokenServer> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const issuer = new TokenServer(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', ({ url = '' }, response) => {
      const { status, body } = issuer.respond(url);
      response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    issuer.keys = [await issuerKey()];
    return issuer;
  }

  get key(): IssuerKey {
    const [key] = this.keys;
    if (key === undefined) throw new Error('the issuer has no key');
    return key;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** Of the subject and for the audience `relay`, valid for five minutes. */
  token(claims: Claims = {}, header?: Claims): Promise<string> {
    return tokenOf(this.key, this.claims(claims), header);
  }

  claims(claims: Claims = {}): Claims {
    const now = Math.floor(Date.now() / 1000);
    return { iss: this.issuer, aud: 'relay', sub: 'subject', iat: now, exp: now + 300, ...claims };
  }

  /** Replaces its keys by a new one. */
  async rotate(): Promise<void> {
    this.keys = [await issuerKey()];
  }

  private respond(url: string): { readonly status: number; readonly body: object } {
    if (this.isDown) return { status: 503, body: {} };
    if (url === '/.well-known/openid-configuration')
      return { status: 200, body: { issuer: this.issuer, jwks_uri: `${this.issuer}/keys` } };
    if (url !== '/keys') return { status: 404, body: {} };
    this.fetches += 1;
    return { status: 200, body: { keys: this.keys.map(({ jwk }) => jwk) } };
  }
}
