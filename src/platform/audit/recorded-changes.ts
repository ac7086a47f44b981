import type { AuditObjectKind, RecordedChange } from './audit-entry.js';

/** Absent members match everything. */
export interface ChangeFilter {
  /** Substring of the actor's name. */
  readonly who?: string | undefined;
  readonly kind?: AuditObjectKind | undefined;
  /** ID of the object or of its owner. */
  readonly object?: string | undefined;
  /** Substring of the object's name, of a changed line, or of the reason. */
  readonly text?: string | undefined;
  /** `from <= time < to` */
  readonly from?: Date | undefined;
  readonly to?: Date | undefined;
}

/** Start of a page: changes before or after an ID; the newest if both are absent. */
export interface ChangeStart {
  readonly before?: string | undefined;
  readonly after?: string | undefined;
}

export interface ChangePage {
  /** Newest first. */
  readonly changes: readonly RecordedChange[];
  /** Cursors of the neighboring pages; undefined if there is none. */
  readonly newer: string | undefined;
  readonly older: string | undefined;
}

/** A query with the caller's time limit. */
type LimitedQuery = <ChangeRow>(sql: string, values?: readonly unknown[]) => Promise<ChangeRow[]>;

type ChangeRow = Omit<RecordedChange, 'actor' | 'object'> & {
  readonly actorKind: RecordedChange['actor']['kind'];
  readonly actorId: string;
  readonly actorName: string;
  readonly objectKind: AuditObjectKind;
  readonly objectId: string;
  readonly objectName: string;
  readonly objectOwner: string | null;
};

const COLUMNS = `
  SELECT id, created_at AS at, actor_kind AS "actorKind", actor_id AS "actorId", actor_name AS "actorName", ip, action,
         object_kind AS "objectKind", object_id AS "objectId", object_name AS "objectName", object_owner AS "objectOwner", lines, reason
    FROM audit_entries`;

/**
 * Recorded changes by ID, which is by time.
 * @param size max rows
 */
export async function recordedChanges(
  query: LimitedQuery,
  filter: ChangeFilter,
  start: ChangeStart,
  size: number,
): Promise<ChangePage> {
  const backwards = start.after !== undefined;
  const values: unknown[] = [];
  const add = (value: unknown): string => `$${values.push(value)}`;
  const where = conditions(filter, start, add);
  const rows = await query<ChangeRow>(
    `${COLUMNS}${where} ORDER BY id ${backwards ? 'ASC' : 'DESC'} LIMIT ${add(size + 1)}`,
    values,
  );
  const more = rows.length > size;
  const page = rows.slice(0, size).map(changeOf);
  if (backwards) page.reverse();
  const [first, last] = [page.at(0), page.at(-1)];
  return {
    changes: page,
    newer: first && (backwards ? more : start.before !== undefined) ? first.id : undefined,
    older: last && (backwards || more) ? last.id : undefined,
  };
}

function conditions(filter: ChangeFilter, start: ChangeStart, add: (value: unknown) => string): string {
  const { who, kind, object, text, from, to } = filter;
  const { before, after } = start;
  const all: string[] = [];
  if (after !== undefined) all.push(`id > ${add(after)}`);
  if (before !== undefined) all.push(`id < ${add(before)}`);
  if (kind !== undefined) all.push(`object_kind = ${add(kind)}`);
  if (object !== undefined) all.push(`${add(object)} IN (object_id, object_owner)`);
  if (who !== undefined) all.push(`strpos(lower(actor_name), lower(${add(who)})) > 0`);
  if (from !== undefined) all.push(`created_at >= ${add(from)}`);
  if (to !== undefined) all.push(`created_at < ${add(to)}`);
  if (text !== undefined)
    all.push(
      `strpos(lower(concat_ws(E'\\n', action, object_name, array_to_string(lines, E'\\n'), reason)), lower(${add(text)})) > 0`,
    );
  return all.length === 0 ? '' : ` WHERE ${all.join(' AND ')}`;
}

const changeOf = ({
  actorKind,
  actorId,
  actorName,
  objectKind,
  objectId,
  objectName,
  objectOwner,
  ...row
}: ChangeRow): RecordedChange => ({
  ...row,
  actor: { kind: actorKind, id: actorId, name: actorName },
  object: { kind: objectKind, id: objectId, name: objectName, ...(objectOwner && { owner: objectOwner }) },
});
