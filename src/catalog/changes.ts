import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { AuditLog } from '../platform/audit/index.js';

const REVISION_CHARACTERS = 22;

/** A field that must not be shown, because it may carry a secret: a change of it is told without its values. */
interface HiddenFact {
  readonly hidden: string;
}

/** What something consists of, by the names that the catalog file uses. Two that are equal here are the same thing. */
export type Facts = Readonly<Record<string, string | HiddenFact>>;

/** What a change is made to. */
export interface Subject {
  readonly kind: 'group' | 'model' | 'channel' | 'limits';
  readonly name: string;
  /** Where it keeps its identity under another name; otherwise the name is the identity. */
  readonly id?: string;
}

/** One thing that became different. */
export interface Change {
  readonly subject: Subject;
  /** `tier 1 → 2`, `added`, `disabled`. */
  readonly text: string;
  /** Of something that is new, what it is made of, for the record: `tier 1`. */
  readonly details?: readonly string[];
}

/** `channel main: tier 1 → 2` */
export const lineOf = ({ subject, text }: Change): string =>
  `${subject.kind === 'limits' ? 'limits of' : subject.kind} ${subject.name}: ${text}`;

/** One change for each field that differs; none when all are the same. A field that only one of them has was empty. */
export function describeChanges(subject: Subject, before: Facts, after: Facts): readonly Change[] {
  const gone = Object.keys(before).filter((field) => !(field in after));
  return [...Object.keys(after), ...gone].flatMap((field) => {
    const [then, now] = [before[field] ?? '', after[field] ?? ''];
    if (plain(then) === plain(now)) return [];
    const hidden = typeof now !== 'string' || typeof then !== 'string';
    return [{ subject, text: `${field} ${hidden ? 'changed' : `${shown(then)} → ${shown(now)}`}` }];
  });
}

/** The same of something that may be new, or switched off so far, or from now on. */
export function difference(
  subject: Subject,
  stored: { readonly enabled: boolean } | undefined,
  before: Facts | undefined,
  after: Facts,
  enabled = true,
): readonly Change[] {
  const isNew = stored === undefined || before === undefined;
  const was = stored?.enabled ?? true;
  const switched = was === enabled ? [] : [{ subject, text: enabled ? 're-enabled' : 'disabled' }];
  return isNew
    ? [{ subject, text: 'added', details: detailsOf(after) }, ...switched]
    : [...switched, ...describeChanges(subject, before, after)];
}

/** Short text that is another one as soon as any of the facts is. Hidden facts cannot be read from it. */
export const revisionOf = (facts: Facts): string =>
  hash(
    'sha256',
    JSON.stringify(
      Object.keys(facts)
        .toSorted()
        .map((name) => [name, facts[name]]),
    ),
    'base64url',
  ).slice(0, REVISION_CHARACTERS);

/** Names in an order that does not depend on how they were written. */
export const listed = (names: readonly string[]): string => [...new Set(names)].toSorted().join(', ');

/** `a 1, b 2`, in the order of the names. */
export const sortedPairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.keys(values)
    .toSorted()
    .map((name) => (values[name] === true ? name : `${name} ${JSON.stringify(values[name])}`))
    .join(', ');

/** One line for each fact that says something and may be shown. */
const detailsOf = (facts: Facts): readonly string[] =>
  Object.entries(facts).flatMap(([field, fact]) =>
    typeof fact === 'string' && fact !== '' ? [`${field} ${fact}`] : [],
  );

const plain = (fact: string | HiddenFact): string => (typeof fact === 'string' ? fact : fact.hidden);
const shown = (text: string): string => text || '(none)';

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
