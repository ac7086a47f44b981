import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { AuditLog } from '../platform/audit/index.js';
import type { Change } from './changes.js';

/** Changes that a word says, without what was before. */
const IN_A_WORD: readonly string[] = ['added', 'disabled', 're-enabled', 'deleted'];

/** Records what became different in the catalog, and in the channels: an entry for each thing. */
@Injectable()
export class CatalogAudit {
  constructor(private readonly log: AuditLog) {}

  async record(changes: readonly Change[], reason: string, manager: EntityManager): Promise<void> {
    for (const [first, ...others] of bySubject(changes)) {
      const { kind, name, id = name } = first.subject;
      const all = [first, ...others];
      const word = all.find(({ text }) => IN_A_WORD.includes(text))?.text;
      const lines = all.flatMap(({ text, details = [] }) => (text === word ? details : [text]));
      await this.log.record({ action: word ?? 'changed', object: { kind, id, name }, lines, reason }, manager);
    }
  }
}

/** Each list has at least one change. */
function bySubject(changes: readonly Change[]): Iterable<readonly [Change, ...Change[]]> {
  const lists = new Map<string, [Change, ...Change[]]>();
  for (const change of changes) {
    const name = `${change.subject.kind} ${change.subject.name}`;
    const list = lists.get(name);
    if (list === undefined) lists.set(name, [change]);
    else list.push(change);
  }
  return lists.values();
}
