import { Injectable, Logger } from '@nestjs/common';
import { catchError, defer, from, type Observable, switchMap, tap, throwError } from 'rxjs';
import { sign } from 'node:crypto';
import { GOOGLE_TOKEN_URL, type ServiceAccount } from '../../catalog/channels/index.js';
import { AppError, Clock, isJsonObject, reasonOf, Secret } from '../../platform/shared/index.js';
import { UpstreamPools } from './upstream-pools.js';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer';
/** Google accepts no longer lifetime. */
const ASSERTION_SECONDS = 3600;
const CONNECT_MS = 10_000;
const RESPONSE_MS = 30_000;
const MAX_RESPONSE_BYTES = 64 * 1024;
/** Shares of a token's lifetime: when it is renewed, and until when calls may begin with it. */
const RENEWED_AT = 0.8;
const USED_UNTIL = 0.95;
/** After a failed renewal, while the token is still valid. */
const RENEW_AGAIN_MS = 30_000;
const TOKEN = /^[\x21-\x7e]+$/;

interface AccessToken {
  readonly value: Secret;
  readonly lifetimeMs: number;
}

/** Exchanges service account keys for access tokens (RFC 7523), which this process keeps in memory only. */
@Injectable()
export class GoogleTokens {
  readonly endpoint = new URL(GOOGLE_TOKEN_URL);
  /** By digest of the key file. */
  private readonly accounts = new Map<string, AccountToken>();

  constructor(
    private readonly pools: UpstreamPools,
    private readonly clock: Clock,
  ) {}

  /**
   * Sends a request with an access token. If the upstream rejects one that was kept, sends it again with a new one.
   * Errors of the exchange allow failover.
   * @param isRejection whether a part of the response rejects the token
   */
  authorize<Part>(
    account: ServiceAccount,
    send: (token: Secret) => Observable<Part>,
    isRejection: (part: Part) => boolean,
  ): Observable<Part> {
    return defer(() => {
      const tokens = this.tokensOf(account);
      const kept = tokens.kept();
      const sendWithNew = (): Observable<Part> => from(tokens.renewed()).pipe(switchMap(send));
      if (kept === undefined) return sendWithNew();
      return send(kept).pipe(
        tap((part) => {
          if (isRejection(part)) throw new RejectedToken();
        }),
        catchError((error: unknown) => {
          if (!(error instanceof RejectedToken)) return throwError(() => error);
          tokens.drop(kept);
          return sendWithNew();
        }),
      );
    });
  }

  private tokensOf(account: ServiceAccount): AccountToken {
    const known = this.accounts.get(account.digest);
    if (known !== undefined) return known;
    for (const [digest, tokens] of this.accounts) if (tokens.isUnused) this.accounts.delete(digest);
    const tokens = new AccountToken(account.email, this.clock, () => this.exchange(account));
    this.accounts.set(account.digest, tokens);
    return tokens;
  }

  private async exchange(account: ServiceAccount): Promise<AccessToken> {
    const { status, body } = await this.post(
      new URLSearchParams({ grant_type: GRANT, assertion: this.assertionOf(account) }).toString(),
    );
    if (status !== 200) throw refusalOf(status, body);
    const { access_token: value, expires_in: seconds } = body;
    if (typeof value === 'string' && TOKEN.test(value) && typeof seconds === 'number' && seconds > 0)
      return { value: new Secret(value), lifetimeMs: seconds * 1000 };
    throw failed(new Error('The token service sent no access token.'));
  }

