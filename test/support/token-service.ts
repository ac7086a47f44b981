import { generateKeyPairSync, type KeyObject, verify } from 'node:crypto';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

const { publicKey, privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
const PEM = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

export const ACCOUNT_EMAIL = 'relay@house-project.iam.gserviceaccount.com';

/** A key file as Google Cloud writes it. */
export const aKeyFile = (members: Readonly<Record<string, unknown>> = {}): string =>
  JSON.stringify(
    {
      type: 'service_account',
      project_id: 'house-project',
      private_key_id: '0a1b2c3d4e5f',
      private_key: PEM,
      client_email: ACCOUNT_EMAIL,
      client_id: '100000000000000000001',
      auth_uri: 'https://accounts.google.com/o/oauth2/auth',
      token_uri: 'https://oauth2.googleapis.com/token',
      universe_domain: 'googleapis.com',
      ...members,
    },
    null,
    2,
  );

/** A line of the private key, by which a leak is found. */
export const KEY_LINE = PEM.split('\n')[1]!;

interface TokenResponse {
  readonly status: number;
  readonly body: object;
}

export interface TokenRequest {
  readonly grant: string | null;
  readonly header: Readonly<Record<string, unknown>>;
  readonly claims: Readonly<Record<string, unknown>>;
  /** Whether the assertion is signed with the key of `aKeyFile`. */
  readonly isSigned: boolean;
}

/** Google's token service on this host: `ya29.test-1` and so on, or what a test scripts. */
export class TokenService {
  readonly requests: TokenRequest[] = [];
  readonly #next: TokenResponse[] = [];
  /** Seconds. */
  lifetime = 3599;

  private constructor(
    private readonly server: Server,
    readonly url: string,
  ) {}

  static async start(): Promise<TokenService> {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const service = new TokenService(server, `http://127.0.0.1:${(server.address() as AddressInfo).port}/token`);
    server.on('request', (request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        service.requests.push(requestIn(Buffer.concat(chunks).toString(), publicKey));
        const { status, body } = service.#next.shift() ?? service.token();
        response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
      });
    });
    return service;
  }

  respondNext(...responses: readonly TokenResponse[]): void {
    this.#next.push(...responses);
  }

  async close(): Promise<void> {
    this.server.closeAllConnections();
    await new Promise((resolve) => this.server.close(resolve));
  }

  private token(): TokenResponse {
    const body = { access_token: `ya29.test-${this.requests.length}`, expires_in: this.lifetime, token_type: 'Bearer' };
    return { status: 200, body };
  }
}

function requestIn(form: string, key: KeyObject): TokenRequest {
  const fields = new URLSearchParams(form);
  const [header = '', claims = '', signature = ''] = (fields.get('assertion') ?? '').split('.');
  const read = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString()) as Record<string, unknown>;
  return {
    grant: fields.get('grant_type'),
    header: read(header),
    claims: read(claims),
    isSigned: verify('RSA-SHA256', Buffer.from(`${header}.${claims}`), key, Buffer.from(signature, 'base64url')),
  };
}
