import { Controller, Get, Req, UseGuards } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import { CatalogService } from '../catalog/index.js';
import { ApiKeyGuard, ApiKeyService, type KeyDescription, renderBudgets } from '../keys/index.js';
import { type Limits, ownOrDefault, renderLimits } from '../platform/limits/index.js';
import { formatUsd, type JsonObject } from '../platform/shared/index.js';
import { CallLookup, type CostLine, type RecordedCall, type SnapshotView } from '../usage/index.js';
import { callerOf, requestLineOf } from './call-context.js';

/** Information for a key about itself: limits, budgets and calls. In an organization, calls of its member alone. */
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
    return renderKey(key, this.catalog.current().defaultLimits.key);
  }

  /** A wildcard, so that IDs of any length get our own error. */
  @Get('generations/*')
  async generation(@Req() request: FastifyRequest): Promise<JsonObject> {
    const id = decodeURIComponent(requestLineOf(request).path.slice('/v1/generations/'.length));
    return renderGeneration(await this.calls.find(callerOf(request), id));
  }
}

/**
 * Amounts in US dollars as decimal strings; null means unlimited.
 * @param defaults default limits of keys
 */
const renderKey = (
  { name, tokenIssuer, group, quota, used, held, budgets, limits, wallet }: KeyDescription,
  defaults: Limits,
): JsonObject => ({
  object: 'key',
  name,
  ...(tokenIssuer !== undefined && { token_issuer: tokenIssuer }),
  group,
  quota_usd: quota === undefined ? null : formatUsd(quota),
  used_usd: formatUsd(used),
  held_usd: formatUsd(held),
  quota_left_usd: quota === undefined ? null : formatUsd(quota - used - held),
  budgets: renderBudgets(budgets),
  limits: renderLimits(ownOrDefault(limits, defaults)),
  wallet: wallet
    ? {
        balance_usd: formatUsd(wallet.balance),
        held_usd: formatUsd(wallet.held),
        owed_usd: formatUsd(wallet.owed),
      }
    : null,
});

/**
 * A call as its account may see it, without the channel. Unknown values are null. Names and counts match the usage
 * export.
 */
const renderGeneration = (call: RecordedCall): JsonObject => ({
  object: 'generation',
  id: call.id,
  created_at: call.createdAt.toISOString(),
  model: call.model,
  group: call.group,
  protocol: call.protocol,
  stream: call.stream,
  transport: call.transport,
  effort: call.effort || null,
  service_tier: call.snapshot?.service_tier ?? null,
  status: call.status,
  error_reason: call.errorReason || null,
  prompt_tokens: call.promptTokens,
  cached_tokens: call.cachedTokens,
  cache_write_tokens: call.cacheWriteTokens,
  completion_tokens: call.completionTokens,
  reasoning_tokens: call.reasoningTokens,
  cost_usd: dollars(call.cost),
  uncollected_usd: dollars(call.uncollected),
  held_usd: dollars(call.held),
  billing_basis: call.billingBasis,
  lines: call.lines.map(renderLine),
  multipliers: call.snapshot && renderMultipliers(call.snapshot),
  ...(call.snapshot?.models && {
    model_multipliers: Object.fromEntries(
      Object.entries(call.snapshot.models).map(([model, snapshot]) => [model, renderMultipliers(snapshot)]),
    ),
  }),
  first_token_ms: call.firstTokenMs,
  duration_ms: call.durationMs,
  attempts: call.attempts,
  upstream_report: call.upstreamReport,
});

/** Speed and region only if not standard. */
const renderMultipliers = (snapshot: SnapshotView): JsonObject => ({
  service_tier: snapshot.service_tier_multiplier ?? '1',
  ...(snapshot.speed_multiplier !== undefined && { speed: snapshot.speed_multiplier }),
  ...(snapshot.geo_multiplier !== undefined && { geo: snapshot.geo_multiplier }),
  effort: snapshot.effort_multiplier,
  group: snapshot.group_multiplier,
});

/** A cost line: tokens at a price per million, or uses at a fee. */
const renderLine = ({ item, quantity, price, pass, model }: CostLine): JsonObject => ({
  ...(pass !== undefined && { pass, model }),
  item,
  quantity,
  price_usd: price,
  per: item === 'request_fee' || item.startsWith('tool:') ? 'use' : 'million_tokens',
});

const dollars = (amount: bigint | null): string | null => (amount === null ? null : formatUsd(amount));
