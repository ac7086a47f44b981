import { createHash, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Secret } from '../../src/platform/shared/index.js';

interface GithubEmail {
  readonly email: string;
  readonly primary: boolean;
  readonly verified: boolean;
  readonly visibility: string | null;
}

/** A request of the browser, until its code is exchanged. */
interface Grant {
  readonly redirectUri: string;
  readonly challenge: string;
}

const CLIENT_ID = 'Iv1.0123456789abcdef';
const CLIENT_SECRET = 'a secret of the app';

/**
 * A GitHub Enterprise Server at which one user is signed in and has approved the app, written from GitHub's
 * documentation: https://docs.github.com/apps/oauth-apps/building-oauth-apps/authorizing-oauth-apps
 */
export class Github {
  user: Record<string, unknown> = {};
  emails: readonly GithubEmail[] = [];
  isDenied = false;
  /** Status of the API; undefined: as it should be. */
  apiStatus: number | undefined;
  private readonly grants = new Map<string, Grant>();
  private readonly tokens = new Set<string>();

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  /** As administrators enter it. */
  get settings() {
    const clientSecret = new Secret(CLIENT_SECRET);
    const names = { kind: 'github', name: 'github', label: 'GitHub' } as const;
    return { ...names, issuer: this.url, clientId: CLIENT_ID, clientSecret, linksByEmail: false };
  }

  static async start(): Promise<Github> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const github = new Github(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    server.on('request', (request: IncomingMessage, response: ServerResponse) => void github.handle(request, response));
    return github;
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  /** As a browser; returns where it is sent back to. */
  async visit(address: string): Promise<string> {
    const response = await fetch(address, { redirect: 'manual' });
    const location = response.headers.get('location');
    if (location === null) throw new Error(`${address}: ${response.status} ${await response.text()}`);
    return location;
  }

  private async handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? '/', this.url);
    const key = `${request.method ?? ''} ${pathname}`;
    if (key === 'GET /login/oauth/authorize') return this.authorize(searchParams, response);
    if (key === 'POST /login/oauth/access_token') return this.exchange(await textOf(request), request, response);
    if (key === 'GET /api/v3/user') return this.api(request, response, this.user);
    if (key === 'GET /api/v3/user/emails') return this.api(request, response, this.emails);
    send(response, 404, { message: 'Not Found' });
  }

  private authorize(query: URLSearchParams, response: ServerResponse): void {
    const { scope, client_id: clientId, redirect_uri: redirectUri = '' } = Object.fromEntries(query);
    const { code_challenge: challenge = '', code_challenge_method: method, state = '' } = Object.fromEntries(query);
    if (clientId !== CLIENT_ID || scope !== 'read:user user:email' || method !== 'S256' || query.has('nonce'))
      return send(response, 404, { message: query.toString() });
    const back = new URL(redirectUri);
    back.searchParams.set('state', state);
    const code = randomBytes(10).toString('hex');
    this.grants.set(code, { redirectUri, challenge });
    if (this.isDenied) back.searchParams.set('error', 'access_denied');
    else back.searchParams.set('code', code);
    response.writeHead(302, { location: back.href }).end();
  }

  /** Errors have status 200. */
  private exchange(body: string, { headers }: IncomingMessage, response: ServerResponse): void {
    const { code = '', ...form } = Object.fromEntries(new URLSearchParams(body));
    const grant = this.grants.get(code);
    this.grants.delete(code);
    if (headers.accept !== 'application/json') return send(response, 406, {});
    if (form['client_id'] !== CLIENT_ID || form['client_secret'] !== CLIENT_SECRET)
      return send(response, 200, { error: 'incorrect_client_credentials' });
    const challenge = createHash('sha256')
      .update(form['code_verifier'] ?? '')
      .digest('base64url');
    if (grant?.challenge !== challenge || grant.redirectUri !== form['redirect_uri'])
      return send(response, 200, { error: 'bad_verification_code', error_description: 'The code is incorrect.' });
    const token = `gho_${randomBytes(18).toString('hex')}`;
    this.tokens.add(token);
    send(response, 200, { access_token: token, token_type: 'bearer', scope: 'read:user,user:email' });
  }

  private api({ headers }: IncomingMessage, response: ServerResponse, value: unknown): void {
    const token = /^Bearer (\S+)$/.exec(headers.authorization ?? '')?.[1] ?? '';
    if (headers['user-agent'] === undefined) return send(response, 403, { message: 'A user agent is required.' });
    if (!this.tokens.has(token)) return send(response, 401, { message: 'Bad credentials' });
    send(response, this.apiStatus ?? 200, this.apiStatus === undefined ? value : { message: 'Server Error' });
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}

const send = (response: ServerResponse, status: number, value: unknown): void =>
  void response.writeHead(status, { 'content-type': 'application/json; charset=utf-8' }).end(JSON.stringify(value));
