import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiKeyGuard, ApiKeyService } from '../keys/index.js';
import type { JsonObject } from '../shared/index.js';
import { renderKey } from './holder.answers.js';
import { callerOf } from './request-facts.js';

/** What a key can find out about itself: what it has left. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class HolderController {
  constructor(private readonly keys: ApiKeyService) {}

  @Get('key')
  async key(@Req() request: FastifyRequest): Promise<JsonObject> {
    return renderKey(await this.keys.describe(callerOf(request).keyId));
  }
}
