import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { IncomingHttpHeaders } from 'node:http';
import { Clock, Secret } from '../platform/shared/index.js';
import { InvalidToken, KeyNotFound, TooManyInvalidKeys } from './api-key.errors.js';
import type { OwnedKey } from './api-key.js';
import { type Caller, RefusedAddress, RefusedGroup, RefusedKey } from './caller.js';
import { type Credentials, readCredentials } from './credentials.js';
import { InvalidKeyThrottle } from './invalid-key-throttle.js';
import { KeyDirectory } from './key-directory.js';
import { TokenDirectory } from './token-issuers/token-directory.js';
import { isToken } from './token-issuers/token-verifier.js';

/** The caller of a key, and whether it is usable. */
interface ExaminedCaller {
  readonly caller: Caller;
  /** Why it is not usable now, regardless of the address. */
  readonly refusal: RefusedKey | undefined;
}

/** Authenticates requests. */
@Injectable()
export class KeyAuthenticator {
  constructor(
    private readonly directory: KeyDirectory,
    private readonly tokens: TokenDirectory,
    private readonly clock: Clock,
  ) {}

  /**
   * The caller of the first known key or valid token; headers that cannot be parsed do not invalidate others.
   * @param address client address
   * @throws RefusedKey when the key or its account is not usable now
   * @throws RefusedAddress when the key is not allowed from the address
   * @throws InvalidToken when there is no key or none is known
   * @throws AppError `unavailable` when the database does not respond, or the issuer of a token
   */
  async authenticate({ candidates, error }: Credentials, address: string): Promise<Caller> {
    let refusal: InvalidToken | undefined;
    for (const secret of candidates) {
      const caller = await this.find(secret);
      if (caller instanceof InvalidToken) refusal ??= caller;
      else if (caller) return this.accept(caller, () => address);
    }
    throw refusal ?? new InvalidToken(error);
  }

  /** The caller of a request's headers, for connections that last longer than one request. @throws as `authenticate` */
  callerIn(headers: IncomingHttpHeaders, rawHeaders: readonly string[], address: string): Promise<Caller> {
    return this.authenticate(readCredentials(headers, rawHeaders), address);
  }

  /**
   * The same without waiting, for a request whose first key is cached; undefined for all others.
   * @throws RefusedKey, RefusedAddress
   */
  authenticateCached({ candidates: [first] }: Credentials, addressOf: () => string): Caller | undefined {
    if (first === undefined) return undefined;
    const caller = (isToken(first) ? this.tokens : this.directory).findCached(first);
    return caller && this.accept(caller, addressOf);
  }

  /**
   * Reloads an outdated caller.
   * @throws RefusedKey, RefusedAddress when the key is no longer usable, or not from this address
   */
  async renew({ keyId }: Caller, address: string): Promise<Caller> {
    const caller = await this.directory.reload(keyId);
    if (caller === undefined) throw new InvalidToken('this API key no longer exists.');
    return this.accept(caller, () => address);
  }

  /**
   * The caller of a key of a signed-in account, without its secret.
   * @throws KeyNotFound when the account has no such key
   * @throws RefusedKey, RefusedAddress when the key is not usable now, or not from this address
   * @throws AppError `unavailable` when the database does not respond
   */
  async authenticateOwned({ accountId, memberId, id }: OwnedKey, address: string): Promise<Caller> {
    const caller = await this.directory.read(id);
    const isOwned = caller?.accountId === accountId && (memberId === undefined || caller.memberId === memberId);
    if (!isOwned) throw new KeyNotFound(id);
    return this.accept(caller, () => address);
  }

  /**
   * The secret of the caller's key, from the request headers, where alone it exists; for a JWT, one of its subject.
   * @throws InvalidToken when they do not contain it
   */
  async secretOf({ keyId, isTokenKey }: Caller, headers: IncomingHttpHeaders): Promise<Secret> {
    if (isTokenKey) return this.tokens.secretOf(keyId);
    for (const secret of readCredentials(headers, []).candidates)
      if ((await this.directory.find(secret))?.keyId === keyId) return new Secret(secret);
    throw new InvalidToken();
  }

  /** The caller of a key and why it is not usable; undefined if there is no such key. For dry runs. */
  async examine(keyId: string): Promise<ExaminedCaller | undefined> {
    return this.examined(await this.directory.read(keyId));
  }

  /** The same for a new key of the account without settings; undefined if there is no such account. */
  async examineNewKeyOf(accountId: string): Promise<ExaminedCaller | undefined> {
    return this.examined(await this.directory.lookAtNewKeyOf(accountId));
  }

  /**
   * Which of these keys are no longer usable. Keys that merely expired are not included: their running calls may
   * finish.
   * @throws AppError `unavailable` when the database does not respond
   */
  async revoked(keyIds: readonly string[]): Promise<readonly RefusedKey[]> {
    const callers = await this.directory.lookAtAll(keyIds);
    return callers.flatMap((caller) => revocationOf(caller) ?? []);
  }

  /** @returns why a token is not accepted, instead of throwing it: another header may have a valid key */
  private find(secret: string): Promise<Caller | InvalidToken | undefined> {
    if (!isToken(secret)) return this.directory.find(secret);
    return this.tokens.find(secret).catch((error: unknown) => {
      if (error instanceof InvalidToken) return error;
      throw error;
    });
  }

