import { Injectable } from '@nestjs/common';
import { Clock, ZERO } from '../../shared/index.js';
import { StoredAnswers } from '../../stored-answers/index.js';
import { Cursors, Page, Redirect, type Visitor } from '../../web/index.js';
import { type CallDetails, CallDetailsReader } from '../call-details.js';
import { CallNotFound, RangeTooLarge } from '../usage.errors.js';
import { LogReader } from './log-reader.js';
import { callPage } from './call.view.js';
import { type AddressParts, filterOf, type UsageQuery, usageQuery } from './usage-query.js';
import { type LogEntry, logPage } from './usage-logs.view.js';
import type { LogPosition, LogStart } from '../usage-log.js';

const LIST = 'usage';

/** The pages of the log and of one call. */
@Injectable()
export class UsageLogsPages {
  constructor(
    private readonly log: LogReader,
    private readonly details: CallDetailsReader,
    private readonly cursors: Cursors,
    private readonly clock: Clock,
    private readonly answers: StoredAnswers,
  ) {}

  async list({ accountId, timeZone }: Visitor, parts: AddressParts): Promise<Page> {
    const now = this.clock.date();
    const query = usageQuery(parts, now, timeZone);
    const entry = entryOf(parts);
    const { start, lost } = this.startOf(entry);
    try {
      const opened = entry.open === undefined ? undefined : await this.opened(accountId, entry.open);
      const filter = filterOf(query, accountId, now, timeZone);
      const read = await this.log.read({ filter, timeZone, division: query.by || undefined, start, size: query.size });
      const data = logPage({
        ...read,
        query,
        entry: lost ? {} : entry,
        opened,
        lost,
        newer: this.seal(read.page.newer),
        older: this.seal(read.page.older),
        calls: read.page.calls,
      });
      return new Page('usage-logs/list', { title: 'Usage', data });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return this.tooLarge(query, error);
    }
  }

  async call({ accountId, operator, timeZone }: Visitor, id: string): Promise<Page> {
    const details = await this.details.find(accountId, id);
    const keptUntil = await this.answers.keptUntil(accountId, details.call.id);
    const data = { ...callPage(details, this.clock.date(), timeZone, operator), keptUntil };
    return new Page('usage-logs/call', { title: `Call of ${details.call.model || id}`, data });
  }

  /** Deletes the answer of a call that its client had kept. */
  async forget({ accountId }: Visitor, id: string): Promise<Redirect> {
    const { call } = await this.details.find(accountId, id);
    await this.answers.forget(accountId, call.id);
    return new Redirect(`/usage-logs/common/${call.id}`, {
      tone: 'ok',
      title: 'The answer is deleted',
      text: 'Nothing of it is kept here any more: a request that continues it is refused.',
    });
  }

  /** Filters as they were, and a way to a shorter range. */
  private tooLarge(query: UsageQuery, error: RangeTooLarge): Page {
    const narrow = logPage({
      query,
      entry: {},
      calls: [],
      newer: undefined,
      older: undefined,
      sums: { total: NOTHING, starts: [], bars: [], series: [] },
      times: { total: undefined, bars: new Map(), sampled: false },
      scale: { unit: 'hour', timeZone: 'UTC' },
      models: [],
      groups: [],
      keys: [],
      opened: undefined,
      everUsed: true,
      lost: false,
    });
    const data = { ...narrow, charts: undefined, empty: undefined, tooLarge: error.message };
    return new Page('usage-logs/list', { title: 'Usage', status: 503, data });
  }

  private async opened(accountId: string, id: string): Promise<CallDetails | undefined> {
    try {
      return await this.details.find(accountId, id);
    } catch (error) {
      if (error instanceof CallNotFound) return undefined;
      throw error;
    }
  }

  private startOf({ before, after }: LogEntry): { readonly start: LogStart; readonly lost: boolean } {
    const sealed = before ?? after;
    if (sealed === undefined) return { start: undefined, lost: false };
    const { at, id } = this.cursors.open(LIST, sealed) ?? {};
    if (at === undefined || id === undefined) return { start: undefined, lost: true };
    return { start: before === undefined ? { after: [at, id] } : { before: [at, id] }, lost: false };
  }

  private seal(position: LogPosition | undefined): string | undefined {
    return position && this.cursors.seal(LIST, { at: position[0], id: position[1] });
  }
}

const NOTHING = { calls: 0, failed: 0, cost: ZERO, promptTokens: 0, cachedTokens: 0, completionTokens: 0 };

function entryOf(parts: AddressParts): LogEntry {
  const text = (name: string): string | undefined => {
    const part = parts[name];
    return typeof part === 'string' && part !== '' ? part : undefined;
  };
  const [before, after, open] = [text('before'), text('after'), text('open')];
  return { ...(before && { before }), ...(!before && after && { after }), ...(open && { open }) };
}
