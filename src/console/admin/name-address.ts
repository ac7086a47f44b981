/** Names contain no commas, so no name starts with this. */
const MARK = 'named,';

/** Path segments with another meaning: the creation form, and relative paths. */
const TAKEN: ReadonlySet<string> = new Set(['new', '.', '..']);

/** A name as a path segment below `/admin`: `new` becomes `named,new`. */
export const addressPart = (name: string): string => (TAKEN.has(name) ? `${MARK}${name}` : encodeURIComponent(name));

/** Inverse of `addressPart`. @param part decoded */
export const nameInPart = (part: string): string => (part.startsWith(MARK) ? part.slice(MARK.length) : part);
