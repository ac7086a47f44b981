import { Injectable } from '@nestjs/common';
import { type KeyUses, KeyUsesReader } from './key-uses.js';
import { missingCalls } from '../retention/retention.js';
import { type Query, TimeLimitedReads } from '../time-limited-reads.js';
import { type ChartScale, unitFor } from '../rollups/usage-chart.js';
import type { Span } from '../rollups/traffic-reader.js';
import type { CallOwner, UsageFilter } from '../usage-filter.js';
import { type UsageBar, type UsageTotals, UsageTotalsReader } from '../rollups/usage-totals.js';

/** Usage of a key from one snapshot; consistent with the log under the same filter. */
export interface KeyReport {
  readonly scale: ChartScale;
  readonly span: Span;
  /** By model. */
  readonly totals: UsageTotals;
  /** Hours with calls. */
  readonly hours: readonly UsageBar[];
  readonly addresses: KeyUses;
  readonly models: KeyUses;
  /** Note about dropped calls in the period; undefined: none. */
  readonly missing: string | undefined;
}

/** Finished calls of one key. */
type KeyUsageFilter = Pick<UsageFilter, 'from' | 'to'> & CallOwner & { readonly keyId: string };

/** Max rows of addresses and of models. */
const MAX_ROWS = 50;

/** Reads what the page of a key shows. */
@Injectable()
export class KeyReportReader {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly totals: UsageTotalsReader,
    private readonly uses: KeyUsesReader,
  ) {}

  /** @throws RangeTooLarge */
  read(filter: KeyUsageFilter, timeZone: string): Promise<KeyReport> {
    return this.reads.read((query) => this.readAll(query, filter, timeZone));
  }

  private async readAll(query: Query, filter: KeyUsageFilter, timeZone: string): Promise<KeyReport> {
    const scale: ChartScale = { unit: unitFor(filter.from, filter.to), timeZone };
    const key = { accountId: filter.accountId, memberId: filter.memberId, id: filter.keyId };
    const totals = await this.totals.read(query, filter, scale, 'model');
    const { bars } = await this.totals.read(query, filter, { unit: 'hour', timeZone });
    return {
      scale,
      span: filter,
      totals,
      hours: bars,
      addresses: await this.uses.by(query, 'address', key, filter, MAX_ROWS),
      models: await this.uses.by(query, 'model', key, filter, MAX_ROWS),
      missing: await missingCalls(query, filter.from),
    };
  }
}
