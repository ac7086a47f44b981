import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { GROUP_CHOICES, type GroupChoice } from '../../index.js';
import { LARGEST_LIMIT } from '../../../platform/limits/index.js';
import {
  Decimal,
  DecimalsByName,
  isName,
  Mapping,
  MULTIPLIER_DIGITS,
  Name,
  OneOf,
  Optional,
  Text,
  TrueOrFalse,
  Whole,
} from './fields.js';

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
