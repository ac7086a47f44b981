import { type ExecutionContext, Injectable } from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import type { FastifyRequest } from 'fastify';
import { InvalidToken } from './api-key.errors.js';
import type { Caller } from './caller.js';
import { readCredentials } from './credentials.js';

/** Lets a request pass when it carries a key that may be used, and puts the Caller on it as `user`. */
@Injectable()
export class ApiKeyGuard extends AuthGuard('bearer') {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    return (await super.canActivate(context)) === true;
  }

  /** @throws InvalidToken or RefusedKey in place of Nest's plain 401, so that the answer names the fault */
  override handleRequest<T = Caller>(error: unknown, caller: T | false, _info: unknown, context: ExecutionContext): T {
    if (error) throw error;
    if (caller) return caller;
    const { headers, raw } = context.switchToHttp().getRequest<FastifyRequest>();
    throw new InvalidToken(readCredentials(headers, raw.rawHeaders).fault);
  }
}
