import { AUDIT_KINDS, type AuditObjectKind, type ChangeFilter } from '../../../platform/audit/index.js';
import { addDays, isDay, startOfDay } from '../../../platform/shared/index.js';
import type { AddressParts } from '../../usage/index.js';

/** Query parameters of the audit log without the cursor; empty if absent. */
export interface AuditQuery {
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
    return { from: '', to: '', problem: 'Enter a start date that is not after the end date.' };
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
export function auditAddress(
  query: AuditQuery,
  changes: Partial<AuditQuery> & { readonly before?: string; readonly after?: string } = {},
  ending = '',
): string {
  const { problem: _, ...said } = { ...query, ...changes };
  const search = new URLSearchParams(Object.entries(said).filter(([, value]) => value !== '')).toString();
  return search === '' ? PATH + ending : `${PATH}${ending}?${search}`;
}
