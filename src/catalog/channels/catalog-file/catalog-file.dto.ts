import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import { ChannelEntry } from './channel.dto.js';
import { Mapping, Mappings, Optional } from './fields.js';
import { GroupEntry, DefaultLimitsEntry } from './group.dto.js';
import { ModelEntry } from './model.dto.js';

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
