import { Controller, Get, Injectable, Query, Res } from '@nestjs/common';
import type { FastifyReply } from 'fastify';
import type { Visitor } from '../../../auth/index.js';
import { type RecordedChange, recordedChanges } from '../../../platform/audit/index.js';
import { csvLines, RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import { Administrator } from '../../access/index.js';
import { type AddressParts, entryOf } from '../../usage/index.js';
import { CurrentVisitor, Cursors, Page, sendCsv } from '../../web/index.js';
import { type AuditInput, auditPage, auditQuery, changesOf } from './audit.view.js';

const LIST = 'audit';
const SIZE = 50;

/** `/admin/audit`: the audit log. */
@Injectable()
export class AuditPages {
  constructor(
    private readonly reads: TimeLimitedReads,
    private readonly cursors: Cursors,
  ) {}

  async list({ timeZone }: Visitor, parts: AddressParts): Promise<Page> {
    const query = auditQuery(parts);
    const start = this.cursors.placeIn(LIST, parts);
    const lost = start === undefined;
    const entry = lost ? {} : entryOf(parts);
    const filter = changesOf(query, timeZone);
    try {
      const page = await this.reads.read((sql) => recordedChanges(sql, filter, start ?? {}, SIZE));
      const [newer, older] = [this.seal(page.newer), this.seal(page.older)];
      return pageOf({ query, entry, changes: page.changes, newer, older, lost });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return pageOf({ query, entry, changes: undefined, newer: undefined, older: undefined, lost }, 503);
    }
  }

  private seal(id: string | undefined): string | undefined {
    return id && this.cursors.seal(LIST, { id });
  }
}

const pageOf = (input: AuditInput, status?: number): Page =>
  new Page('admin/audit', { title: 'Audit log', data: auditPage(input), ...(status && { status }) });

type Cells = Readonly<Record<string, (change: RecordedChange) => string>>;

/** The columns, in order. Programs read them by name: columns may be added, never renamed. */
const COLUMNS: Cells = {
  time: ({ at }) => at.toISOString(),
  id: ({ id }) => id,
  who: ({ actor }) => actor.name,
  action: ({ action }) => action,
  kind: ({ object }) => object.kind,
  object_id: ({ object }) => object.id,
  object: ({ object }) => object.name,
  changes: ({ lines }) => lines.join('\n'),
  reason: ({ reason }) => reason,
  address: ({ ip }) => ip,
};

const PAGE_ROWS = 500;

/** Exports all pages of the filtered audit log as CSV. */
@Injectable()
export class AuditCsv {
  constructor(private readonly reads: TimeLimitedReads) {}

  /** Yields the header line, then one chunk per page, newest first. Pages are read on demand. */
  async *of({ timeZone }: Visitor, parts: AddressParts): AsyncGenerator<string, void, void> {
    yield csvLines([Object.keys(COLUMNS)]);
    const filter = changesOf(auditQuery(parts), timeZone);
    let older: string | undefined;
    do {
      const start = { before: older };
      const page = await this.reads.read((query) => recordedChanges(query, filter, start, PAGE_ROWS));
      if (page.changes.length > 0)
        yield csvLines(page.changes.map((change) => Object.values(COLUMNS).map((cell) => cell(change))));
      older = page.older;
    } while (older !== undefined);
  }
}

@Administrator()
@Controller('admin')
export class AuditController {
  constructor(
    private readonly pages: AuditPages,
    private readonly csv: AuditCsv,
  ) {}

  @Get('audit')
  list(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts): Promise<Page> {
    return this.pages.list(visitor, parts);
  }

  @Get('audit.csv')
  export(@CurrentVisitor() visitor: Visitor, @Query() parts: AddressParts, @Res() reply: FastifyReply): void {
    sendCsv(reply, 'audit', this.csv.of(visitor, parts));
  }
}
