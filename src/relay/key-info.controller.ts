import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CatalogService } from '../catalog/index.js';
import { ApiKeyGuard, ApiKeyService } from '../keys/index.js';
import type { JsonObject } from '../platform/shared/index.js';
import { CallLookup } from '../usage/index.js';
import { renderGeneration, renderKey } from './key-info.response.js';
import { callerOf, requestLineOf } from './request-facts.js';

/** What a key can find out about itself: what it has left, and what became of a call. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class KeyInfoController {
  constructor(
    private readonly keys: ApiKeyService,
    private readonly calls: CallLookup,
    private readonly catalog: CatalogService,
  ) {}

  @Get('key')
  async key(@Req() request: FastifyRequest): Promise<JsonObject> {
    const key = await this.keys.describe(callerOf(request).keyId);
    return renderKey(key, this.catalog.current().usualLimits.key);
  }

  /** A wildcard, so that an id of any length is told in our words that there is no such call. */
  @Get('generations/*')
  async generation(@Req() request: FastifyRequest): Promise<JsonObject> {
    const id = decodeURIComponent(requestLineOf(request).path.slice('/v1/generations/'.length));
    return renderGeneration(await this.calls.find(callerOf(request).accountId, id));
  }
}
