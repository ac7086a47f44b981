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
 * Lets a request pass when it carries a key that may be used, and puts the Caller on it as `user`. Strangers are refused
 * in their turn, and only they wait: whose key we issued is known by then.
 */
@Injectable()
export class ApiKeyGuard extends AuthGuard('bearer') {
  constructor(private readonly strangers: InvalidKeyThrottle) {
    super();
  }

  /** @throws TooManyStrangers when not even an InvalidToken can be told in time */
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return (await super.canActivate(context)) === true;
    } catch (error) {
      if (error instanceof InvalidToken) await this.waitForTurn(context);
      throw error;
    }
  }

  /** @throws InvalidToken, RefusedKey or RefusedAddress in place of Nest's plain 401, so that the answer names the fault */
  override handleRequest<T = Caller>(error: unknown, caller: T | false, _info: unknown, context: ExecutionContext): T {
    if (error) throw error;
    if (caller) return caller;
    const { headers, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    throw new InvalidToken(readCredentials(headers, raw.rawHeaders).fault);
  }

  private async waitForTurn(context: ExecutionContext): Promise<void> {
    const { ip, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    // The framework's types do not know that a client may be gone already.
    const address = (ip as string | undefined) ?? '';
    if (await this.strangers.turn(address, () => raw.socket.destroyed)) return;
    // Whoever wants to go on must connect anew, which costs them more than us.
    void context.switchToHttp().getResponse<FastifyReply>().header('connection', 'close');
    throw new TooManyInvalidKeys();
  }
}

/** What the strategy is shown of a request: no query and no body, where it would accept a key as well. */
interface HeaderView {
  readonly headers: { readonly authorization?: string };
  readonly credentials: Credentials;
  /** Whom it comes from; empty when that is gone already. */
  readonly address: string;
}

/** passport's bearer strategy over all headers that can carry a key. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly authenticator: KeyAuthenticator) {
    super({ passReqToCallback: true, realm: 'switchboard' });
  }

  override authenticate(request: unknown): void {
    const { headers, raw } = request as FastifyRequest;
    // The framework's types do not know that a client may be gone already.
    const { ip = '' } = request as { readonly ip?: string };
    const credentials = readCredentials(headers, raw.rawHeaders);
    const [first] = credentials.candidates;
    const bearer = first === undefined ? {} : { authorization: `Bearer ${first}` };
    const view: HeaderView = { headers: bearer, credentials, address: ip };
    // Typed for Express; the strategy reads no more than headers, body and query, and hands the view to `validate`.
    super.authenticate(view as never);
  }

  /** Called by the strategy once it found a key; the others that were sent are in the view. */
  validate({ credentials, address }: HeaderView): Promise<Caller> {
    return this.authenticator.authenticate(credentials, address);
  }
}
