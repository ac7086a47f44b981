import { applyDecorators } from '@nestjs/common';
import { plainToInstance, Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { type Flags, IMAGE_GENERATION_CLASSES, REQUIRED_IMAGE_CLASSES } from '../../index.js';
import { Auth, BaseUrl, Credentials, FlagMap, Headers, ModelNames, Query } from './channel-fields.js';
import {
  type Check,
  Decimal,
  DecimalsByName,
  Field,
  isMapping,
  isName,
  Label,
  Mapping,
  MULTIPLIER_DIGITS,
  Name,
  Names,
  Optional,
  textOf,
  Whole,
} from './fields.js';
import { isImageClass, isTool, PRICE_DIGITS, TierEntry, tierError } from './model.dto.js';

/** Upstream prices: a tier as in models. Fees are in the only or the first tier. */
export class CostEntry extends TierEntry {
  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly request_fee?: string | null;

  @Optional()
  @DecimalsByName('tools', isTool, PRICE_DIGITS)
  readonly tool_fees?: Readonly<Record<string, string>> | null;

  @Optional()
  @DecimalsByName(IMAGE_GENERATION_CLASSES.join(', '), isImageClass, PRICE_DIGITS, 9, REQUIRED_IMAGE_CLASSES)
  readonly image_generation?: Readonly<Record<string, string>> | null;
}

/** By public model name: a share of the model's own price as text, one tier, or several. */
type CostEntries = ReadonlyMap<string, string | CostEntry | readonly CostEntry[]>;

const SHARE = new RegExp(`^\\d{1,6}(\\.\\d{1,${MULTIPLIER_DIGITS}})?$`);

/** `{ model: 0.6 }`, `{ model: { input: …, output: … } }` or a list of such tiers. */
const Costs = (): PropertyDecorator =>
  applyDecorators(
    Field('areCosts', costsError, (_, written) => costEntries(written)),
    ValidateNested({ each: true }),
  );

function costEntries(written: unknown): unknown {
  if (!isMapping(written)) return textOf(written);
  return new Map(Object.entries(written).map(([model, cost]) => [model, costEntry(cost)]));
}

function costEntry(cost: unknown): unknown {
  if (isMapping(cost)) return plainToInstance(CostEntry, cost);
  return Array.isArray(cost) ? cost.map(costEntry) : textOf(cost);
}

const costsError: Check = (value) => {
  if (!(value instanceof Map)) return 'must be a mapping from model names to upstream costs';
  for (const [model, cost] of value as ReadonlyMap<string, unknown>) {
    const error = isName(model) ? costError(cost) : 'is not a model name';
    if (error !== undefined) return `must have an upstream cost per model; ${JSON.stringify(model)} ${error}`;
  }
  return undefined;
};

function costError(cost: unknown): string | undefined {
  if (cost instanceof CostEntry) return tierError([cost]);
  if (typeof cost === 'string') return SHARE.test(cost) ? undefined : NO_COST;
  if (!Array.isArray(cost) || !cost.every((tier) => tier instanceof CostEntry)) return NO_COST;
  const late = cost
    .slice(1)
    .some((tier) => [tier.request_fee, tier.tool_fees, tier.image_generation].some((fee) => fee !== undefined));
  return late ? 'must have fees in the first tier' : tierError(cost);
}

const NO_COST = `must be prices, a list of tiers, or a fraction of the model's price with at most ${MULTIPLIER_DIGITS} decimal places`;

const ONE_DAY_MS = 86_400_000;

class TimeoutsEntry {
  @Optional()
  @Whole(1, ONE_DAY_MS)
  readonly connect_ms?: number | null;

  @Optional()
  @Whole(1, ONE_DAY_MS)
  readonly first_event_ms?: number | null;

  @Optional()
  @Whole(1, ONE_DAY_MS)
  readonly idle_ms?: number | null;

  @Optional()
  @Whole(1, ONE_DAY_MS)
  readonly total_ms?: number | null;
}

export class ChannelEntry {
  @Label()
  readonly name: string;

  @Name()
  readonly protocol: string;

  @BaseUrl()
  readonly base_url: string;

  @Optional()
  @Auth()
  readonly auth?: string | null;

  @Optional()
  @Query()
  readonly query?: Readonly<Record<string, string>> | null;

  @Optional()
  @Credentials()
  readonly credentials?: readonly string[] | null;

  @ModelNames()
  readonly models: Readonly<Record<string, readonly string[]>>;

  @Optional()
  @Names()
  readonly groups?: readonly string[] | null;

  @Optional()
  @Whole(0, 1_000)
  readonly tier?: number | null;

  @Optional()
  @Whole(0, 1_000_000)
  readonly weight?: number | null;

  @Optional()
  @Whole(1, 1_000_000)
  readonly max_concurrency?: number | null;

  @Optional()
  @Costs()
  readonly costs?: CostEntries | null;

  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => TimeoutsEntry)
  readonly timeouts?: TimeoutsEntry | null;

  @Optional()
  @Headers()
  readonly headers?: Readonly<Record<string, string>> | null;

  @Optional()
  @FlagMap()
  readonly flags?: Flags | null;
}
