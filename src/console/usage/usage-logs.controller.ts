import { Controller, Get, Module, Param, Post, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import { allows, changedKeys, viewedCalls, type Visitor } from '../../auth/index.js';
import { Clock } from '../../platform/shared/index.js';
import { StoredResponses, StoredResponsesModule } from '../../relay/stored-responses/index.js';
import {
  type CallDetails,
  CallDetailsReader,
  type CallOwner,
  CallNotFound,
  RangeTooLarge,
  UsageExport,
  UsageModule,
} from '../../usage/index.js';
import { AccessModule, Allows, SignedIn } from '../access/index.js';
import { CurrentVisitor, Page, Redirect, sendCsv } from '../web/index.js';
import { callPage } from './call.view.js';
import { AllCallsReader, LogReader } from './log-reader.js';
import { UsageOverviewReader } from './overview-reader.js';
import { logPage } from './usage-logs.view.js';
import { type AddressParts, entryOf, filterOf, LogCursors, type UsageQuery, usageQuery } from './usage-query.js';

const PATH = '/usage-logs/common';

@SignedIn()
@Allows('view all usage', 'use keys')
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
  async list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    const { timeZone } = visitor;
    const owner = viewedCalls(visitor);
    const now = this.clock.date();
    const query = queryOf(visitor, parts, now);
    const entry = entryOf(parts);
    const { start, lost } = this.places.startOf(query, entry);
    try {
      const opened = entry.open === undefined ? undefined : await this.opened(owner, entry.open);
      const filter = filterOf(query, owner, now, timeZone);
      const { by, size, sort } = query;
      const read = await this.log.read({
        owner,
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
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    const now = this.clock.date();
    const filter = filterOf(queryOf(visitor, parts, now), viewedCalls(visitor), now, visitor.timeZone);
    sendCsv(reply, 'usage', this.calls.csv({ ...filter, withChannels: visitor.isAdministrator }));
  }

  private async opened(owner: CallOwner, id: string): Promise<CallDetails | undefined> {
    try {
      return await this.details.find(owner, id);
    } catch (error) {
      if (error instanceof CallNotFound) return undefined;
      throw error;
    }
  }
}

/** The member filter is for those who see the calls of all members. */
function queryOf({ organization, timeZone }: Visitor, parts: AddressParts, now: Date): UsageQuery {
  const query = usageQuery(parts, now, timeZone);
  return organization !== undefined && allows(organization, 'view all usage') ? query : { ...query, member: '' };
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
    members: [],
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
@Allows('view all usage', 'use keys')
@Controller('usage-logs/common/:id')
class CallDetailsController {
  constructor(
    private readonly details: CallDetailsReader,
    private readonly responses: StoredResponses,
    private readonly clock: Clock,
  ) {}

  @Get()
  async show(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Page> {
    const { isAdministrator, timeZone, organization, scopeId } = visitor;
    const details = await this.details.find(viewedCalls(visitor), id);
    const keptUntil = await this.responses.expiryOfCall(scopeId, details.call.id);
    const data = {
      ...callPage(details, this.clock.date(), { timeZone, isAdmin: isAdministrator, path: PATH }),
      keptUntil,
      mayForget: allows(organization, 'use keys'),
    };
    return new Page('usage-logs/call', { title: `Call to ${details.call.model || id}`, data });
  }

  @Post('forget')
  @Allows('use keys')
  async forget(@CurrentVisitor() visitor: Visitor, @Param('id') id: string): Promise<Redirect> {
    const { call } = await this.details.find(changedKeys(visitor), id);
    await this.responses.deleteOfCall(visitor.scopeId, call.id);
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
