import { AUDIT_KINDS, type AuditObjectKind, type RecordedChange } from '../../../platform/audit/index.js';
import { auditAddress, type AuditQuery } from './audit-query.js';

export interface AuditInput {
  readonly query: AuditQuery;
  /** Undefined: there are so many that those of the filter could not be found in time. */
  readonly changes: readonly RecordedChange[] | undefined;
  /** Sealed cursors. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
  /** The address had a cursor that is none of ours. */
  readonly lost: boolean;
}

const KIND_LABELS: Readonly<Record<AuditObjectKind, string>> = {
  account: 'User',
  key: 'Key',
  channel: 'Channel',
  model: 'Model',
  group: 'Group',
  limits: 'Usual limits',
  code: 'Redemption code',
  payment: 'Payment',
  invitation: 'Invitation',
  setting: 'Setting',
  calls: 'Calls',
};

const CLEARED = { who: '', kind: '', object: '', text: '', from: '', to: '' } as const;

export function auditPage({ query, changes, newer, older, lost }: AuditInput) {
  const chips = chipsOf(query, changes);
  return {
    lost,
    tooLarge: changes === undefined,
    exportHref: auditAddress(query, {}, '.csv'),
    ...query,
    kinds: [
      { value: '', label: 'Everything', selected: query.kind === '' },
      ...AUDIT_KINDS.map((kind) => ({ value: kind, label: KIND_LABELS[kind], selected: kind === query.kind })),
    ],
    // Chosen by a link; nobody types it.
    keep: query.object === '' ? [] : [{ name: 'object', value: query.object }],
    filtersOn: [query.kind, query.from, query.to].filter((value) => value !== '').length,
    chips,
    clear: auditAddress(query, CLEARED),
    rows: changes?.map((change) => rowOf(query, change)),
    newer: newer && auditAddress(query, { after: newer }),
    older: older && auditAddress(query, { before: older }),
    empty: changes?.length === 0 && emptiness(query, chips.length > 0),
  };
}

function rowOf(query: AuditQuery, { at, actor, action, object, lines, reason, ip }: RecordedChange) {
  return {
    at,
    who: actor.name,
    action,
    kind: KIND_LABELS[object.kind],
    object: object.name,
    objectHref: auditAddress({ ...query, ...CLEARED }, { object: object.id }),
    lines,
    reason,
    ip,
  };
}

function chipsOf(query: AuditQuery, changes: AuditInput['changes']) {
  // It is better known by its name; rows of what belongs to it have names of their own.
  const named = changes?.find((change) => change.object.id === query.object);
  const object = query.object && (named?.object.name ?? query.object);
  const on: readonly (readonly [name: keyof typeof CLEARED, label: string, value: string])[] = [
    ['who', 'Who', query.who],
    ['kind', 'What', query.kind && KIND_LABELS[query.kind]],
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
      title: 'No change matches these filters',
      text: 'Take one of them away to see more.',
      action: { href: auditAddress(query, CLEARED), label: 'Clear filters' },
    };
  return {
    title: 'Nothing has been changed yet',
    text: 'Every change that an operator makes appears here, with who made it, from where, and what it was before.',
    action: { href: '/admin', label: 'Open the overview' },
  };
}
