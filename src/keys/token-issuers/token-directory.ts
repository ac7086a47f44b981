import { Injectable } from '@nestjs/common';
import { Config } from '../../platform/config/index.js';
import { AppError, derivedKey, Secret } from '../../platform/shared/index.js';
import { InvalidToken, KeyNotChecked } from '../api-key.errors.js';
import type { Caller } from '../caller.js';
import { hashSecret } from '../credentials.js';
import { KeyDirectory } from '../key-directory.js';
import { subjectHash, TokenKeys } from './token-keys.js';
import { TokenVerifier, type VerifiedToken } from './token-verifier.js';

interface CachedToken extends Omit<VerifiedToken, 'subject' | 'verifiedEmail'> {
  /** Hash of its subject's key, in base64. */
  readonly hash: string;
}

const MAX_CACHED = 50_000;

/** Finds callers by JWT, from memory where possible: as `KeyDirectory` does by secret. */
@Injectable()
export class TokenDirectory {
  /** By SHA-256 of the token, oldest first. */
  private readonly cache = new Map<string, CachedToken>();
  /** Checks in flight: concurrent first calls with a token share one. */
  private readonly pending = new Map<string, Promise<Caller>>();

  constructor(
    private readonly directory: KeyDirectory,
    private readonly verifier: TokenVerifier,
    private readonly keys: TokenKeys,
    private readonly config: Config,
  ) {}

  /** The caller of a token whose checks succeeded before; undefined if it must be checked. */
  findCached(token: string): Caller | undefined {
    const name = hashSecret(token).toString('base64');
    const cached = this.cache.get(name);
    if (cached === undefined) return undefined;
    if (this.verifier.isCurrent(cached)) return this.directory.findCachedByHash(cached.hash);
    this.cache.delete(name);
    return undefined;
  }

  /**
   * The caller of a token, in any state. The first token of a subject creates its key.
   * @throws InvalidToken with the reason, TooManyTokenKeys
   * @throws AppError `unavailable` when the issuer or the database does not respond
   */
  find(token: string): Promise<Caller> {
    const cached = this.findCached(token);
    if (cached !== undefined) return Promise.resolve(cached);
    const name = hashSecret(token).toString('base64');
    const pending = this.pending.get(name) ?? this.check(token, name).finally(() => this.pending.delete(name));
    this.pending.set(name, pending);
    return pending;
  }

  /**
   * Encrypts what a subject stores, instead of the secret that its key lacks: tokens change. Derived from SECRET_KEY.
   */
  secretOf(keyId: string): Secret {
    return new Secret(derivedKey(this.config.secretKey, `switchboard token key ${keyId} v1`).toString('base64url'));
  }

  private async check(token: string, name: string): Promise<Caller> {
    const verified = await this.verifier.verify(token);
    const hash = subjectHash(verified.issuer, verified.subject);
    const caller = await this.callerOf(verified, hash);
    const { issuer, keys, expiresAt } = verified;
    this.put(name, { issuer, keys, hash: hash.toString('base64'), expiresAt });
    return caller;
  }

  private async callerOf(token: VerifiedToken, hash: Buffer): Promise<Caller> {
    const known = await this.directory.findByHash(hash);
    // Refused for its state, whatever the token names now.
    if (known !== undefined && !isUsable(known)) return known;
    const owner = await this.keys.ownerOf(token).catch(rethrow);
    if (owner === undefined) throw new InvalidToken('the JWT is valid, but its subject has no account here.');
    if (known === undefined) return this.create(token, owner);
    if (!(await this.keys.isOf(hash, owner).catch(rethrow)))
      throw new InvalidToken(
        'the JWT’s subject now belongs to another account than its key. Contact an administrator.',
      );
    return known;
  }

  private async create(...[token, owner]: Parameters<TokenKeys['create']>): Promise<Caller> {
    const id = await this.keys.create(token, owner).catch(rethrow);
    const caller = await this.directory.reload(id);
    if (caller === undefined) throw new InvalidToken('the JWT’s key was deleted.');
    return caller;
  }

  private put(name: string, token: CachedToken): void {
    const [oldest] = this.cache.keys();
    if (oldest !== undefined && this.cache.size >= MAX_CACHED) this.cache.delete(oldest);
    this.cache.set(name, token);
  }
}

const isUsable = ({ keyState, accountState, isMemberAllowed }: Caller): boolean =>
  keyState === 'enabled' && accountState === 'enabled' && isMemberAllowed;

function rethrow(cause: unknown): never {
  throw cause instanceof AppError ? cause : new KeyNotChecked(cause);
}
