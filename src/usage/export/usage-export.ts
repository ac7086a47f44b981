import { Injectable } from '@nestjs/common';
import type { UsageFilter } from '../usage-filter.js';
import type { UsageRow } from './usage-row.js';
import { csvHeader, csvOf } from './usage.csv.js';
import { UsageRepository } from './usage.repository.js';

/** Finished calls, as a filter has them; what an account's own people do not see is left empty for them. */
export interface UsageSelection extends Omit<UsageFilter, 'accountId'> {
  /** Left out: of every account. */
  readonly accountId?: string | undefined;
  /** Whether the channels are told. */
  readonly withChannels?: boolean;
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
  async *csv({ withChannels = true, ...selection }: UsageSelection): AsyncGenerator<string, void, void> {
    yield csvHeader();
    // What runs is never in it.
    if (selection.result === 'open') return;
    const filter = { ...selection, accountId: selection.accountId };
    let rows: readonly UsageRow[];
    let after: UsageRow | undefined;
    do {
      rows = await this.usage.page({ filter, after, size: PAGE_ROWS });
      if (rows.length > 0) yield csvOf(withChannels ? rows : rows.map((row) => ({ ...row, channel: '' })));
      after = rows.at(-1);
    } while (rows.length === PAGE_ROWS);
  }
}