  /** A JWT signed with RS256. */
  private assertionOf({ email, keyId, privateKey }: ServiceAccount): string {
    const issuedAt = Math.floor(this.clock.now() / 1000);
    const header = { alg: 'RS256', typ: 'JWT', ...(keyId !== undefined && { kid: keyId }) };
    const claims = {
      iss: email,
      scope: SCOPE,
      aud: GOOGLE_TOKEN_URL,
      iat: issuedAt,
      exp: issuedAt + ASSERTION_SECONDS,
    };
    const signed = [header, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
    return `${signed}.${sign('RSA-SHA256', Buffer.from(signed), privateKey).toString('base64url')}`;
  }

  /** Through the pools of upstreams, with their proxy and forbidden addresses. Redirects are not followed. */
  private async post(
    form: string,
  ): Promise<{ readonly status: number; readonly body: Readonly<Record<string, unknown>> }> {
    const { origin, pathname } = this.endpoint;
    try {
      const response = await this.pools.poolFor(origin, CONNECT_MS).request({
        path: pathname,
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded', accept: 'application/json' },
        body: form,
        headersTimeout: RESPONSE_MS,
        bodyTimeout: RESPONSE_MS,
      });
      return { status: response.statusCode, body: await readJson(response.body) };
    } catch (cause) {
      throw failed(cause);
    }
  }
}

/** The access token of one service account. */
class AccountToken {
  private readonly logger = new Logger('Upstream');
  private token: AccessToken | undefined;
  private obtainedMs = 0;
  private renewMs = 0;
  private pending: Promise<Secret> | undefined;

  constructor(
    private readonly email: string,
    private readonly clock: Clock,
    private readonly exchange: () => Promise<AccessToken>,
  ) {}

  /** Undefined if there is none. It is renewed before it expires without a call that waits. */
  kept(): Secret | undefined {
    if (this.token === undefined || this.isExpired) return undefined;
    if (this.clock.now() >= this.renewMs && this.pending === undefined)
      this.renewed().catch((error: unknown) => this.postpone(error));
    return this.token.value;
  }

  /** One exchange for all calls that wait. */
  renewed(): Promise<Secret> {
    this.pending ??= this.exchange()
      .then((token) => this.keep(token))
      .finally(() => (this.pending = undefined));
    return this.pending;
  }

  /** Unless it was replaced meanwhile. */
  drop(rejected: Secret): void {
    if (this.token?.value === rejected) this.token = undefined;
  }

  get isUnused(): boolean {
    return this.pending === undefined && this.isExpired;
  }

  private get isExpired(): boolean {
    return this.clock.now() >= this.obtainedMs + (this.token?.lifetimeMs ?? 0) * USED_UNTIL;
  }

  private keep(token: AccessToken): Secret {
    this.token = token;
    this.obtainedMs = this.clock.now();
    this.renewMs = this.obtainedMs + token.lifetimeMs * RENEWED_AT;
    return token.value;
  }

  private postpone(error: unknown): void {
    this.renewMs = this.clock.now() + RENEW_AGAIN_MS;
    this.logger.warn(`Failed to renew the access token of ${this.email}: ${reasonOf(AppError.from(error).cause)}`);
  }
}

/** The upstream responded with 401 to a token that was kept. */
class RejectedToken extends Error {}

async function readJson(body: AsyncIterable<Buffer>): Promise<Readonly<Record<string, unknown>>> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE_BYTES) throw new Error('The response of the token service is too large.');
    chunks.push(chunk);
  }
  try {
    const parsed: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'));
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    // Only the status counts.
    return {};
  }
}

/** The reason is in `error` and `error_description`; only administrators see it. */
function refusalOf(
  status: number,
  { error, error_description: description }: Readonly<Record<string, unknown>>,
): AppError {
  const reason = [error, description].filter((part) => typeof part === 'string').join(': ');
  const cause = new Error(`token service, status ${status}${reason && `: ${reason}`}`);
  if (status !== 400 && status !== 401 && status !== 403) return failed(cause, status);
  const message = "The provider rejected this service's credentials. Contact an administrator.";
  return new AppError('upstream_auth', message, { failover: true, upstreamStatus: status }, { cause });
}

const failed = (cause: unknown, upstreamStatus?: number): AppError =>
  new AppError(
    'upstream_error',
    'Failed to get an access token for the upstream. Retry shortly.',
    { failover: true, ...(upstreamStatus !== undefined && { upstreamStatus }) },
    { cause },
  );
