import { Injectable } from '@nestjs/common';
import type { EntityManager } from 'typeorm';
import { hash } from 'node:crypto';
import { AuditLog } from '../platform/audit/index.js';

const REVISION_CHARACTERS = 22;

/** A field that may contain secrets: changes are reported without values. */
interface HiddenFact {
  readonly hidden: string;
}

/** The properties of an object, by their names in the catalog file. Equal facts mean equal objects. */
export type Facts = Readonly<Record<string, string | HiddenFact>>;

/** The changed object. */
export interface ChangedItem {
  readonly kind: 'group' | 'model' | 'channel' | 'limits';
  readonly name: string;
  /** ID of objects that can be renamed; default: the name. */
  readonly id?: string;
}

/** A single change. */
export interface Change {
  readonly subject: ChangedItem;
  /** `tier 1 → 2`, `added`, `disabled`. */
  readonly text: string;
  /** Properties of a new object, for the audit log: `tier 1`. */
  readonly details?: readonly string[];
}

/** `channel main: tier 1 → 2` */
export const lineOf = ({ subject, text }: Change): string =>
  `${subject.kind === 'limits' ? 'limits of' : subject.kind} ${subject.name}: ${text}`;

/** One change per differing field. A missing field counts as empty. */
export function describeChanges(subject: ChangedItem, before: Facts, after: Facts): readonly Change[] {
  const gone = Object.keys(before).filter((field) => !(field in after));
  return [...Object.keys(after), ...gone].flatMap((field) => {
    const [then, now] = [before[field] ?? '', after[field] ?? ''];
    if (plain(then) === plain(now)) return [];
    const hidden = typeof now !== 'string' || typeof then !== 'string';
    return [{ subject, text: `${field} ${hidden ? 'changed' : `${shown(then)} → ${shown(now)}`}` }];
  });
}

/** The same for objects that may be new, disabled or re-enabled. */
export function difference(
  subject: ChangedItem,
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

/** Short hash of facts. Hidden facts cannot be derived from it. */
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

/** Sorted names, so that their order does not matter. */
export const listed = (names: readonly string[]): string => [...new Set(names)].toSorted().join(', ');

/** `a 1, b 2`, sorted by name. */
export const sortedPairs = (values: Readonly<Record<string, unknown>>): string =>
  Object.keys(values)
    .toSorted()
    .map((name) => (values[name] === true ? name : `${name} ${JSON.stringify(values[name])}`))
    .join(', ');

/** One line per visible, non-empty fact. */
const detailsOf = (facts: Facts): readonly string[] =>
  Object.entries(facts).flatMap(([field, fact]) =>
    typeof fact === 'string' && fact !== '' ? [`${field} ${fact}`] : [],
  );

const plain = (fact: string | HiddenFact): string => (typeof fact === 'string' ? fact : fact.hidden);
const shown = (text: string): string => text || '(none)';

/** Changes that are complete without a previous value. */
const IN_A_WORD: readonly string[] = ['added', 'disabled', 're-enabled', 'deleted'];

/** Writes changes of the catalog and of channels to the audit log, one entry per object. */
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

/** Groups are not empty. */
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

/** A named object that stays stored when disabled. */
interface Stored {
  readonly id?: string;
  readonly name: string;
  readonly enabled: boolean;
}

/** How to apply definitions of one kind. */
interface Replacement<Definition, Before extends Stored> {
  readonly kind: ChangedItem['kind'];
  /** All objects of the kind, including disabled ones. */
  readonly stored: readonly Before[];
  /** Applies a definition and enables the object. Returns the changes. */
  readonly put: (definition: Definition, before: Before | undefined) => Promise<readonly Change[]>;
  readonly disable: (before: Before) => Promise<void>;
  /** Whether to disable an object without a definition. */
  readonly prune: (before: Before) => boolean;
}

/** Applies all definitions of one kind, whose names are unique. Returns the changes. */
export async function replaceAll<Definition extends { readonly name: string }, Before extends Stored>(
  definitions: readonly Definition[],
  { kind, stored, put, disable, prune }: Replacement<Definition, Before>,
): Promise<Change[]> {
  const left = new Map(stored.map((before) => [before.name, before]));
  const changes: Change[] = [];
  for (const definition of definitions) {
    changes.push(...(await put(definition, left.get(definition.name))));
    left.delete(definition.name);
  }
  for (const before of [...left.values()].filter((entry) => entry.enabled && prune(entry))) {
    await disable(before);
    const { id, name } = before;
    changes.push({ subject: { kind, name, ...(id !== undefined && { id }) }, text: 'disabled' });
  }
  return changes;
}
