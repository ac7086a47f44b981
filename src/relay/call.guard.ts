import { type CanActivate, type ExecutionContext, Injectable, UseGuards, applyDecorators } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { BillingService } from '../billing/index.js';
import { ApiKeyGuard, RefusedKey } from '../keys/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { arrivalOf, requestLineOf } from './request-facts.js';

/**
 * The key guard of routes that reach a model. A key that we issued but do not accept now leaves a row: its owner will
 * look there for the reason.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyGuard,
    private readonly billing: BillingService,
    private readonly adapters: AdapterRegistry,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    try {
      return await this.keys.canActivate(context);
    } catch (error) {
      if (error instanceof RefusedKey) {
        const request = context.switchToHttp().getRequest<FastifyRequest>();
        const protocol = this.adapters.claimant(requestLineOf(request)).id;
        const { caller } = error;
        await this.billing.refuse({ id: request.id, protocol, caller, ...arrivalOf(request) }, error);
      }
      throw error;
    }
  }
}

/** For controllers whose routes reach a model: the key is checked from the headers, before the body is read. */
export const CallRoute = (): ClassDecorator & MethodDecorator => applyDecorators(UseGuards(CallGuard));
