import { Injectable } from '@nestjs/common';
import {
  type ChartScale,
  type Division,
  type LogPage,
  type LogStart,
  missingCalls,
  type Query,
  TimeLimitedReads,
  unitFor,
  type UsageFilter,
  UsageLog,
  type UsageTotals,
  UsageTotalsReader,
  usedNames,
} from '../../usage/index.js';

interface LogRequest {
  readonly filter: UsageFilter & { readonly accountId: string };
  readonly timeZone: string;
  readonly division: Division | undefined;
  readonly start: LogStart;
  readonly size: number;
}

/** Everything that the page of the log shows, of one moment. */
export interface LogReading {
  readonly page: LogPage;
  readonly sums: UsageTotals;
  readonly scale: ChartScale;
  readonly models: readonly string[];
  readonly groups: readonly string[];
  readonly keys: readonly { readonly id: string; readonly name: string }[];
  readonly everUsed: boolean;
  /** What is said of calls of the range that are not kept any more; undefined: all are. */
  readonly missing: string | undefined;
}

const KEYS = `SELECT id, name FROM api_keys WHERE account_id = $1 ORDER BY state = 'deleted', lower(name), id LIMIT 500`;
const USED = `
  SELECT EXISTS (SELECT FROM calls WHERE account_id = $1) OR EXISTS (SELECT FROM open_calls WHERE account_id = $1)
      OR EXISTS (SELECT FROM dropped_calls WHERE account_id = $1) AS used`;

@Injectable()
export class LogReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly log: UsageLog,
    private readonly sums: UsageTotalsReader,
  ) {}

  /** @throws RangeTooLarge */
  read(request: LogRequest): Promise<LogReading> {
    return this.reads.read((query) => this.readAll(query, request));
  }

  private async readAll(query: Query, { filter, timeZone, division, start, size }: LogRequest): Promise<LogReading> {
    const scale: ChartScale = { unit: unitFor(filter.from, filter.to), timeZone };
    const page = await this.log.page(query, filter, start, size);
    const sums = await this.sums.read(query, filter, scale, division);
    const { models, groups } = await usedNames(query, filter);
    const keys = await query<{ id: string; name: string }>(KEYS, [filter.accountId]);
    const everUsed =
      page.calls.length > 0 || (await query<{ used: boolean }>(USED, [filter.accountId]))[0]?.used === true;
    const missing = await missingCalls(query, filter.from);
    return { page, sums, scale, models, groups, keys, everUsed, missing };
  }
}
