import { Controller, Get, HttpCode, Post, Req, Res, type Type, UseGuards } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../keys/index.js';
import type { JsonObject } from '../platform/shared/index.js';
import { type ProtocolAdapter, routeOf, type TokenCountEndpoint } from '../protocols/contract/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ModelAccess } from './admission-control.js';
import { callerOf, incomingCallOf, requestLineOf } from './call-context.js';
import { CallRoute } from './call.guard.js';
import { ProtocolDetection } from './protocol-detection.js';
import { PromptCounts, PromptRoute } from './prompt-counts.js';
import { RelayService } from './relay.service.js';
import { socketController } from './websocket/socket.controller.js';

/** Creates the controllers for a protocol's own endpoints. */
export const apiControllers = ({
  id,
  callPaths,
  tokenCounting,
  modelsPath,
  socket,
}: ProtocolAdapter): readonly Type[] => [
  callController(id, callPaths),
  ...(tokenCounting === undefined ? [] : [promptCountController(tokenCounting)]),
  ...(modelsPath === undefined ? [] : [modelsController(modelsPath)]),
  ...(socket === undefined ? [] : [socketController(id, socket.path)]),
];

function callController(id: ProtocolAdapter['id'], paths: readonly string[]): Type {
  @Controller()
  @CallRoute()
  class CallController {
    constructor(
      private readonly relay: RelayService,
      private readonly protocols: ProtocolDetection,
      private readonly adapters: AdapterRegistry,
    ) {}

    @Post(paths.map(routeOf))
    create(@Req() request: FastifyRequest, @Res() reply: FastifyReply): Promise<void> {
      const incoming = incomingCallOf(request);
      return this.relay.serve(this.protocols.at(this.adapters.clientAdapter(id), incoming.line), incoming, reply);
    }
  }
  return CallController;
}

function promptCountController(endpoint: TokenCountEndpoint): Type {
  @Controller()
  @PromptRoute()
  class PromptCountController {
    constructor(private readonly counts: PromptCounts) {}

    @Post(routeOf(endpoint.path))
    @HttpCode(200)
    count(@Req() request: FastifyRequest): Promise<JsonObject> {
      return this.counts.respond(endpoint, request);
    }
  }
  return PromptCountController;
}

/** Lists the models of a key, in the format of the client's protocol. */
function modelsController(path: string): Type {
  @Controller()
  @UseGuards(ApiKeyGuard)
  class ModelsController {
    constructor(
      private readonly models: ModelAccess,
      private readonly adapters: AdapterRegistry,
    ) {}

    @Get(path)
    list(@Req() request: FastifyRequest): JsonObject {
      const line = requestLineOf(request);
      return this.adapters.claimingAdapter(line).renderModels(this.models.listed(callerOf(request)), line);
    }

    /** IDs may contain slashes, raw or as `%2F`. */
    @Get(`${path}/*`)
    find(@Req() request: FastifyRequest): JsonObject {
      const line = requestLineOf(request);
      const id = decodeURIComponent(line.path.slice(path.length + 1));
      return this.adapters.claimingAdapter(line).renderModel(this.models.find(callerOf(request), id));
    }
  }
  return ModelsController;
}

/** For the protocols that share a path. */
export const ModelsController = modelsController('/v1/models');
