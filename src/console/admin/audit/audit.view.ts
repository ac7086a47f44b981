import {
  AUDIT_KINDS,
  type AuditObjectKind,
  type ChangeFilter,
  type RecordedChange,
} from '../../../platform/audit/index.js';
import { addDays, isDay, startOfDay } from '../../../platform/shared/index.js';
import type { AddressParts, LogEntry } from '../../usage/index.js';
import { diffOf } from './change-diff.js';

export interface AuditInput {
  readonly query: AuditQuery;
  readonly entry: LogEntry;
  /** Undefined: the query timed out. */
  readonly changes: readonly RecordedChange[] | undefined;
  /** Sealed cursors. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  /** Whether the query string has an invalid cursor. */
  readonly lost: boolean;
}

const KIND_LABELS: Readonly<Record<AuditObjectKind, string>> = {
  account: 'User',
  key: 'API key',
  channel: 'Channel',
  model: 'Model',
  group: 'Group',
  limits: 'Default limits',
  code: 'Redemption code',
  payment: 'Payment',
  invitation: 'Invitation',
  setting: 'Setting',
  calls: 'Calls',
  organization: 'Organization',
  member: 'Member',
  team: 'Team',
};

const CLEARED = { who: '', kind: '', object: '', text: '', from: '', to: '' } as const;

export function auditPage({ query, entry, changes, newer, older, lost }: AuditInput) {
  const chips = chipsOf(query, changes);
  return {
    lost,
    tooLarge: changes === undefined,
    exportHref: auditAddress(query, {}, '.csv'),
    ...query,
    kinds: [
      { value: '', label: 'All types', selected: query.kind === '' },
      ...AUDIT_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind], selected: kind === query.kind })),
    ],
    // Set by links only.
    keep: query.object === '' ? [] : [{ name: 'object', value: query.object }],
    filtersOn: [query.kind, query.from, query.to].filter((value) => value !== '').length,
    chips,
    clear: auditAddress(query, CLEARED),
    rows: changes?.map((change) => rowOf(query, entry, change)),
    newer: newer && auditAddress(query, { after: newer }),
    older: older && auditAddress(query, { before: older }),
    empty: changes?.length === 0 && emptiness(query, chips.length > 0),
  };
}

/** One line; opened, with the changed fields. */
function rowOf(query: AuditQuery, { open, ...place }: LogEntry, change: RecordedChange) {
  const { id, at, actor, action, object, lines, reason, ip } = change;
  const isOpen = open === id;
  const address = auditAddress(query, { ...place, ...(!isOpen && { open: id }) });
  return {
    id,
    href: `${address}#c-${id}`,
    isOpen,
    at,
    who: actor.name,
    action,
    kind: KIND_LABELS[object.kind],
    object: object.name,
    objectHref: auditAddress({ ...query, ...CLEARED }, { object: object.id }),
    summary: lines[0] ?? reason,
    more: Math.max(0, lines.length - 1),
    ip,
    detail: isOpen ? { fields: lines.map(diffOf), reason, objectId: object.id } : undefined,
  };
}

function chipsOf(query: AuditQuery, changes: AuditInput['changes']) {
  // Show the object’s name if a row has it; rows of dependent objects have other names.
  const named = changes?.find((change) => change.object.id === query.object);
  const object = query.object && (named?.object.name ?? query.object);
  const on: readonly (readonly [name: keyof typeof CLEARED, label: string, value: string])[] = [
    ['who', 'Actor', query.who],
    ['kind', 'Type', query.kind && KIND_LABELS[query.kind]],
    ['object', 'Object', object],
    ['text', 'Text', query.text],
    ['from', 'From', query.from],
    ['to', 'To', query.to],
  ];
  return on
    .filter(([, , value]) => value !== '')
    .map(([name, label, value]) => ({ label, value, href: auditAddress(query, { [name]: '' }) }));
}

function emptiness(query: AuditQuery, filtered: boolean) {
  if (filtered)
    return {
      title: 'No changes match these filters',
      text: 'Change or clear the filters.',
      action: { href: auditAddress(query, CLEARED), label: 'Clear filters' },
    };
  return {
    title: 'No changes yet',
    text: 'Changes appear here with their actor, IP address and previous values.',
    action: { href: '/admin', label: 'Open overview' },
  };
}

/** Query parameters of the audit log without the cursor; empty if absent. */
interface AuditQuery {
  readonly who: string;
  readonly kind: AuditObjectKind | '';
  /** Object id, set by links from other pages. */
  readonly object: string;
  readonly text: string;
  /** Days in the viewer’s time zone, inclusive. */
  readonly from: string;
  readonly to: string;
  /** Error message for invalid days. */
  readonly problem: string;
}

const PATH = '/admin/audit';
const MAX_CHARACTERS = 300;

/** Parses query parameters. Invalid ones are ignored; invalid days are reported in `problem`. */
export function auditQuery(parts: AddressParts): AuditQuery {
  const text = (name: string): string => {
    const part = parts[name];
    // PostgreSQL texts cannot contain NUL.
    return (typeof part === 'string' ? part : '').replaceAll('\0', '').trim().slice(0, MAX_CHARACTERS);
  };
  return {
    who: text('who'),
    kind: AUDIT_KINDS.find((kind) => kind === text('kind')) ?? '',
    object: text('object'),
    text: text('text'),
    ...daysOf(text('from'), text('to')),
  };
}

function daysOf(from: string, to: string): Pick<AuditQuery, 'from' | 'to' | 'problem'> {
  if ([from, to].some((day) => day !== '' && !isDay(day)))
    return { from: '', to: '', problem: 'Enter dates as YYYY-MM-DD, for example 2026-11-20.' };
  if (from !== '' && to !== '' && from > to)
    return { from: '', to: '', problem: 'Enter a start date on or before the end date.' };
  return { from, to, problem: '' };
}

export const changesOf = ({ who, kind, object, text, from, to }: AuditQuery, timeZone: string): ChangeFilter => ({
  ...(who !== '' && { who }),
  ...(kind !== '' && { kind }),
  ...(object !== '' && { object }),
  ...(text !== '' && { text }),
  ...(from !== '' && { from: startOfDay(from, timeZone) }),
  ...(to !== '' && { to: startOfDay(addDays(to, 1), timeZone) }),
});

/** The URL of the log with these changes to the query; empty parameters are omitted. @param ending path suffix: `.csv` */
function auditAddress(query: AuditQuery, changes: Partial<AuditQuery> & LogEntry = {}, ending = ''): string {
  const { problem: _, ...said } = { ...query, ...changes };
  const search = new URLSearchParams(Object.entries(said).filter(([, value]) => value !== '')).toString();
  return search === '' ? PATH + ending : `${PATH}${ending}?${search}`;
}
