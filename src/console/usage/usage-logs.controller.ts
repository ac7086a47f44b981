import { Controller, Get, Injectable, Module, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Visitor } from '../../auth/index.js';
import { Clock } from '../../platform/shared/index.js';
import { StoredResponses, StoredResponsesModule } from '../../relay/stored-responses/index.js';
import {
  type CallDetails,
  CallDetailsReader,
  CallNotFound,
  RangeTooLarge,
  UsageExport,
  UsageModule,
} from '../../usage/index.js';
import { AccessModule, SignedIn } from '../access/index.js';
import { CurrentVisitor, Page, Redirect, sendCsv } from '../web/index.js';
import { callPage } from './call.view.js';
import { AllCallsReader, LogReader } from './log-reader.js';
import { UsageOverviewReader } from './overview-reader.js';
import { entryOf, logPage, LogPlaces } from './usage-logs.view.js';
import { type AddressParts, filterOf, type UsageQuery, usageQuery } from './usage-query.js';

const PATH = '/usage-logs/common';

/** The pages of the log and of one call. */
@Injectable()
class UsageLogsPages {
  constructor(
    private readonly log: LogReader,
    private readonly details: CallDetailsReader,
    private readonly places: LogPlaces,
    private readonly clock: Clock,
    private readonly answers: StoredResponses,
  ) {}

  async list({ accountId, timeZone }: Visitor, parts: AddressParts): Promise<Page> {
    const now = this.clock.date();
    const query = usageQuery(parts, now, timeZone);
    const entry = entryOf(parts);
    const { start, lost } = this.places.startOf(PATH, entry);
    try {
      const opened = entry.open === undefined ? undefined : await this.opened(accountId, entry.open);
      const filter = filterOf(query, accountId, now, timeZone);
      const read = await this.log.read({ filter, timeZone, division: query.by || undefined, start, size: query.size });
      const data = logPage({
        ...read,
        figures: read,
        query,
        entry: lost ? {} : entry,
        opened,
        lost,
        newer: this.places.seal(PATH, read.page.newer),
        older: this.places.seal(PATH, read.page.older),
        calls: read.page.calls,
      });
      return new Page('usage-logs/list', { title: 'Usage logs', data });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return this.tooLarge(query, error);
    }
  }

  async call({ accountId, operator, timeZone }: Visitor, id: string): Promise<Page> {
    const details = await this.details.find(accountId, id);
    const keptUntil = await this.answers.expiryOfCall(accountId, details.call.id);
    const data = { ...callPage(details, this.clock.date(), { timeZone, operator, path: PATH }), keptUntil };
    return new Page('usage-logs/call', { title: `Call of ${details.call.model || id}`, data });
  }

  /** Deletes the answer of a call that its client had kept. */
  async forget({ accountId }: Visitor, id: string): Promise<Redirect> {
    const { call } = await this.details.find(accountId, id);
    await this.answers.deleteOfCall(accountId, call.id);
    return new Redirect(`/usage-logs/common/${call.id}`, {
      tone: 'ok',
      title: 'Response deleted',
      text: 'Requests that refer to it are rejected.',
    });
  }

  /** Filters as they were, and a way to a shorter range. */
  private tooLarge(query: UsageQuery, error: RangeTooLarge): Page {
    const data = logPage({
      query,
      entry: {},
      calls: [],
      newer: undefined,
      older: undefined,
      figures: undefined,
      models: [],
      groups: [],
      keys: [],
      opened: undefined,
      everUsed: true,
      lost: false,
    });
    return new Page('usage-logs/list', {
      title: 'Usage logs',
      status: 503,
      data: { ...data, empty: undefined, tooLarge: error.message },
    });
  }

  private async opened(accountId: string, id: string): Promise<CallDetails | undefined> {
    try {
      return await this.details.find(accountId, id);
    } catch (error) {
      if (error instanceof CallNotFound) return undefined;
      throw error;
    }
  }
}

/** The calls that the log shows under an address, all of its pages, as CSV. */
@Injectable()
class UsageCsv {
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

@SignedIn()
@Controller('usage-logs')
class UsageLogsController {
  constructor(
    private readonly pages: UsageLogsPages,
    private readonly csv: UsageCsv,
  ) {}

  @Get('common')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('common.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'usage', this.csv.of(visitor, parts));
  }

  @Get('common/:id')
  call(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    return this.pages.call(visitor, id);
  }

  @Post('common/:id/forget')
  forget(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    return this.pages.forget(visitor, id);
  }
}

@Module({
  imports: [AccessModule, StoredResponsesModule, UsageModule],
  controllers: [UsageLogsController],
  providers: [AllCallsReader, LogPlaces, LogReader, UsageCsv, UsageLogsPages, UsageOverviewReader],
  exports: [AllCallsReader, LogPlaces, UsageModule, UsageOverviewReader],
})
export class UsagePagesModule {}
