import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { EFFORTS, DEFAULT_SERVICE_TIERS } from '../../../protocols/contract/index.js';
import { type Flags, IMAGE_GENERATION_CLASSES, REQUIRED_IMAGE_CLASSES } from '../../index.js';
import { FlagList } from './channel-fields.js';
import {
  Decimal,
  DecimalsByName,
  Label,
  Mappings,
  Moment,
  MULTIPLIER_DIGITS,
  Name,
  Names,
  Optional,
  Text,
  TrueOrFalse,
  ValidateUnless,
  Whole,
  IntegersByName,
} from './fields.js';

export const PRICE_DIGITS = 9;
const MAX_TOKENS = 1_000_000_000;
const MAX_TOOL_USES = 1_000;
const MAX_TOKENS_PER_SECOND = 1_000_000;
/** As in requests: `web_search`. */
const WORD = /^[a-z][a-z0-9_-]{0,63}$/;

const isEffort = (name: string): boolean => (EFFORTS as readonly string[]).includes(name);
export const isTool = (name: string): boolean => WORD.test(name);
const isSpeed = (name: string): boolean => WORD.test(name) && name !== 'standard';
const isGeo = (name: string): boolean => WORD.test(name) && name !== 'global';
export const isImageClass = (name: string): boolean => (IMAGE_GENERATION_CLASSES as readonly string[]).includes(name);
const isServiceTier = (name: string): boolean => WORD.test(name) && !DEFAULT_SERVICE_TIERS.includes(name);

/** US dollars per million tokens. */
export class TierEntry {
  @Optional()
  @Whole(0, MAX_TOKENS)
  readonly from_prompt_tokens?: number | null;

  @Decimal(PRICE_DIGITS)
  readonly input: string;

  @Decimal(PRICE_DIGITS)
  readonly output: string;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly cache_read?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly cache_write_5m?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly cache_write_1h?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly cache_write_12h?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly reasoning?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly image_input?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly audio_input?: string | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly audio_output?: string | null;
}

/** The prices of a model. */
export class PricesEntry {
  @Optional()
  @DecimalsByName(EFFORTS.join(', '), isEffort, MULTIPLIER_DIGITS, 6)
  readonly effort_multipliers?: Readonly<Record<string, string>> | null;

  @Optional()
  @DecimalsByName(`service tiers other than ${DEFAULT_SERVICE_TIERS.join(', ')}`, isServiceTier, MULTIPLIER_DIGITS, 6)
  readonly service_tiers?: Readonly<Record<string, string>> | null;

  @Optional()
  @DecimalsByName('speeds other than standard', isSpeed, MULTIPLIER_DIGITS, 6)
  readonly speeds?: Readonly<Record<string, string>> | null;

  @Optional()
  @DecimalsByName('regions other than global', isGeo, MULTIPLIER_DIGITS, 6)
  readonly geos?: Readonly<Record<string, string>> | null;

  @Optional()
  @DecimalsByName('tools', isTool, PRICE_DIGITS)
  readonly tool_fees?: Readonly<Record<string, string>> | null;

  @Optional()
  @IntegersByName('tools', isTool, 1, MAX_TOOL_USES)
  readonly tool_max_uses?: Readonly<Record<string, number>> | null;

  @Optional()
  @DecimalsByName(IMAGE_GENERATION_CLASSES.join(', '), isImageClass, PRICE_DIGITS, 9, REQUIRED_IMAGE_CLASSES)
  readonly image_generation?: Readonly<Record<string, string>> | null;

  @Optional()
  @Decimal(PRICE_DIGITS)
  readonly request_fee?: string | null;

  @ValidateUnless('free')
  @Mappings(tierError)
  @ValidateNested({ each: true })
  @Type(() => TierEntry)
  readonly prices: readonly TierEntry[] | 'free';
}

/** Prices that begin later. */
export class UpcomingEntry extends PricesEntry {
  @Moment()
  readonly valid_from: Date;
}

export class ModelEntry extends PricesEntry {
  @Name()
  readonly name: string;

  @Optional()
  @Label()
  readonly display_name?: string | null;

  @Optional()
  @Text()
  readonly owned_by?: string | null;

  @Whole(1, MAX_TOKENS)
  readonly context_window: number;

  @Whole(1, MAX_TOKENS)
  readonly max_output_tokens: number;

  @Optional()
  @Names()
  readonly groups?: readonly string[] | null;

  @Optional()
  @FlagList()
  readonly capabilities?: Flags | null;

  /** Only applies with the capability `reasoning`. */
  @Optional()
  @Whole(0, MAX_TOKENS_PER_SECOND)
  readonly hidden_tokens_per_second?: number | null;

  @Optional()
  @TrueOrFalse()
  readonly enabled?: boolean | null;

  @Optional()
  @Moment()
  readonly valid_from?: Date | null;

  /** Ordered by time, all after `valid_from`. */
  @Optional()
  @Mappings(upcomingError)
  @ValidateNested({ each: true })
  @Type(() => UpcomingEntry)
  readonly upcoming?: readonly UpcomingEntry[] | null;
}

/** Each must be later than the previous one; invalid times are reported separately. */
function upcomingError(upcoming: unknown): string | undefined {
  const times = (upcoming as readonly UpcomingEntry[]).map(({ valid_from }) => Number(valid_from));
  return times.every((time, index) => !(time <= (times[index - 1] ?? -Infinity)))
    ? undefined
    : 'must be sorted by valid_from, ascending';
}

/** Tiers in ascending order, the first from 0. */
export function tierError(tiers: unknown): string | undefined {
  const starts = (tiers as readonly TierEntry[]).map((tier) => tier.from_prompt_tokens ?? 0);
  if (starts.length === 0) return 'must have at least one tier, or be "free"';
  if (starts[0] !== 0) return 'must start with a tier whose from_prompt_tokens is 0';
  return starts.every((start, index) => index === 0 || start > (starts[index - 1] ?? 0))
    ? undefined
    : 'must be sorted by from_prompt_tokens, ascending';
}
