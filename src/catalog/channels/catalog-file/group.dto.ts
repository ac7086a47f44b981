import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { LARGEST_LIMIT } from '../../../platform/limits/index.js';
import { GROUP_CHOICES, type GroupChoice } from '../../index.js';
import { ChannelEntry } from './channel.dto.js';
import {
  Decimal,
  DecimalsByName,
  isName,
  Mapping,
  Mappings,
  MULTIPLIER_DIGITS,
  Name,
  OneOf,
  Optional,
  Text,
  TrueOrFalse,
  Whole,
} from './fields.js';
import { ModelEntry } from './model.dto.js';

export class LimitsEntry {
  @Optional()
  @Whole(1, LARGEST_LIMIT)
  readonly requests_per_minute?: number | null;

  @Optional()
  @Whole(1, LARGEST_LIMIT)
  readonly tokens_per_minute?: number | null;

  @Optional()
  @Whole(1, LARGEST_LIMIT)
  readonly concurrency?: number | null;
}

/** Default limits of a kind. */
export class DefaultLimitsEntry {
  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => LimitsEntry)
  readonly key?: LimitsEntry | null;

  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => LimitsEntry)
  readonly account?: LimitsEntry | null;

  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => LimitsEntry)
  readonly address?: LimitsEntry | null;
}

export class GroupEntry {
  @Name()
  readonly name: string;

  @Optional()
  @Decimal(MULTIPLIER_DIGITS, 6)
  readonly multiplier?: string | null;

  @Optional()
  @DecimalsByName('models', isName, MULTIPLIER_DIGITS, 6)
  readonly models?: Readonly<Record<string, string>> | null;

  @Optional()
  @Text()
  readonly description?: string | null;

  @Optional()
  @OneOf(GROUP_CHOICES)
  readonly choice?: GroupChoice | null;

  @Optional()
  @TrueOrFalse()
  readonly enabled?: boolean | null;

  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => LimitsEntry)
  readonly limits?: LimitsEntry | null;
}

/** The catalog file as written, with the documented names and defaults. Decimals stay text. */
export class CatalogFileDto {
  @Optional()
  @Mappings()
  @ValidateNested({ each: true })
  @Type(() => GroupEntry)
  readonly groups?: readonly GroupEntry[] | null;

  @Optional()
  @Mappings()
  @ValidateNested({ each: true })
  @Type(() => ModelEntry)
  readonly models?: readonly ModelEntry[] | null;

  @Optional()
  @Mappings()
  @ValidateNested({ each: true })
  @Type(() => ChannelEntry)
  readonly channels?: readonly ChannelEntry[] | null;

  @Optional()
  @Mapping()
  @ValidateNested()
  @Type(() => DefaultLimitsEntry)
  readonly limits?: DefaultLimitsEntry | null;
}
