import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiKeyGuard } from '../keys/index.js';
import type { JsonObject } from '../platform/shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ModelAccess } from './model-access.js';
import { callerOf, requestLineOf } from './request-facts.js';

/** Lists the models of a key. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class ModelsController {
  constructor(
    private readonly models: ModelAccess,
    private readonly adapters: AdapterRegistry,
  ) {}

  @Get('models')
  list(@Req() request: FastifyRequest): JsonObject {
    const line = requestLineOf(request);
    return this.adapters.claimant(line).renderModels(this.models.listed(callerOf(request)), line);
  }

  /** IDs may contain slashes, raw or as `%2F`. */
  @Get('models/*')
  find(@Req() request: FastifyRequest): JsonObject {
    const line = requestLineOf(request);
    const id = decodeURIComponent(line.path.slice('/v1/models/'.length));
    return this.adapters.claimant(line).renderModel(this.models.find(callerOf(request), id));
  }
}
