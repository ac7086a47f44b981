import { Controller, Get, Injectable, Param, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Visitor } from '../../../auth/index.js';
import { Clock } from '../../../platform/shared/index.js';
import { type CallDetails, CallDetailsReader, CallNotFound, RangeTooLarge, UsageExport } from '../../../usage/index.js';
import { Administrator } from '../../access/index.js';
import { type AddressParts, AllCallsReader, entryOf, filterOf, LogCursors, usageQuery } from '../../usage/index.js';
import { CurrentVisitor, Page, sendCsv } from '../../web/index.js';
import { callOfAll, type CallsInput, callsPage } from './calls.view.js';

const PATH = '/admin/calls';

const MISSING = new Page('admin/calls-missing', {
  title: 'Call not found',
  status: 404,
  data: {
    crumbs: [{ href: PATH, label: 'Calls' }, { label: 'Not found' }],
    action: { href: PATH, label: 'Show all calls' },
  },
});

/** The call log of all users, and call details. */
@Injectable()
export class CallsPages {
  constructor(
    private readonly calls: AllCallsReader,
    private readonly details: CallDetailsReader,
    private readonly places: LogCursors,
    private readonly clock: Clock,
  ) {}

  async list({ timeZone }: Visitor, parts: AddressParts): Promise<Page> {
    const now = this.clock.date();
    const query = usageQuery(parts, now, timeZone, PATH);
    const entry = entryOf(parts);
    const { start, lost } = this.places.startOf(query, entry);
    const user = query.user === '' ? undefined : await this.calls.accountOf(query.user);
    const filter = filterOf(query, user && { accountId: user.id }, now, timeZone);
    const shown = { query, entry: lost ? {} : entry, lost, user };
    try {
      const [list, figures, opened] = await Promise.all([
        this.calls.page(filter, start, query.size, query.sort || undefined),
        // Rows come from an index, charts from all matching calls: the page works without charts.
        this.calls.figures(filter, timeZone, query.by || undefined),
        entry.open === undefined ? undefined : this.find(entry.open),
      ]);
      const newer = this.places.seal(query, list.page.newer);
      const older = this.places.seal(query, list.page.older);
      return this.page({ ...shown, list, figures, opened, newer, older });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return this.page({ ...shown, list: undefined, figures: undefined, opened: undefined }, 503);
    }
  }

  async call({ timeZone }: Visitor, id: string): Promise<Page> {
    const details = await this.find(id);
    if (details === undefined) return MISSING;
    const background = await this.calls.background(details.call);
    const data = callOfAll(details, background, this.clock.date(), timeZone);
    return new Page('admin/calls-call', { title: `Call to ${details.call.model || id}`, data });
  }

  private page(input: CallsInput, status?: number): Page {
    return new Page('admin/calls', { title: 'Calls', data: callsPage(input), ...(status && { status }) });
  }

  private async find(id: string): Promise<CallDetails | undefined> {
    try {
      return await this.details.find(undefined, id);
    } catch (error) {
      if (error instanceof CallNotFound) return undefined;
      throw error;
    }
  }
}

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
    const user = query.user === '' ? undefined : await this.reader.accountOf(query.user);
    yield* this.calls.csv(filterOf(query, user && { accountId: user.id }, now, timeZone));
  }
}

@Administrator()
@Controller('admin')
export class CallsController {
  constructor(
    private readonly pages: CallsPages,
    private readonly csv: CallsCsv,
  ) {}

  @Get('calls')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('calls.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'calls', this.csv.of(visitor, parts));
  }

  @Get('calls/:id')
  call(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.pages.call(visitor, id);
  }
}
