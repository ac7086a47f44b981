import { Injectable } from '@nestjs/common';
import { Clock } from '../../../platform/shared/index.js';
import { UsageExport } from '../../../usage/index.js';
import { type AddressParts, AllCallsReader, filterOf, usageQuery } from '../../usage/index.js';
import type { Visitor } from '../../../auth/index.js';

/** Exports all pages of the filtered call log as CSV. */
@Injectable()
export class CallsCsv {
  constructor(
    private readonly calls: UsageExport,
    private readonly reader: AllCallsReader,
    private readonly clock: Clock,
  ) {}

  async *of({ timeZone }: Visitor, parts: AddressParts): AsyncGenerator<string, void, void> {
    const now = this.clock.date();
    const query = usageQuery(parts, now, timeZone, '/admin/calls');
    const accountId = query.user === '' ? undefined : await this.reader.accountOf(query.user);
    yield* this.calls.csv(filterOf(query, accountId, now, timeZone));
  }
}
