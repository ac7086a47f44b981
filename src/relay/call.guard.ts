import { type CanActivate, type ExecutionContext, Injectable, UseGuards, applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { BillingService } from './billing/index.js';
import { ApiKeyGuard, type Caller, RefusedCaller } from '../keys/index.js';
import { AppError } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { LoadShedding } from './load-shedding.js';
import { NoMoreCalls, Overloaded } from './relay.errors.js';
import { arrivalOf, callerOf, requestLineOf } from './request-facts.js';
import { RunState } from './run-state.js';

/**
 * The guard of routes that reach a model: a key, and a process that takes calls. A refusal that concerns a key of
 * ours leaves a row: its owner will look there for the reason.
 */
@Injectable()
export class CallGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyGuard,
    private readonly billing: BillingService,
    private readonly adapters: AdapterRegistry,
    private readonly state: RunState,
    private readonly load: LoadShedding,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const http = context.switchToHttp();
    const request = http.getRequest<FastifyRequest>();
    try {
      const accepted = await this.keys.canActivate(context);
      if (this.state.draining) throw new NoMoreCalls();
      this.load.take(http.getResponse<FastifyReply>().raw);
      return accepted;
    } catch (error) {
      if (error instanceof RefusedCaller) await this.record(request, error.caller, error);
      else if (error instanceof NoMoreCalls || error instanceof Overloaded)
        await this.record(request, callerOf(request), error);
      throw error;
    }
  }

  private async record(request: FastifyRequest, caller: Caller, error: AppError): Promise<void> {
    const protocol = this.adapters.claimant(requestLineOf(request)).id;
    await this.billing.refuse({ id: request.id, protocol, caller, ...arrivalOf(request) }, error);
  }
}

/** For controllers whose routes reach a model: the key is checked from the headers, before the body is read. */
export const CallRoute = (): ClassDecorator & MethodDecorator => applyDecorators(UseGuards(CallGuard));
