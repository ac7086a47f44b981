import {
  All,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Injectable,
  NotFoundException,
  Post,
  Req,
  Res,
  UseGuards,
} from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../keys/index.js';
import { Config } from '../platform/config/index.js';
import { AppError, maskKeys } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { isApiRequest, wantsWebSocket } from './api-paths.js';
import { CallRoute } from './call.guard.js';
import { ProtocolChoices } from './protocol-choices.js';
import { RelayService } from './relay.service.js';
import { requestLineOf } from './request-facts.js';

/**
 * Programs that lost their way must show a key first: to a stranger every unknown address is `Invalid token`. Not so
 * those that try a WebSocket where calls are posted: they go on without one only when they are told that there is none.
 */
@Injectable()
export class FallbackGuard implements CanActivate {
  constructor(
    private readonly keys: ApiKeyGuard,
    private readonly adapters: AdapterRegistry,
  ) {}

  canActivate(context: ExecutionContext): boolean | Promise<boolean> {
    const request = context.switchToHttp().getRequest<FastifyRequest>();
    if (!isApiRequest(request) || request.method === 'HEAD') return true;
    if (wantsWebSocket(request) && this.adapters.callPaths.includes(requestLineOf(request).path)) return true;
    return this.keys.canActivate(context);
  }
}

/** Every address that nothing else answers. */
@Controller()
@UseGuards(FallbackGuard)
export class FallbackController {
  constructor(
    private readonly config: Config,
    private readonly adapters: AdapterRegistry,
  ) {}

  @All('*')
  answer(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!isApiRequest(request)) throw new NotFoundException();
    const { path, method } = requestLineOf(request);
    if (!takesPosts(request)) throw this.notFound(request);
    void reply.header('allow', 'POST, OPTIONS');
    if (wantsWebSocket(request))
      throw new AppError('upgrade_required', `WebSockets are not supported at ${maskKeys(path)}. Use HTTP POST.`);
    throw new AppError('method_not_allowed', `${maskKeys(path)} takes POST, not ${method}.`);
  }

  private notFound(request: FastifyRequest): AppError {
    const { path, method } = requestLineOf(request);
    const base = this.config.publicUrl ?? `http://${request.host}`;
    return new AppError(
      'not_found',
      `Unknown endpoint ${method} ${maskKeys(path)}. The base address is ${base}/v1 for OpenAI clients and ${base} for Anthropic clients; call endpoints are ${this.adapters.callPaths.join(', ')}.`,
    );
  }
}

/** An address below `/v1` in which the router sees no pattern: it fails at a star in the middle of one. */
const PLAIN = /^\/v1\/[\w/-]+$/;

/** Whether a POST would have been answered here. To the base address nobody is sent: a POST to it is only understood. */
const takesPosts = (request: FastifyRequest): boolean => {
  const { path } = requestLineOf(request);
  return PLAIN.test(path) && request.server.hasRoute({ method: 'POST', url: path });
};

/** Calls that were posted to the base address itself; those whose headers say Messages never come here. */
@Controller()
@CallRoute()
export class BareAddressController {
  constructor(
    private readonly relay: RelayService,
    private readonly choices: ProtocolChoices,
  ) {}

  @Post('v1')
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    return this.relay.answer(this.choices.byInput(requestLineOf(request)), request, reply);
  }
}
