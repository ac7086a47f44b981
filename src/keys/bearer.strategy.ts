import { Injectable } from '@nestjs/common';
import { PassportStrategy } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { Strategy } from 'passport-http-bearer';
import type { Caller } from './caller.js';
import { type Credentials, readCredentials } from './credentials.js';
import { KeyAuthenticator } from './key-authenticator.js';

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
