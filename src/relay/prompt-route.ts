import { applyDecorators, type CanActivate, type ExecutionContext, Injectable, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../keys/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { CallLimits } from './call-limits.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';

/** Counts a request that costs nothing and leaves no row. Only behind the guard of keys. */
@Injectable()
export class RequestLimitGuard implements CanActivate {
  constructor(
    private readonly limits: CallLimits,
    private readonly adapters: AdapterRegistry,
  ) {}

  /** @throws RateLimited */
  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    const { ip } = arrivalOf(request);
    const standings = await this.limits.countRequest({ id: request.id, ip }, callerOf(request));
    if (standings === undefined) return true;
    const protocol = this.adapters.claimant(requestLineOf(request));
    void context.switchToHttp().getResponse<FastifyReply>().headers(protocol.renderLimits(standings));
    return true;
  }
}

/** For controllers that answer how long a prompt is: no call, but a request that a key makes. */
export const PromptRoute = (): ClassDecorator & MethodDecorator =>
  applyDecorators(UseGuards(ApiKeyGuard, RequestLimitGuard));
