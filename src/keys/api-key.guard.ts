import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import { InvalidToken, TooManyInvalidKeys } from './api-key.errors.js';
import type { Caller } from './caller.js';
import { type Credentials, readCredentials } from './credentials.js';
import { InvalidKeyThrottle } from './invalid-key-throttle.js';
import { KeyAuthenticator } from './key-authenticator.js';

/**
 * Admits requests with a usable key and sets the Caller as `user`. Rejections of invalid keys are throttled; valid keys
 * are never delayed.
 */
@Injectable()
export class ApiKeyGuard extends AuthGuard('bearer') {
  constructor(private readonly strangers: InvalidKeyThrottle) {
    super();
  }

  /** @throws TooManyInvalidKeys when the throttle's queue is full */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
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
    throw new InvalidToken(readCredentials(headers, raw.rawHeaders).fault);
  }

  private async waitForTurn(context: ExecutionContext): Promise<void> {
    const { ip, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    // Undefined if the client is already gone; the framework's types do not say so.
    const address = (ip as string | undefined) ?? '';
    if (await this.strangers.turn(address, () => raw.socket.destroyed)) return;
    // Reconnecting costs the client more than us.
    void context.switchToHttp().getResponse<FastifyReply>().header('connection', 'close');
    throw new TooManyInvalidKeys();
  }
}

/** What the strategy sees of a request: no query and no body, where it would accept keys too. */
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
    // Undefined if the client is already gone; the framework's types do not say so.
    const { ip = '' } = request as { readonly ip?: string };
    const credentials = readCredentials(headers, raw.rawHeaders);
    const [first] = credentials.candidates;
    const bearer = first === undefined ? {} : { authorization: `Bearer ${first}` };
    const view: HeaderView = { headers: bearer, credentials, address: ip };
    // Typed for Express; the strategy only reads headers, body and query, and passes the view to `validate`.
    super.authenticate(view as never);
  }

  /** Called by the strategy once it found a key; the view has all keys of the request. */
  validate({ credentials, address }: HeaderView): Promise<Caller> {
    return this.authenticator.authenticate(credentials, address);
  }
}
