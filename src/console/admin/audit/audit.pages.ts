import { Injectable } from '@nestjs/common';
import { recordedChanges } from '../../../platform/audit/index.js';
import { RangeTooLarge, TimeLimitedReads } from '../../../usage/index.js';
import { type AddressParts } from '../../usage/index.js';
import { Cursors, Page } from '../../web/index.js';
import { type Visitor } from '../../../auth/index.js';
import { auditQuery, changesOf } from './audit-query.js';
import { type AuditInput, auditPage } from './audit.view.js';

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
    const filter = changesOf(query, timeZone);
    try {
      const page = await this.reads.read((sql) => recordedChanges(sql, filter, start ?? {}, SIZE));
      const [newer, older] = [this.seal(page.newer), this.seal(page.older)];
      return pageOf({ query, changes: page.changes, newer, older, lost });
    } catch (error) {
      if (!(error instanceof RangeTooLarge)) throw error;
      return pageOf({ query, changes: undefined, newer: undefined, older: undefined, lost }, 503);
    }
  }

  private seal(id: string | undefined): string | undefined {
    return id && this.cursors.seal(LIST, { id });
  }
}

const pageOf = (input: AuditInput, status?: number): Page =>
  new Page('admin/audit', { title: 'Audit log', data: auditPage(input), ...(status && { status }) });
