/** Names hold no comma, so that this begins none. */
const MARK = 'named,';

/** As a part of an address these would be the form of a new thing, or lead elsewhere. */
const TAKEN: ReadonlySet<string> = new Set(['new', '.', '..']);

/** A name as one part of an address below `/admin`: `new` is `named,new`. */
export const addressPart = (name: string): string => (TAKEN.has(name) ? `${MARK}${name}` : encodeURIComponent(name));

/** The name that such a part means. @param part decoded */
export const nameInPart = (part: string): string => (part.startsWith(MARK) ? part.slice(MARK.length) : part);
