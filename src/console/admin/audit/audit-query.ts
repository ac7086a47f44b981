import { AUDIT_KINDS, type AuditObjectKind, type ChangeFilter } from '../../../platform/audit/index.js';
import { addDays, isDay, startOfDay } from '../../../platform/shared/index.js';
import type { AddressParts } from '../../usage/index.js';

/** What the addresses of the audit log say, but for the cursor. Empty: nothing. */
export interface AuditQuery {
  readonly who: string;
  readonly kind: AuditObjectKind | '';
  /** The id of an object: pages of objects lead here with it. */
  readonly object: string;
  readonly text: string;
  /** Days where the reader is, both within. */
  readonly from: string;
  readonly to: string;
  /** What could not be understood, in words. */
  readonly problem: string;
}

const PATH = '/admin/audit';
const MOST_CHARACTERS = 300;

/** Reads an address. What is wrong in it is left out; of the days, that is said. */
export function auditQuery(parts: AddressParts): AuditQuery {
  const text = (name: string): string => {
    const part = parts[name];
    // PostgreSQL has no NUL in its texts.
    return (typeof part === 'string' ? part : '').replaceAll('\0', '').trim().slice(0, MOST_CHARACTERS);
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
    return { from: '', to: '', problem: 'Enter days as year, month and day: 2026-11-20.' };
  if (from !== '' && to !== '' && from > to)
    return { from: '', to: '', problem: 'Enter a first day that is not after the last one.' };
  return { from, to, problem: '' };
}

/** Which changes that means. */
export const changesOf = ({ who, kind, object, text, from, to }: AuditQuery, timeZone: string): ChangeFilter => ({
  ...(who !== '' && { who }),
  ...(kind !== '' && { kind }),
  ...(object !== '' && { object }),
  ...(text !== '' && { text }),
  ...(from !== '' && { from: startOfDay(from, timeZone) }),
  ...(to !== '' && { to: startOfDay(addDays(to, 1), timeZone) }),
});

/** The address of the log with these changes; what is empty is left out. @param ending of its path: `.csv` */
export function auditAddress(
  query: AuditQuery,
  changes: Partial<AuditQuery> & { readonly before?: string; readonly after?: string } = {},
  ending = '',
): string {
  const { problem: _, ...said } = { ...query, ...changes };
  const search = new URLSearchParams(Object.entries(said).filter(([, value]) => value !== '')).toString();
  return search === '' ? PATH + ending : `${PATH}${ending}?${search}`;
}
