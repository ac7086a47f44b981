import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { ApiKeyGuard, ApiKeyService, type KeyDescription } from '../keys/index.js';
import { type JsonObject, formatUsd } from '../shared/index.js';
import { AdapterRegistry } from './adapter.registry.js';
import { ModelAccess } from './model-access.js';
import { callerOf, requestLineOf } from './request-facts.js';

/** What a key can find out about itself: the models it may call and what it has left. */
@Controller('v1')
@UseGuards(ApiKeyGuard)
export class ModelsController {
  constructor(
    private readonly models: ModelAccess,
    private readonly adapters: AdapterRegistry,
    private readonly keys: ApiKeyService,
  ) {}

  @Get('models')
  list(@Req() request: FastifyRequest): JsonObject {
    const line = requestLineOf(request);
    return this.adapters.claimant(line).renderModels(this.models.listed(callerOf(request)), line);
  }

  /** The id may hold slashes, raw or as `%2F`. */
  @Get('models/*')
  find(@Req() request: FastifyRequest): JsonObject {
    const line = requestLineOf(request);
    const id = decodeURIComponent(line.path.slice('/v1/models/'.length));
    return this.adapters.claimant(line).renderModel(this.models.find(callerOf(request), id));
  }

  @Get('key')
  async key(@Req() request: FastifyRequest): Promise<JsonObject> {
    return renderKey(await this.keys.describe(callerOf(request).keyId));
  }
}

/** Amounts in US dollars as decimal strings; a quota of null is unlimited. */
const renderKey = ({ name, group, quota, used, held, walletBalance, walletHeld }: KeyDescription): JsonObject => ({
  object: 'key',
  name,
  group,
  quota_usd: quota === undefined ? null : formatUsd(quota),
  used_usd: formatUsd(used),
  held_usd: formatUsd(held),
  quota_left_usd: quota === undefined ? null : formatUsd(quota - used - held),
  wallet: { balance_usd: formatUsd(walletBalance), held_usd: formatUsd(walletHeld) },
});
