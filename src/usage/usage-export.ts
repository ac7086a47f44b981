import { Injectable } from '@nestjs/common';
import type { UsageRow } from './usage-row.js';
import { csvHeader, csvOf } from './usage.csv.js';
import { UsageRepository } from './usage.repository.js';

/** Finished calls with `from <= time < to`, of one account or of all. */
export interface UsageSelection {
  readonly from: Date;
  readonly to: Date;
  readonly accountId?: string | undefined;
}

const PAGE_ROWS = 1000;

/** The record of calls as CSV. */
@Injectable()
export class UsageExport {
  constructor(private readonly usage: UsageRepository) {}

  /**
   * The header line, then a piece of text for each thousand calls, oldest first. Read as slowly as it is consumed, one
   * page in memory at a time; leaving early leaves nothing open.
   */
  async *csv({ from, to, accountId }: UsageSelection): AsyncGenerator<string, void, void> {
    yield csvHeader();
    const selection = { from: from.toISOString(), to: to.toISOString(), accountId: accountId ?? null, size: PAGE_ROWS };
    let rows: readonly UsageRow[];
    let after: UsageRow | undefined;
    do {
      rows = await this.usage.page({ ...selection, after });
      if (rows.length > 0) yield csvOf(rows);
      after = rows.at(-1);
    } while (rows.length === PAGE_ROWS);
  }
}
