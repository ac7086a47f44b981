import { Injectable } from '@nestjs/common';
import { Clock } from '../../platform/shared/index.js';
import type { Visitor } from '../../auth/index.js';
import { UsageExport } from '../../usage/index.js';
import { type AddressParts, filterOf, usageQuery } from './usage-query.js';

/** The calls that the log shows under an address, all of its pages, as CSV. */
@Injectable()
export class UsageCsv {
  constructor(
    private readonly calls: UsageExport,
    private readonly clock: Clock,
  ) {}

  of({ accountId, timeZone, operator }: Visitor, parts: AddressParts): AsyncGenerator<string, void, void> {
    const now = this.clock.date();
    const filter = filterOf(usageQuery(parts, now, timeZone), accountId, now, timeZone);
    return this.calls.csv({ ...filter, withChannels: operator });
  }
}
