import { Injectable, Logger } from '@nestjs/common';
import { createLocalJWKSet, type JSONWebKeySet, type LocalJWKSet } from 'jose';
import { ProviderHttp } from '../../auth/index.js';
import { AppError, Clock, isJsonObject, type JsonObject, reasonOf } from '../../platform/shared/index.js';
import { isTrustedAddress, type TokenIssuer } from './token-issuer.js';

/** The keys of an issuer. The same object as long as the issuer's set does not change. */
export interface KeySet {
  /** Finds a token's key from its header. */
  readonly find: LocalJWKSet;
  /** As fetched, to notice changes. */
  readonly text: string;
}

/** Times of key sets, in ms. */
@Injectable()
export class IssuerKeyTimings {
  /** Older sets are fetched again in the background. */
  readonly refreshMs: number = 10 * 60_000;
  /** Older sets are not used: a key that left the set is refused by then, even if the issuer is unreachable. */
  readonly lifetimeMs: number = 60 * 60_000;
  /** Between fetches for unknown keys; after failures. */
  readonly floorMs: number = 30_000;
  readonly retryMs: number = 5000;
  /** Of a fetch, metadata included. */
  readonly timeoutMs: number = 10_000;
}

/** The token cannot be checked now. The reason is logged. */
export class TokenIssuerUnavailable extends AppError {
  constructor({ name }: TokenIssuer) {
    super('unavailable', `The token could not be checked because ${name} cannot be reached. Retry shortly.`, {
      retryAfterSeconds: 5,
    });
  }
}

const MAX_KEYS = 100;

/** What is known of an issuer's keys. */
class KeySource {
  set: KeySet | undefined;
  fetchedAt = -Infinity;
  /** Start of the last fetch. */
  askedAt = -Infinity;
  hasFailed = false;
  pending: Promise<void> | undefined;

  /** @param address of which the keys are */
  constructor(readonly address: string) {}
}

/** Public keys of token issuers, cached. One fetch per issuer at a time. */
@Injectable()
export class IssuerKeys {
  private readonly logger = new Logger('TokenIssuers');
  /** By issuer ID. */
  private readonly sources = new Map<string, KeySource>();

  constructor(
    private readonly http: ProviderHttp,
    private readonly clock: Clock,
    private readonly timings: IssuerKeyTimings,
  ) {}

  /** Without waiting; undefined if none is known, or only an outdated one. */
  current(issuer: TokenIssuer): KeySet | undefined {
    const source = this.sourceOf(issuer);
    const now = this.clock.now();
    const age = now - source.fetchedAt;
    if (source.set === undefined || age >= this.timings.lifetimeMs) return undefined;
    if (age >= this.timings.refreshMs && this.mayRetry(source)) void this.fetch(issuer, source);
    return source.set;
  }

  /** @throws TokenIssuerUnavailable */
  async get(issuer: TokenIssuer): Promise<KeySet> {
    const current = this.current(issuer);
    if (current !== undefined) return current;
    const source = this.sourceOf(issuer);
    if (source.pending !== undefined || this.mayRetry(source)) await this.fetch(issuer, source);
    const fetched = this.current(issuer);
    if (fetched === undefined) throw new TokenIssuerUnavailable(issuer);
    return fetched;
  }

  /**
   * The keys as they are now, for a token whose key is not in the known set.
   * @returns undefined if they were fetched a moment ago
   * @throws TokenIssuerUnavailable
   */
  async renewed(issuer: TokenIssuer): Promise<KeySet | undefined> {
    const source = this.sourceOf(issuer);
    const isDue = this.clock.now() - source.askedAt >= this.timings.floorMs;
    if (source.pending !== undefined || (source.hasFailed ? this.mayRetry(source) : isDue))
      await this.fetch(issuer, source);
    else if (!source.hasFailed) return undefined;
    if (source.hasFailed || source.set === undefined) throw new TokenIssuerUnavailable(issuer);
    return source.set;
  }

  private mayRetry({ hasFailed, askedAt }: KeySource): boolean {
    return !hasFailed || this.clock.now() - askedAt >= this.timings.retryMs;
  }

  private sourceOf({ id, issuer, jwksUri }: TokenIssuer): KeySource {
    const address = jwksUri ?? issuer;
    const known = this.sources.get(id);
    if (known?.address === address) return known;
    const source = new KeySource(address);
    this.sources.set(id, source);
    return source;
  }

  /** Never rejects: failures are recorded in the source. */
  private fetch(issuer: TokenIssuer, source: KeySource): Promise<void> {
    source.pending ??= this.refresh(issuer, source).finally(() => (source.pending = undefined));
    return source.pending;
  }

  private async refresh(issuer: TokenIssuer, source: KeySource): Promise<void> {
    source.askedAt = this.clock.now();
    try {
      const set = await this.read(issuer);
      if (set.text !== source.set?.text) source.set = set;
      source.fetchedAt = source.askedAt;
      source.hasFailed = false;
    } catch (error) {
      source.hasFailed = true;
      this.logger.warn(`Keys of token issuer ${issuer.name} could not be fetched: ${reasonOf(error)}`);
    }
  }

  private async read({ issuer, jwksUri }: TokenIssuer): Promise<KeySet> {
    const signal = AbortSignal.timeout(this.timings.timeoutMs);
    const jwks = await this.json(jwksUri ?? (await this.discovered(issuer, signal)), signal);
    const { keys } = jwks;
    if (!Array.isArray(keys) || keys.length > MAX_KEYS) throw new Error('the response is not a key set');
    return { find: createLocalJWKSet(jwks as unknown as JSONWebKeySet), text: JSON.stringify(jwks) };
  }

  /** OpenID Connect Discovery 4. */
  private async discovered(issuer: string, signal: AbortSignal): Promise<string> {
    const metadata = await this.json(`${issuer.replace(/\/$/, '')}/.well-known/openid-configuration`, signal);
    const { issuer: found, jwks_uri: uri } = metadata;
    if (found !== issuer) throw new Error('the metadata is of another issuer');
    if (typeof uri !== 'string' || !isTrustedAddress(uri)) throw new Error('the metadata has no usable jwks_uri');
    return uri;
  }

  private async json(address: string, signal: AbortSignal): Promise<JsonObject> {
    const headers = { accept: 'application/json' };
    const response = await this.http.fetch(address, {
      method: 'GET',
      headers,
      body: undefined,
      redirect: 'manual',
      signal,
    });
    if (response.status !== 200) throw new Error(`${new URL(address).host} responded with ${response.status}`);
    const body: unknown = await response.json();
    if (!isJsonObject(body)) throw new Error('the response is not a JSON object');
    return body;
  }
}
