import { Controller, Get, Module, Param, Post, Query, Res } from '@nestjs/common';
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
import { logPage } from './usage-logs.view.js';
import { type AddressParts, entryOf, filterOf, LogCursors, type UsageQuery, usageQuery } from './usage-query.js';

const PATH = '/usage-logs/common';

@SignedIn()
@Controller('usage-logs')
class UsageLogsController {
  constructor(
    private readonly log: LogReader,
    private readonly details: CallDetailsReader,
    private readonly places: LogCursors,
    private readonly calls: UsageExport,
    private readonly clock: Clock,
  ) {}

  @Get('common')
  async list(@CurrentVisitor() { accountId, timeZone }: Visitor, @Query() parts: AddressParts): Promise<Page> {
    const now = this.clock.date();
    const query = usageQuery(parts, now, timeZone);
    const entry = entryOf(parts);
    const { start, lost } = this.places.startOf(query, entry);
    try {
      const opened = entry.open === undefined ? undefined : await this.opened(accountId, entry.open);
      const filter = filterOf(query, accountId, now, timeZone);
      const { by, size, sort } = query;
      const read = await this.log.read({
        filter,
        timeZone,
        division: by || undefined,
        start,
        size,
        sort: sort || undefined,
      });
      const data = logPage({
        ...read,
        figures: read,
        query,
        entry: lost ? {} : entry,
        opened,
        lost,
        newer: this.places.seal(query, read.page.newer),
        older: this.places.seal(query, read.page.older),
        calls: read.page.calls,
      });
      return new Page('usage-logs/list', { title: 'Usage logs', data });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return tooLargePage(query, error);
    }
  }

  @Get('common.csv')
  export(
    @CurrentVisitor() { accountId, timeZone, isAdministrator }: Visitor,
    @Query() parts: AddressParts,
    @Res() reply: FastifyReply,
  ): void {
    const now = this.clock.date();
    const filter = filterOf(usageQuery(parts, now, timeZone), accountId, now, timeZone);
    sendCsv(reply, 'usage', this.calls.csv({ ...filter, withChannels: isAdministrator }));
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

/** Keeps the filters and suggests a shorter range. */
function tooLargePage(query: UsageQuery, error: RangeTooLarge): Page {
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

@SignedIn()
@Controller('usage-logs/common/:id')
class CallDetailsController {
  constructor(
    private readonly details: CallDetailsReader,
    private readonly responses: StoredResponses,
    private readonly clock: Clock,
  ) {}

  @Get()
  async show(
    @CurrentVisitor() { accountId, isAdministrator, timeZone }: Visitor,
    @Param('id') id: string,
  ): Promise<Page> {
    const details = await this.details.find(accountId, id);
    const keptUntil = await this.responses.expiryOfCall(accountId, details.call.id);
    const data = {
      ...callPage(details, this.clock.date(), { timeZone, isAdmin: isAdministrator, path: PATH }),
      keptUntil,
    };
    return new Page('usage-logs/call', { title: `Call to ${details.call.model || id}`, data });
  }

  @Post('forget')
  async forget(@CurrentVisitor() { accountId }: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { call } = await this.details.find(accountId, id);
    await this.responses.deleteOfCall(accountId, call.id);
    return new Redirect(`${PATH}/${call.id}`, {
      tone: 'ok',
      title: 'Response deleted',
      text: 'Requests that refer to it are rejected.',
    });
  }
}

@Module({
  imports: [AccessModule, StoredResponsesModule, UsageModule],
  controllers: [UsageLogsController, CallDetailsController],
  providers: [AllCallsReader, LogCursors, LogReader, UsageOverviewReader],
  exports: [AllCallsReader, LogCursors, UsageModule, UsageOverviewReader],
})
export class UsagePagesModule {}