  private examined(caller: Caller | undefined): ExaminedCaller | undefined {
    return caller && { caller, refusal: this.refusalOf(caller) };
  }

  /** Why the key or its account is not usable now, regardless of the address; undefined if it is. */
  private refusalOf(caller: Caller): RefusedKey | undefined {
    const { expiresAt } = caller;
    const revocation = revocationOf(caller);
    if (revocation === undefined && expiresAt !== undefined && expiresAt <= this.clock.now())
      return new RefusedKey(`this API key expired at ${new Date(expiresAt).toISOString()}. Use another one.`, caller);
    return revocation;
  }

  /** Few keys are limited to networks: the address is only asked for when one is. */
  private accept(caller: Caller, addressOf: () => string): Caller {
    const refusal = this.refusalOf(caller);
    if (refusal !== undefined) throw refusal;
    if (!caller.isGroupAllowed) throw new RefusedGroup(caller);
    const { networks, teamNetworks } = caller;
    if (networks === undefined && teamNetworks === undefined) return caller;
    const address = addressOf();
    if (networks?.includes(address) === false) throw new RefusedAddress(address, caller);
    if (teamNetworks?.includes(address) === false) throw RefusedAddress.byTeam(address, caller);
    return caller;
  }
}

/** Why a key is not usable because of its own state, or that of its account or member; undefined if it is. */
function revocationOf(caller: Caller): RefusedKey | undefined {
  const { keyState, accountState, isTokenKey } = caller;
  if (keyState === 'deleted' && isTokenKey)
    return new RefusedKey('the API key of this token’s subject was deleted. Contact an administrator.', caller);
  if (keyState === 'deleted') return new RefusedKey('this API key was deleted. Use another one.', caller);
  if (keyState === 'disabled') return new RefusedKey('this API key is disabled. Enable it or use another one.', caller);
  if (accountState === 'deleted')
    return new RefusedKey('the account of this API key was deleted. Use another key.', caller);
  if (accountState === 'disabled')
    return new RefusedKey('the account of this API key is suspended. Contact an administrator.', caller);
  if (!caller.isMemberAllowed)
    return new RefusedKey(
      'its member may not use keys of this organization any more. Contact an administrator of the organization.',
      caller,
    );
  return undefined;
}

/**
 * Admits requests with a usable key and sets the Caller as `user`. Rejections of invalid keys are throttled; valid keys
 * are never delayed.
 */
@Injectable()
export class ApiKeyGuard extends AuthGuard('bearer') {
  constructor(
    private readonly throttle: InvalidKeyThrottle,
    private readonly authenticator: KeyAuthenticator,
  ) {
    super();
  }

  /**
   * Passport is asked only about keys that are not cached: it costs more than all else that is done with a cached one.
   * @throws TooManyInvalidKeys when the throttle's queue is full
   */
  override canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest & { user?: Caller }>();
    const credentials = readCredentials(request.headers, request.raw.rawHeaders);
    const caller = this.authenticator.authenticateCached(credentials, () => ipOf(request));
    if (caller === undefined) return this.askPassport(context);
    request.user = caller;
    return true;
  }

  private async askPassport(context: ExecutionContext): Promise<boolean> {
    try {
      return (await super.canActivate(context)) === true;
    } catch (error) {
      if (error instanceof InvalidToken) await this.waitForTurn(context);
      throw error;
    }
  }

  /** @throws InvalidToken, RefusedKey or RefusedAddress instead of Nest's plain 401 */
  override handleRequest<T = Caller>(error: unknown, caller: T | false, _info: unknown, context: ExecutionContext): T {
    if (error) throw error;
    if (caller) return caller;
    const { headers, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    throw new InvalidToken(readCredentials(headers, raw.rawHeaders).error);
  }

  private async waitForTurn(context: ExecutionContext): Promise<void> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (await this.throttle.turn(ipOf(request), () => request.raw.socket.destroyed)) return;
    // Reconnecting costs the client more than us.
    void context.switchToHttp().getResponse<FastifyReply>().header('connection', 'close');
    throw new TooManyInvalidKeys();
  }
}

/** Empty if the client is already gone, which the framework's types do not say. */
const ipOf = ({ ip }: { readonly ip: string | undefined }): string => ip ?? '';

/** The request as the strategy sees it: without query and body, where it would accept keys too. */
interface HeaderView {
  readonly headers: { readonly authorization?: string };
  readonly credentials: Credentials;
  /** Client address; empty if the client is gone. */
  readonly address: string;
}

/** Passport's bearer strategy for all headers that can carry a key. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly authenticator: KeyAuthenticator) {
    super({ passReqToCallback: true, realm: 'switchboard' });
  }

  override authenticate(request: unknown): void {
    const { headers, raw } = request as FastifyRequest;
    const credentials = readCredentials(headers, raw.rawHeaders);
    const [first] = credentials.candidates;
    const bearer = first === undefined ? {} : { authorization: `Bearer ${first}` };
    const view: HeaderView = { headers: bearer, credentials, address: ipOf(request as FastifyRequest) };
    // Typed for Express; the strategy only reads headers, body and query, and passes the view to `validate`.
    super.authenticate(view as never);
  }

  /** Called by the strategy once it found a key; the view has all keys of the request. */
  validate({ credentials, address }: HeaderView): Promise<Caller> {
    return this.authenticator.authenticate(credentials, address);
  }
}
