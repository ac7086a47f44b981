/** A query string as parsed by Fastify. */
export type ListQuery = Readonly<Record<string, string | readonly string[] | undefined>>;

const MAX_TEXT = 200;

/** Undefined if empty. Removes control characters, which the database rejects. */
export function textIn(query: ListQuery, name: string): string | undefined {
  const value = query[name];
  const text = typeof value === 'string' ? value.replaceAll(/\p{Cc}/gu, '').trim() : '';
  return text === '' ? undefined : text.slice(0, MAX_TEXT);
}

/** The URL of a list with these query parameters; undefined ones are omitted. */
export function listAddress(path: string, parts: Readonly<Record<string, string | undefined>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(parts)) if (value !== undefined) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/** `[value, label]` as the options of a filter. */
export const filterOptions = (pairs: readonly (readonly [string, string])[], chosen = '') =>
  pairs.map(([value, label]) => ({ value, label, selected: value === chosen }));

/** One page of a list. */
interface ListPage<Row> {
  readonly shown: readonly Row[];
  readonly newer: boolean;
  readonly older: boolean;
}

/** @param found newest first, with up to one row more than `size` @param position `after` when paging to newer rows */
export function pageOf<Row>(
  found: readonly Row[],
  size: number,
  { before, after }: { readonly before?: string | undefined; readonly after?: string | undefined },
): ListPage<Row> {
  const more = found.length > size;
  if (after !== undefined) return { shown: found.slice(-size), newer: more, older: true };
  return { shown: found.slice(0, size), newer: before !== undefined, older: more };
}

/** Names contain no commas, so no name starts with this. */
const MARK = 'named,';

/** Path segments with another meaning: the creation form, and relative paths. */
const TAKEN: ReadonlySet<string> = new Set(['new', '.', '..']);

/** A name as a path segment below `/admin`: `new` becomes `named,new`. */
export const addressPart = (name: string): string => (TAKEN.has(name) ? `${MARK}${name}` : encodeURIComponent(name));

/** Inverse of `addressPart`. @param part decoded */
export const nameInPart = (part: string): string => (part.startsWith(MARK) ? part.slice(MARK.length) : part);

/** The page of a user or an organization, by the ID of the account. */
export const accountPath = (id: string): string =>
  id.startsWith('org_') ? `/admin/organizations/${id}` : `/admin/users/${id}`;
