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
}

/** passport's bearer strategy over all headers that can carry a key. */
@Injectable()
export class BearerStrategy extends PassportStrategy(Strategy) {
  constructor(private readonly authenticator: KeyAuthenticator) {
    super({ passReqToCallback: true, realm: 'switchboard' });
  }

  override authenticate(request: unknown): void {
    const { headers, raw } = request as FastifyRequest;
    const credentials = readCredentials(headers, raw.rawHeaders);
    const [first] = credentials.candidates;
    const view: HeaderView = { headers: first === undefined ? {} : { authorization: `Bearer ${first}` }, credentials };
    // Typed for Express; the strategy reads no more than headers, body and query, and hands the view to `validate`.
    super.authenticate(view as never);
  }

  /** Called by the strategy once it found a key; the others that were sent are in the view. */
  validate({ credentials }: HeaderView): Promise<Caller> {
    return this.authenticator.authenticate(credentials);
  }
}
