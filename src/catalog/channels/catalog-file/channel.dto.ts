import { Type } from 'class-transformer';
import { ValidateNested } from 'class-validator';
import type { Flags } from '../../index.js';
import { Auth, BaseUrl, Credentials, FlagMap, Headers, ModelNames, Query } from './channel-fields.js';
import { type CostEntries, Costs } from './cost.dto.js';
import { Label, Mapping, Name, Names, Optional, Whole } from './fields.js';

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
