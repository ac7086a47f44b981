import { Injectable } from '@nestjs/common';
import { addDays, dayOf, startOfDay } from '../../platform/shared/index.js';
import {
  type CallOwner,
  type LoggedCall,
  type ModelTrouble,
  modelTroubles,
  type Percentiles,
  type Query,
  TimeLimitedReads,
  type UsageFigures,
  UsageLog,
  type UsageTotals,
  UsageTotalsReader,
} from '../../usage/index.js';

/** Summary of an account's calls, from one snapshot. */
export interface UsageOverview {
  /** By day in the reader's time zone, up to today, and by model: those with the highest cost, and the others. */
  readonly spend: UsageTotals;
  readonly lastDay: UsageFigures;
  /** Of the last 24 hours; undefined without streams. */
  readonly firstTokens: Percentiles | undefined;
  /** The latest five of the last 30 days, newest first. */
  readonly latest: readonly LoggedCall[];
  readonly troubles: readonly ModelTrouble[];
  readonly everUsed: boolean;
}

interface OverviewRequest {
  readonly owner: CallOwner;
  readonly timeZone: string;
  /** Including today. */
  readonly days: number;
  readonly now: Date;
}

const DAY_MS = 24 * 60 * 60 * 1000;
const LATEST = 5;
const EVER_USED = `
  SELECT EXISTS (SELECT FROM calls WHERE account_id = $1 AND ($2::text IS NULL OR member_id = $2))
      OR ($2::text IS NULL AND EXISTS (SELECT FROM dropped_calls WHERE account_id = $1)) AS used`;
const LATEST_WITHIN_MS = 30 * DAY_MS;

@Injectable()
export class UsageOverviewReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly log: UsageLog,
    private readonly totals: UsageTotalsReader,
  ) {}

  /** @throws RangeTooLarge */
  read(request: OverviewRequest): Promise<UsageOverview> {
    return this.reads.read((query) => this.readAll(query, request));
  }

  private async readAll(query: Query, { owner, timeZone, days, now }: OverviewRequest): Promise<UsageOverview> {
    // Includes calls that start meanwhile.
    const since = (from: Date) => ({ ...owner, from, to: new Date(now.getTime() + DAY_MS) });
    const ago = (ms: number): Date => new Date(now.getTime() - ms);
    const scale = { unit: 'day', timeZone } as const;
    const lastDay = since(ago(DAY_MS));
    const { total, times } = await this.totals.read(query, lastDay, scale);
    const today = dayOf(now, timeZone);
    const shown = {
      ...owner,
      from: startOfDay(addDays(today, 1 - days), timeZone),
      to: startOfDay(addDays(today, 1), timeZone),
    };
    const { calls: latest } = await this.log.page(query, since(ago(LATEST_WITHIN_MS)), undefined, LATEST);
    const whose = [owner.accountId, owner.memberId ?? null];
    return {
      spend: await this.totals.read(query, shown, scale, 'model', 'cost'),
      lastDay: total,
      firstTokens: times.total.firstToken,
      latest,
      everUsed: latest.length > 0 || (await query<{ used: boolean }>(EVER_USED, whose))[0]?.used === true,
      troubles: await modelTroubles(query, owner, lastDay.from),
    };
  }
}
