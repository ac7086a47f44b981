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
import { asksForWebSocket, incomingCallOf, isApiRequest, requestLineOf } from './call-context.js';
import { CallRoute } from './call.guard.js';
import { ProtocolDetection } from './protocol-detection.js';
import { RelayService } from './relay.service.js';

/**
 * Unknown API paths require a valid key first, except WebSocket requests at call paths: those clients fall back to HTTP
 * only on the error that WebSockets are not supported.
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
    if (asksForWebSocket(request.headers) && this.adapters.isCallPath(requestLineOf(request).path)) return true;
    return this.keys.canActivate(context);
  }
}

/** Every path without a handler. */
@Controller()
@UseGuards(FallbackGuard)
export class FallbackController {
  constructor(
    private readonly config: Config,
    private readonly adapters: AdapterRegistry,
  ) {}

  @All('*')
  handle(@Req() request: FastifyRequest, @Res() reply: FastifyReply): void {
    if (!isApiRequest(request)) throw new NotFoundException();
    if (!this.adapters.isCallPath(requestLineOf(request).path) && !takesPosts(request)) throw this.notFound(request);
    refuseMethod(request, reply);
  }

  private notFound(request: FastifyRequest): AppError {
    const { path, method } = requestLineOf(request);
    const base = this.config.publicUrl ?? `http://${request.host}`;
    return new AppError(
      'not_found',
      `Unknown endpoint ${method} ${maskKeys(path)}. The base URL is ${base}/v1 for OpenAI clients and ${base} for Anthropic and Google clients; call endpoints are ${this.adapters.callPaths.join(', ')}.`,
    );
  }
}

/** For paths that accept POST only. @throws AppError */
export function refuseMethod(request: FastifyRequest, reply: FastifyReply): never {
  const { path, method } = requestLineOf(request);
  void reply.header('allow', 'POST, OPTIONS');
  if (asksForWebSocket(request.headers))
    throw new AppError('upgrade_required', `WebSockets are not supported at ${maskKeys(path)}. Use HTTP POST.`);
  throw new AppError('method_not_allowed', `${maskKeys(path)} accepts POST, not ${method}.`);
}

/** Paths below `/v1` that the router does not treat as patterns: it fails at a star within a segment. */
const PLAIN = /^\/v1\/[\w/-]+$/;

/** Whether the path accepts POST. The base URL is not suggested: POST to it is only tolerated. */
const takesPosts = (request: FastifyRequest): boolean => {
  const { path } = requestLineOf(request);
  return PLAIN.test(path) && request.server.hasRoute({ method: 'POST', url: path });
};

/** Calls posted to the base URL itself; those with Messages headers were rewritten before. */
@Controller()
@CallRoute()
export class BaseUrlController {
  constructor(
    private readonly relay: RelayService,
    private readonly protocols: ProtocolDetection,
  ) {}

  @Post('v1')
  create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
    const incoming = incomingCallOf(request);
    return this.relay.serve(this.protocols.byInput(incoming.line), incoming, reply);
  }
}
