import { Injectable } from '@nestjs/common';
import { recordedChanges, type RecordedChange } from '../../../platform/audit/index.js';
import { csvLines, TimeLimitedReads } from '../../../usage/index.js';
import { type AddressParts } from '../../usage/index.js';
import type { Visitor } from '../../../auth/index.js';
import { auditQuery, changesOf } from './audit-query.js';

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
